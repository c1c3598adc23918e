//! The relevance gate: decides whether recall shows its best hits or nothing (B-06).
//!
//! It combines three measures into one probability that the best hit helps with the prompt:
//!
//! - the log odds of the cross-encoder, which reads the prompt together with the best hits
//! - the cosine of the nearest hit
//! - the margin by which the prompt looks like small talk ([`small_talk`])
//!
//! Without the cross-encoder (no time, or disabled), a second calibration decides by the other two. No
//! measure depends on the size of the store, so the gate treats ten memories like a hundred thousand.
//! `eval/calibrate_gate.py` fits the calibrations; `eval/README.md` has the figures.

pub mod small_talk;

use serde::{Deserialize, Serialize};

/// A logistic regression: the weights of the measures in the log odds that the best hit helps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// The weight of the cross-encoder's log odds.
    pub reading: f64,
    /// The weight of the best cosine.
    pub cosine: f64,
    /// The weight of the small-talk margin: it speaks against a hit.
    pub small_talk: f64,
    /// The log odds if all measures are zero.
    pub bias: f64,
    /// The minimum probability for showing a hit.
    pub threshold: f64,
}

/// The calibration with the cross-encoder.
///
/// Origin: three weights fitted by `eval/calibrate_gate.py` to the tuning halves of asked, typed, balanced and
/// named (3,100 prompts, through the program). Beside a reading the cosine tells nothing. The threshold is no
/// fit but a choice: the largest that costs none of these halves more than two and a half points of R@5, since unseen prompts cost more.
pub const READ_CALIBRATION: Calibration =
    Calibration { reading: 1.042, cosine: 0.0, small_talk: 3.081, bias: 0.251, threshold: 0.095 };
/// The calibration without the cross-encoder.
///
/// Origin: three weights, as [`READ_CALIBRATION`].
pub const UNREAD_CALIBRATION: Calibration =
    Calibration { reading: 0.0, cosine: 5.715, small_talk: 3.81, bias: -3.019, threshold: 0.134 };

/// The cosine below which no hit is about the prompt, unless the cross-encoder says that one helps.
///
/// Origin: chosen by hand. The calibrations come from stores of some eighty memories. Among ten memories the
/// nearest may be this far, and it was noise in every prompt that we looked at.
const MIN_BEST_COSINE: f64 = 0.2;

/// The cosine from which a hit is about the prompt, so that it does not matter how common the prompt is.
///
/// Origin: chosen by hand. "How do I splice a rope" looks like small talk, and a memory that begins "To splice
/// a rope" has a cosine of 0.87.
const MIN_SPECIFIC_COSINE: f64 = 0.65;

/// The range of the cross-encoder's log odds; they are clamped to it, because training does not cover values
/// beyond.
const READING_RANGE: (f64, f64) = (-6.0, 3.0);
/// The range of the small-talk margin, from "about somebody's work" to "clearly small talk"; margins are
/// clamped to it.
const SMALL_TALK_RANGE: (f64, f64) = (-0.2, 1.0);

/// A rule that ends reading early: the next hits will probably not help either.
struct ReadingCutoff {
    /// The number of hits from which the rule holds.
    passages_read: usize,
    /// The best score below which reading ends if -3 would suffice for showing the hits.
    best: f64,
    /// The rise of that score for each log odd beyond -3 that the decision needs.
    rise: f64,
}

/// The rules that end reading early, later ones first.
///
/// Origin: chosen by hand on the tuning halves of asked, typed, balanced and named, with the five nearest hits
/// of each prompt. A hit that does not help scores about -4. If the best of two is near that, one of three
/// more reaches -3 for one prompt in sixteen, and mostly without helping.
const READING_CUTOFFS: [ReadingCutoff; 2] = [
    ReadingCutoff { passages_read: 4, best: -3.2, rise: 0.6 },
    ReadingCutoff { passages_read: 2, best: -3.6, rise: 0.3 },
];

/// The measures of the hits of one prompt.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RelevanceEvidence {
    /// The highest cosine among the hits.
    pub best_cosine: f64,
    /// The margin by which the prompt looks like small talk; `None` if the embeddings are from another model.
    pub small_talk: Option<f64>,
    /// The highest log odds of the cross-encoder that a hit helps; `None` if it scored no hit.
    pub reading: Option<f64>,
    /// The number of hits that the cross-encoder scored.
    pub passages_read: usize,
    /// True if the deadline passed before the decision was certain.
    pub out_of_time: bool,
}

/// The reason why recall shows its hits or stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelevanceReason {
    /// The best hit probably helps.
    Relevant,
    /// There were no hits.
    NoHits,
    /// The cross-encoder did not run, and no hit is similar enough.
    #[serde(alias = "not-covered")]
    TooFar,
    /// The hits would pass if the prompt did not look like small talk.
    #[serde(alias = "everyday")]
    SmallTalk,
    /// The cross-encoder scored the hits, and none helps.
    NoUse,
}

/// The measures that a decision used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionBasis {
    /// All measures, with the cross-encoder.
    Read,
    /// All measures except the cross-encoder.
    Unread,
}

