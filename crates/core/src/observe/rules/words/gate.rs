//! What is meant for once.

/// Anywhere: it holds for now, or for this one time.
pub(crate) const ONCE: &str = "\
for now | for the moment | for the time being | this time | just this once | only this once | temporarily | in this session | today only | until tomorrow
vorerst | fürs erste | für den moment | dieses mal | diesmal | nur heute | ausnahmsweise | in dieser sitzung
por ahora | de momento | esta vez | temporalmente | en esta sesión | solo hoy
pour l'instant | pour le moment | cette fois | temporairement | dans cette session
por enquanto | por agora | desta vez | temporariamente | nesta sessão | só hoje
пока что | на данный момент | на этот раз | временно | в этой сессии | только сегодня
";

/// Without spaces.
pub(crate) const DENSE_ONCE: &str = "\
とりあえず | 今回だけ | 一時的 | 今のところ | 暂时 | 暫時 | 这次 | 這次 | 目前先 | 仅此一次
";
