//! Usage and daily limits of language models (B-04, O11-15). Every call goes through [`MeteredModel`]: it is
//! refused once the day's limit is reached, and recorded when it is answered.

use std::cell::RefCell;

use jiff::ToSpan;
use rekindle_core::base::time::{Date, TimeZone, Timestamp, Zoned, day};
use rekindle_core::config::{LlmProvider, LlmSettings};
use rekindle_core::llm::{
    Cost, Error, FailureOwner, LanguageModel, LlmAnswer, LlmRequest, RetryAdvice, TokenUsage,
};
use rekindle_core::text::tokens;

use crate::platform::clock;
use crate::platform::db::{self, Database, params};

/// The usage of one model of one provider on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DailyUsage {
    /// The day of the calls.
    pub day: Date,
    /// The word of the provider; empty for records made before it was stored.
    pub provider: String,
    /// The model, as `provider/model`.
    pub model: String,
    /// The number of answered calls.
    pub calls: u64,
    /// The tokens read and written.
    pub usage: TokenUsage,
    /// The cost, as far as the provider reported it.
    pub cost: Cost,
    /// The number of calls with unknown cost.
    pub unpriced: u64,
}

/// A daily limit; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailyLimit {
    /// The tokens, read and written.
    pub tokens: Option<u64>,
    /// The amount of money.
    pub cost: Option<Cost>,
}

impl DailyLimit {
    /// Reads the limit from the settings, where 0 is no limit.
    fn from_numbers(tokens: u64, dollars: f64) -> Self {
        let micro_dollars = (dollars * 1e6).round() as u64;
        Self {
            tokens: Some(tokens).filter(|tokens| *tokens > 0),
            cost: Some(Cost { micro_dollars }).filter(|cost| cost.micro_dollars > 0),
        }
    }

    /// The reason why today's limit is reached, or `None`. `table` is the settings table of the limit,
    /// `through` names the provider.
    fn exceeded_reason(&self, (tokens, cost): (u64, Cost), table: &str, through: &str) -> Option<String> {
        match (self.tokens, self.cost) {
            (Some(most), _) if tokens >= most => Some(format!(
                "{tokens} tokens used today{through}, with a daily limit of {most} ({table}.daily_tokens)"
            )),
            (_, Some(most)) if cost >= most => Some(format!(
                "{cost} spent today{through}, with a daily limit of {most} ({table}.daily_dollars)"
            )),
            _ => None,
        }
    }
}

/// The daily limits of a provider, and of all providers together (B-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendingCaps {
    /// The provider that the limits apply to.
    pub provider: LlmProvider,
    /// The limit of the provider.
    pub provider_limit: DailyLimit,
    /// The limit of all providers together.
    pub total: DailyLimit,
}

impl SpendingCaps {
    /// Reads the limits from the settings.
    pub fn from_settings(settings: &LlmSettings, provider: LlmProvider) -> Self {
        let (tokens, dollars) = settings.daily_limits(provider);
        Self {
            provider,
            provider_limit: DailyLimit::from_numbers(tokens, dollars),
            total: DailyLimit::from_numbers(settings.daily_tokens, settings.daily_dollars),
        }
    }

    /// The reason why the provider's limit for today is reached, or `None`.
    pub fn exhausted_reason(&self, today: &[DailyUsage]) -> Option<String> {
        let word = self.provider.as_str();
        let (own, total) = (used_tokens_and_cost(today, Some(word)), used_tokens_and_cost(today, None));
        self.provider_limit
            .exceeded_reason(own, &format!("llm.{word}"), &format!(" with the provider {word}"))
            .or_else(|| self.total.exceeded_reason(total, "llm", ""))
    }
}

/// Sums the usage through one provider, or through all. Usage of an unknown provider counts for each: a limit
/// that is too low for a day is better than one that does not hold.
pub fn used_tokens_and_cost(spent: &[DailyUsage], provider: Option<&str>) -> (u64, Cost) {
    let counts = |one: &&DailyUsage| {
        one.provider.is_empty() || provider.is_none_or(|provider| one.provider == provider)
    };
    let (mut tokens, mut micro_dollars) = (0, 0);
    for one in spent.iter().filter(counts) {
        tokens += one.usage.input + one.usage.output;
        micro_dollars += one.cost.micro_dollars;
    }
    (tokens, Cost { micro_dollars })
}

fn midnight(date: Date, zone: &TimeZone) -> i64 {
    date.to_zoned(zone.clone()).map_or(0, |start| start.timestamp().as_millisecond())
}