/// A decision, with the numbers for `recall --explain`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RelevanceDecision {
    /// The reason for the decision.
    pub reason: RelevanceReason,
    /// The probability that the best hit helps.
    pub probability: f64,
    /// The minimum probability for showing a hit.
    pub threshold: f64,
    /// The measures that the decision used.
    pub basis: DecisionBasis,
    /// The values of the measures; `None` without hits.
    pub evidence: Option<RelevanceEvidence>,
}

impl RelevanceReason {
    /// The reason as a sentence for a person.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Relevant => "The best matches answer the question.",
            Self::NoHits => "Nothing was found.",
            Self::TooFar => "No memory is about this.",
            Self::SmallTalk => "This is a common request, and no memory is specific enough to it.",
            Self::NoUse => "Some memories touch the topic, but none answers it.",
        }
    }
}

impl RelevanceDecision {
    /// True if recall shows nothing.
    pub fn is_silent(&self) -> bool {
        self.reason != RelevanceReason::Relevant
    }
}

impl RelevanceEvidence {
    fn calibration(&self) -> (&'static Calibration, DecisionBasis) {
        if self.reading.is_some() {
            (&READ_CALIBRATION, DecisionBasis::Read)
        } else {
            (&UNREAD_CALIBRATION, DecisionBasis::Unread)
        }
    }

    /// The lowest score of the cross-encoder that shows the hits.
    fn needed_reading(&self) -> f64 {
        let calibration = &READ_CALIBRATION;
        let threshold = (calibration.threshold / (1.0 - calibration.threshold)).ln();
        let others = calibration.bias + calibration.cosine * self.best_cosine
            - calibration.small_talk * self.clamped_small_talk();
        let needed = (threshold - others) / calibration.reading;
        if self.best_cosine < MIN_BEST_COSINE { needed.max(0.0) } else { needed }
    }

    fn clamped_small_talk(&self) -> f64 {
        let margin = self.small_talk.unwrap_or(0.0).clamp(SMALL_TALK_RANGE.0, SMALL_TALK_RANGE.1);
        if self.best_cosine >= MIN_SPECIFIC_COSINE { margin.min(0.0) } else { margin }
    }
}

