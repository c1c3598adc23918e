//! Phrases that mark a one-off.

/// Phrases anywhere in a sentence that limit it to now, or to one time.
pub(crate) const ONCE: &str = "\
for now | for the moment | for the time being | this time | just this once | only this once | temporarily | in this session | today only | until tomorrow | for this run | for this try | this run only | just this run | for this round | for this one | in this one | for that one | only for this | just for this | for the demo | for once | this once | for tonight | just tonight | just for today | just today | throw it away after | throw that out again | while we look at it | while i look at it
vorerst | fürs erste | für den moment | dieses mal | diesmal | nur heute | ausnahmsweise | in dieser sitzung | nur für diesen | nur für dieses | für diesen lauf
por ahora | de momento | esta vez | temporalmente | en esta sesión | solo hoy | solo para esta | por esta vez
pour l'instant | pour le moment | cette fois | temporairement | dans cette session | juste pour ce | juste pour cette | seulement pour
por enquanto | por agora | desta vez | temporariamente | nesta sessão | só hoje | só para esta | só para este
пока что | на данный момент | на этот раз | временно | в этой сессии | только сегодня
";

/// The same for languages without spaces.
pub(crate) const DENSE_ONCE: &str = "\
とりあえず | 今回だけ | 一時的 | 今のところ | 暂时 | 暫時 | 这次 | 這次 | 目前先 | 仅此一次
";