/// The usage of the last `days` days, newest first.
pub fn usage_by_day(db: &Database, days: u32, now: &Zoned) -> Result<Vec<DailyUsage>, db::Error> {
    let zone = now.time_zone();
    let mut all = Vec::new();
    for back in 0..days {
        let Ok(date) = now.date().checked_sub(i64::from(back).days()) else { break };
        let (from, to) = (midnight(date, zone), midnight(date.tomorrow().unwrap_or(date), zone));
        let rows: Vec<DailyUsage> = db.run(|connection| {
            connection
                .prepare_cached(
                    "SELECT model, count(*), sum(input), sum(output), coalesce(sum(micro_dollars), 0),
                        sum(micro_dollars IS NULL), provider
                     FROM spending WHERE at >= ?1 AND at < ?2 GROUP BY provider, model ORDER BY provider, model",
                )?
                .query_map([from, to], |row| {
                    let whole =
                        |column| row.get::<_, i64>(column).map(|value| u64::try_from(value).unwrap_or(0));
                    Ok(DailyUsage {
                        day: date,
                        provider: row.get(6)?,
                        model: row.get(0)?,
                        calls: whole(1)?,
                        usage: TokenUsage { input: whole(2)?, output: whole(3)? },
                        cost: Cost { micro_dollars: whole(4)? },
                        unpriced: whole(5)?,
                    })
                })?
                .collect()
        })?;
        all.extend(rows);
    }
    Ok(all)
}

fn record(
    db: &mut Database,
    (provider, model, job): (&str, &str, &str),
    usage: TokenUsage,
    cost: Option<Cost>,
    at: Timestamp,
) -> Result<(), db::Error> {
    let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO spending (at, provider, model, job, input, output, micro_dollars)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                at.as_millisecond(),
                provider,
                model,
                job,
                whole(usage.input),
                whole(usage.output),
                cost.map(|cost| whole(cost.micro_dollars)),
            ],
        )
    })?;
    Ok(())
}

/// A model with metered calls within the daily limit.
pub struct MeteredModel<M> {
    model: M,
    db: RefCell<Database>,
    caps: SpendingCaps,
    zone: TimeZone,
}

impl<M: LanguageModel> MeteredModel<M> {
    /// Meters calls in this database, by days in the user's time zone.
    pub fn new(model: M, db: Database, caps: SpendingCaps, zone: TimeZone) -> Self {
        Self { model, db: RefCell::new(db), caps, zone }
    }
}