impl Calibration {
    /// The probability that the best hit helps.
    fn probability(&self, found: &RelevanceEvidence) -> f64 {
        let reading = found.reading.unwrap_or(0.0).clamp(READING_RANGE.0, READING_RANGE.1);
        let log_odds = self.bias + self.reading * reading + self.cosine * found.best_cosine
            - self.small_talk * found.clamped_small_talk();
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// Decides from the evidence; `None` means that there are no hits.
pub fn decide(evidence: Option<&RelevanceEvidence>) -> RelevanceDecision {
    let Some(found) = evidence else {
        let threshold = READ_CALIBRATION.threshold;
        return RelevanceDecision {
            reason: RelevanceReason::NoHits,
            probability: 0.0,
            threshold,
            basis: DecisionBasis::Unread,
            evidence: None,
        };
    };
    let (calibration, basis) = found.calibration();
    let (probability, threshold) = (calibration.probability(found), calibration.threshold);
    let unless_small_talk = calibration.probability(&RelevanceEvidence { small_talk: None, ..*found });
    let is_near =
        found.best_cosine >= MIN_BEST_COSINE || found.reading.is_some_and(|log_odds| log_odds > 0.0);
    let reason = if is_near && probability >= threshold {
        RelevanceReason::Relevant
    } else if is_near && unless_small_talk >= threshold {
        RelevanceReason::SmallTalk
    } else if basis == DecisionBasis::Read {
        RelevanceReason::NoUse
    } else {
        RelevanceReason::TooFar
    };
    RelevanceDecision { reason, probability, threshold, basis, evidence: Some(*found) }
}

/// True if scoring another hit could change the decision: the best score so far does not suffice, and a
/// better one would.
pub fn can_reading_change(found: &RelevanceEvidence) -> bool {
    let shows = |reading| !decide(Some(&RelevanceEvidence { reading: Some(reading), ..*found })).is_silent();
    !shows(found.reading.unwrap_or(f64::NEG_INFINITY)) && shows(f64::INFINITY)
}

/// True if the scores so far are so low that the remaining hits will probably not change the decision.
pub fn is_reading_unpromising(found: &RelevanceEvidence) -> bool {
    let Some(best) = found.reading else { return false };
    let cutoff = READING_CUTOFFS.iter().find(|cutoff| found.passages_read >= cutoff.passages_read);
    cutoff.is_some_and(|cutoff| best < cutoff.best + cutoff.rise * (found.needed_reading() + 3.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(best_cosine: f64, small_talk: f64, reading: Option<f64>) -> RelevanceEvidence {
        RelevanceEvidence {
            best_cosine,
            small_talk: Some(small_talk),
            reading,
            ..RelevanceEvidence::default()
        }
    }

    fn reason(best_cosine: f64, small_talk: f64, reading: Option<f64>) -> RelevanceReason {
        decide(Some(&found(best_cosine, small_talk, reading))).reason
    }

    #[test]
    fn b_06_nothing_found_is_silence() {
        assert_eq!(decide(None).reason, RelevanceReason::NoHits);
        assert!(decide(None).is_silent());
    }

    #[test]
    fn b_06_the_cross_encoder_decides_where_it_read() {
        assert_eq!(reason(0.4, 0.0, Some(2.0)), RelevanceReason::Relevant);
        assert_eq!(reason(0.6, 0.0, Some(-5.0)), RelevanceReason::NoUse, "however near");
        assert_eq!(reason(0.1, 0.0, Some(3.0)), RelevanceReason::Relevant, "however far");
        assert_eq!(
            reason(0.1, -0.2, Some(-2.2)),
            RelevanceReason::NoUse,
            "the nearest of ten memories is not near"
        );
    }

    #[test]
    fn b_06_nearness_decides_where_nothing_was_read() {
        assert_eq!(reason(0.6, -0.2, None), RelevanceReason::Relevant);
        assert_eq!(reason(0.1, 0.0, None), RelevanceReason::TooFar);
        assert_eq!(decide(Some(&found(0.6, 0.0, None))).basis, DecisionBasis::Unread);
        assert_eq!(decide(Some(&found(0.6, 0.0, Some(0.0)))).basis, DecisionBasis::Read);
    }

    #[test]
    fn b_06_small_talk_is_met_with_silence_unless_a_memory_answers_it() {
        assert_eq!(reason(0.4, 1.0, None), RelevanceReason::SmallTalk);
        assert_eq!(reason(0.3, 1.0, Some(3.0)), RelevanceReason::Relevant);
        assert_eq!(reason(0.87, 0.5, Some(-2.3)), RelevanceReason::Relevant, "a memory says just that");
        let unknown = RelevanceEvidence { best_cosine: 0.4, ..RelevanceEvidence::default() };
        assert_eq!(
            decide(Some(&unknown)),
            RelevanceDecision { evidence: Some(unknown), ..decide(Some(&found(0.4, 0.0, None))) }
        );
    }

    #[test]
    fn b_06_a_probability_is_one() {
        for reading in [None, Some(-99.0), Some(99.0)] {
            let decision = decide(Some(&found(0.5, 0.0, reading)));
            assert!((0.0..=1.0).contains(&decision.probability) && decision.threshold > 0.0, "{decision:?}");
        }
    }

    #[test]
    fn b_06_reading_ends_early_only_where_hits_score_low() {
        let after = |passages_read, reading, small_talk| {
            is_reading_unpromising(&RelevanceEvidence { passages_read, ..found(0.4, small_talk, reading) })
        };
        assert!(!after(0, None, 1.0), "the first hits are always read");
        assert!(!after(1, Some(-4.0), 1.0));
        assert!(after(2, Some(-3.7), -0.2) && !after(2, Some(-3.5), -0.2));
        assert!(after(4, Some(-3.3), -0.2), "fewer hits are left");
        assert!(after(2, Some(-3.0), 1.0), "small talk needs a higher score");
        let far = |best_cosine| RelevanceEvidence { best_cosine, ..found(0.0, -0.2, None) }.needed_reading();
        assert!(far(0.1) >= 0.0 && far(0.3) < -2.9);
    }

    proptest! {
        /// The score that is needed shows the hits, and a lower one does not.
        #[test]
        fn b_06_the_needed_score_is_the_border(cosine in -1.0..1.0f64, small_talk in -2.0..2.0f64) {
            let needed = found(cosine, small_talk, None).needed_reading();
            let shows = |reading| !decide(Some(&found(cosine, small_talk, Some(reading)))).is_silent();
            prop_assert!(shows(needed + 1e-6) && !shows(needed - 1e-6), "{needed}");
        }

        /// More evidence for a hit never silences it.
        #[test]
        fn b_06_more_evidence_never_silences(
            cosine in -1.0..1.0f64, more in 0.0..0.5f64, small_talk in -2.0..2.0f64, reading in prop::option::of(-9.0..9.0f64),
        ) {
            let evidence = found(cosine, small_talk, reading);
            let better = [
                found(cosine + more, small_talk, reading),
                found(cosine, small_talk - more, reading),
                found(cosine, small_talk, reading.map(|reading| reading + more)),
            ];
            if !decide(Some(&evidence)).is_silent() {
                for better in better {
                    prop_assert!(!decide(Some(&better)).is_silent(), "{better:?}");
                }
            }
        }

        /// If another score cannot change the decision, it does not change.
        #[test]
        fn b_06_a_decision_that_is_sure_stays(
            cosine in -1.0..1.0f64, small_talk in -2.0..2.0f64, least in -9.0..9.0f64, more in 0.0..20.0f64,
        ) {
            let read = |reading| found(cosine, small_talk, Some(reading));
            if !can_reading_change(&read(least)) {
                prop_assert_eq!(decide(Some(&read(least))).is_silent(), decide(Some(&read(least + more))).is_silent());
            }
        }
    }
}
