//! Phrases that name a cause.

/// Phrases that name the cause, anywhere in a sentence.
pub(crate) const NAMED: &str = "\
root cause | the problem is | the problem was | the issue is | the issue was | the cause is | the cause was | the reason is | the reason was | the bug is | the bug was | the real issue | the real problem | the actual problem | the actual issue | turns out | turned out | it's a false positive | is a false positive | this is because | that's because | this happens because | this happened because | fails because | failed because | is failing because | caused by | was caused by | broke because
die ursache | das problem ist | das problem war | das problem liegt | der grund ist | der grund war | der fehler liegt | der fehler lag | liegt daran | lag daran | verursacht durch | schlägt fehl, weil | schlug fehl, weil
la causa | causa raíz | el problema es | el problema era | el error es | se debe a | se debía a | falla porque | fallaba porque | causado por
la cause | cause racine | le problème est | le problème était | le problème vient | le problème venait | est dû à | était dû à | échoue parce que | échouait parce que | causé par
a causa | causa raiz | o problema é | o problema era | o erro é | deve-se a | devia-se a | falha porque | falhava porque | causado por
причина в | причина — | причина - | причиной было | проблема в | проблема была | вызвано | падает, потому что | падал, потому что | из-за того
";

/// The same for languages without spaces.
pub(crate) const DENSE_NAMED: &str = "\
原因は | 問題は | が原因 | 根本原因 | 原因是 | 问题是 | 問題是 | 问题在于 | 是因为 | 是由于
";

/// First words of a sentence that announce a cause, given in the next one.
pub(crate) const FOUND: &str = "\
found it | found the issue | found the problem | found the bug | found the root cause | found the cause | i found it | i found the issue | i found the problem | i found the bug | i found the root cause | i found the cause
gefunden | ich habe das problem gefunden | ich habe den fehler gefunden | problem gefunden | fehler gefunden
encontré el problema | lo encontré | encontré la causa
trouvé | j'ai trouvé le problème | j'ai trouvé la cause
encontrei o problema | achei o problema | encontrei a causa
нашёл проблему | нашел проблему | нашёл причину | нашел причину | нашёл ошибку | нашел ошибку
問題を見つけました | 原因がわかりました | 原因が分かりました | 找到问题了 | 找到原因了 | 发现问题了
";

/// The same for something that the agent currently sees.
pub(crate) const SEEN: &str = "\
i see the issue | i see the problem | i can see the issue | i can see the problem | here's the problem | here is the problem | that's the problem | that's the issue | that's the bug
ich sehe das problem | da ist das problem
ya veo el problema | veo el problema
je vois le problème
vejo o problema | estou vendo o problema
вижу проблему
";

/// Plans and guesses, which name no cause.
pub(crate) const PLANS: &str = "\
let me | i'll | i will | i need to | i should | now i | now let | let's | maybe | perhaps | it might | it may | it could | possibly | i think | i suspect | probably | to see | if the | check if | check whether
ich werde | lass mich | vielleicht | möglicherweise | ich muss | ich vermute | ich glaube
voy a | déjame | quizás | tal vez | necesito | creo que
je vais | laisse-moi | peut-être | je dois | je pense
vou | deixa-me | deixe-me | talvez | preciso | acho que
я сейчас | давайте | возможно | может быть | мне нужно | думаю
";

/// First words of a user who names the cause.
pub(crate) const TOLD: &str = "\
turns out | it turns out | turned out | it turned out | the root cause is | the root cause was | root cause: | the cause was | the actual cause | the real cause | the real problem was | the real issue was | found the cause: | found the bug:
die ursache war | die ursache ist | ursache: | es stellte sich heraus | es hat sich herausgestellt | der eigentliche fehler war
la causa era | la causa es | la causa raíz | causa: | resulta que | resultó que
la cause était | la cause est | la cause racine | cause : | il s'avère que | il se trouve que
a causa era | a causa é | a causa raiz | causa: | acontece que | descobri que
причина была | причина: | причина в том | оказалось, что | выяснилось, что
";

/// The same for languages without spaces.
pub(crate) const DENSE_TOLD: &str = "\
原因は | 原因がわかりました | 原因是 | 根本原因是 | 结果发现 | 原来是
";