impl<M: LanguageModel> LanguageModel for MeteredModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        let now = clock::now(self.zone.clone());
        // A call that cannot be recorded is not made. Otherwise the limit would not hold while the database
        // fails.
        let uncounted = |error: db::Error| {
            Error::new(FailureOwner::Ours, RetryAdvice::Never, format!("could not record the usage: {error}"))
        };
        let today = usage_by_day(&self.db.borrow(), 1, &now).map_err(uncounted)?;
        if let Some(why) = self.caps.exhausted_reason(&today) {
            let message = format!("{why}; rules take over until {} has passed", day(now.date()));
            return Err(Error::new(FailureOwner::Person, RetryAdvice::Never, message));
        }
        let count = |usage: TokenUsage, cost: Option<Cost>| {
            let what = (self.caps.provider.as_str(), self.model.name(), request.prompt.template().name);
            record(&mut self.db.borrow_mut(), what, usage, cost, now.timestamp()).map_err(uncounted)
        };
        let answer = match self.model.answer(request) {
            Ok(answer) => answer,
            Err(error) => {
                // An unusable answer is billed like any other.
                if let Some((usage, cost)) = error.spent {
                    count(usage, cost)?;
                }
                return Err(error);
            }
        };
        // If a provider does not report its usage, use our own estimate.
        let usage = answer.usage.unwrap_or_else(|| TokenUsage {
            input: tokens::estimate_tokens(request.prompt.instructions())
                + tokens::estimate_tokens(request.prompt.material()),
            output: tokens::estimate_tokens(&answer.text),
        });
        count(usage, answer.cost)?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rekindle_core::llm::prompts;
    use rekindle_core::llm::{AnswerFormat, LlmBudget, LlmPrompt};

    use super::*;

    struct FixedUsageModel(Option<TokenUsage>, Option<u64>);

    impl LanguageModel for FixedUsageModel {
        fn name(&self) -> &str {
            "some/model"
        }

        fn answer(&self, _: &LlmRequest) -> Result<LlmAnswer, Error> {
            let cost = self.1.map(|micro_dollars| Cost { micro_dollars });
            Ok(LlmAnswer { text: "<query>x</query>".to_owned(), whole: true, usage: self.0, cost })
        }
    }

    fn own(own: DailyLimit) -> SpendingCaps {
        SpendingCaps { provider: LlmProvider::Openai, provider_limit: own, total: DailyLimit::default() }
    }

    fn request() -> LlmRequest {
        LlmRequest {
            prompt: LlmPrompt::new(prompts::REWRITE, "where is the pump"),
            expects: AnswerFormat::Tags(&["query"]),
            deadline: Duration::from_secs(1),
            budget: LlmBudget { tokens: 100, cost: Cost { micro_dollars: 1000 } },
        }
    }

    fn calls(model: &FixedUsageModel, caps: SpendingCaps) -> (usize, String, Vec<DailyUsage>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let metered = MeteredModel::new(model, Database::open(&path).unwrap(), caps, TimeZone::UTC);
        for call in 0..10 {
            if let Err(error) = metered.answer(&request()) {
                let now = clock::now(TimeZone::UTC);
                return (
                    call,
                    error.message,
                    usage_by_day(&Database::open(&path).unwrap(), 1, &now).unwrap(),
                );
            }
        }
        (
            10,
            String::new(),
            usage_by_day(&Database::open(&path).unwrap(), 1, &clock::now(TimeZone::UTC)).unwrap(),
        )
    }

    #[test]
    fn b_04_the_days_share_of_tokens_holds() {
        let caps = own(DailyLimit { tokens: Some(250), cost: None });
        let (answered, why, spent) =
            calls(&FixedUsageModel(Some(TokenUsage { input: 90, output: 10 }), None), caps);
        assert_eq!(answered, 3);
        assert!(why.contains("300 tokens used today with the provider openai, with a daily limit of 250 (llm.openai.daily_tokens)"), "{why}");
        assert_eq!((spent[0].calls, spent[0].usage.input, spent[0].unpriced), (3, 270, 3));
    }

    /// Refuses calls beyond the daily cost limit. Requirements: PERF-08.
    #[test]
    fn b_04_the_days_share_of_money_holds() {
        let caps = own(DailyLimit { tokens: None, cost: Some(Cost { micro_dollars: 1000 }) });
        let (answered, why, spent) = calls(&FixedUsageModel(None, Some(400)), caps);
        assert_eq!((answered, spent[0].cost.micro_dollars), (3, 1200));
        assert!(why.contains("$0.001200 spent today with the provider openai"), "{why}");
        assert!(spent[0].usage.input > 10, "what a provider does not tell is estimated");
    }

    struct UnusableModel;

    impl LanguageModel for UnusableModel {
        fn name(&self) -> &str {
            "some/model"
        }

        fn answer(&self, _: &LlmRequest) -> Result<LlmAnswer, Error> {
            let declined = Error::new(FailureOwner::Provider, RetryAdvice::Never, "declined");
            Err(declined
                .with_usage(Some(TokenUsage { input: 90, output: 10 }), Some(Cost { micro_dollars: 7 })))
        }
    }

    #[test]
    fn b_04_an_answer_of_no_use_is_counted_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let caps = own(DailyLimit { tokens: Some(150), cost: None });
        let metered = MeteredModel::new(UnusableModel, Database::open(&path).unwrap(), caps, TimeZone::UTC);
        let messages: Vec<String> = (0..3).map(|_| metered.answer(&request()).unwrap_err().message).collect();
        assert_eq!(messages[..2], ["declined", "declined"]);
        assert!(
            messages[2].contains("200 tokens used today with the provider openai, with a daily limit of 150"),
            "{messages:?}"
        );
        let spent = usage_by_day(&Database::open(&path).unwrap(), 1, &clock::now(TimeZone::UTC)).unwrap();
        assert_eq!((spent[0].calls, spent[0].cost.micro_dollars, spent[0].unpriced), (2, 14, 0));
    }

    #[test]
    fn without_a_limit_nothing_is_refused() {
        let (answered, ..) = calls(&FixedUsageModel(None, Some(400)), own(DailyLimit::default()));
        assert_eq!(answered, 10);
    }

    #[test]
    fn b_04_each_provider_has_its_own_share_and_all_have_one_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rekindle.db");
        let ask = |provider, total| {
            let model = FixedUsageModel(Some(TokenUsage { input: 90, output: 10 }), None);
            let limit = DailyLimit { tokens: Some(150), cost: None };
            let caps = SpendingCaps {
                provider,
                provider_limit: limit,
                total: DailyLimit { tokens: total, cost: None },
            };
            let metered = MeteredModel::new(model, Database::open(&path).unwrap(), caps, TimeZone::UTC);
            metered.answer(&request()).map_err(|error| error.message)
        };
        assert!(ask(LlmProvider::Openai, None).is_ok() && ask(LlmProvider::Openai, None).is_ok());
        let why = ask(LlmProvider::Openai, None).unwrap_err();
        assert!(why.contains("with the provider openai") && why.contains("rules take over"), "{why}");
        assert!(ask(LlmProvider::Command, None).is_ok(), "another provider has its own count");
        let why = ask(LlmProvider::Command, Some(300)).unwrap_err();
        assert!(why.contains("300 tokens used today, with a daily limit of 300 (llm.daily_tokens)"), "{why}");
        let db = Database::open(&path).unwrap();
        let today = usage_by_day(&db, 1, &clock::now(TimeZone::UTC)).unwrap();
        let words: Vec<(&str, u64)> = today.iter().map(|one| (one.provider.as_str(), one.calls)).collect();
        assert_eq!(words, [("command", 1), ("openai", 2)]);
        let unknown = DailyUsage { provider: String::new(), ..today[0].clone() };
        assert_eq!(
            used_tokens_and_cost(&[unknown], Some("anthropic")).0,
            100,
            "what nobody knows counts for each"
        );
    }
}
