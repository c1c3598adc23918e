//! Phrases that show a sentiment.

/// Phrases that show frustration.
pub(crate) const FRUSTRATED: &str = "\
i told you | i already told you | i've told you | how many times | once again | yet again | ugh | argh | wtf | damn | ffs | for the last time | stop doing | you keep | again!
ich habe dir gesagt | ich hab dir gesagt | wie oft | schon wieder | verdammt | zum letzten mal | hör auf
ya te dije | cuántas veces | otra vez | maldita | por última vez
je t'ai déjà dit | combien de fois | encore une fois | putain | pour la dernière fois
já te disse | eu já disse | quantas vezes | outra vez | de novo não | pela última vez
я же говорил | я же говорила | сколько раз | опять | в последний раз | блин
";

/// Phrases that show pleasure.
pub(crate) const PLEASED: &str = "\
i love | love it | perfect | great job | excellent | awesome | this is great | works great | works perfectly | exactly what i wanted
perfekt | super gemacht | großartig | genau so | ausgezeichnet
perfecto | excelente | genial | me encanta
parfait | excellent | génial | j'adore
perfeito | excelente | ótimo | adorei
отлично | идеально | прекрасно | супер
";

/// Words of urgency or insistence.
pub(crate) const URGENT: &str = "\
asap | urgent | urgently | immediately | right now | critical | very important | this is important | important:
dringend | sofort | sehr wichtig | wichtig:
urgente | inmediatamente | de inmediato | muy importante | importante:
urgent | immédiatement | tout de suite | très important | important :
urgente | imediatamente | muito importante | importante:
срочно | немедленно | очень важно | важно:
";

/// Frustration in languages without spaces.
pub(crate) const DENSE_FRUSTRATED: &str = "\
何度も | 前にも言った | いい加減 | 我说过 | 我說過 | 多少次 | 不要再 | 又来了
";
/// Pleasure in languages without spaces.
pub(crate) const DENSE_PLEASED: &str = "\
完璧 | 素晴らしい | 最高です | 完美 | 太好了 | 很棒
";
/// Urgency in languages without spaces.
pub(crate) const DENSE_URGENT: &str = "\
至急 | 緊急 | 今すぐ | とても重要 | 紧急 | 緊急 | 马上 | 立刻 | 非常重要
";

/// Emoji that show frustration.
pub(crate) const CROSS: &[char] = &['😡', '🤬', '😤', '😠', '😭', '🙄'];
/// Emoji that show pleasure.
pub(crate) const GLAD: &[char] = &['🎉', '😍', '🥳', '❤', '🙌', '😊'];
