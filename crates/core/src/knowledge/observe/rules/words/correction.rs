//! Phrases that correct an agent.

/// Plain corrections, followed by the right statement.
pub(crate) const PLAINLY: &str = "\
that's wrong | that is wrong | that's not right | that is not right | that's not correct | that is not correct | that's incorrect | that is incorrect | this is not correct | you're wrong | you are wrong | you're not correct | you are not correct | you're incorrect | you are incorrect | you got it wrong | you got that wrong | that's not how | that is not how | that's not true | that is not true
i told you | i already told you | i've told you | i have told you | as i told you | i already said | like i said | as i said | i said to | i said not to | i specifically said | i explicitly said | i asked you to | i asked you not to | i didn't ask you to | i did not ask you to | i didn't ask for | i did not ask for
that's not what i asked | that is not what i asked | that's not what i meant | that's not what i said | that's not what i wanted | not what i asked for | you shouldn't have | you should not have | you were not supposed to | you weren't supposed to | you keep | how many times
das ist falsch | das stimmt nicht | das ist nicht richtig | das ist nicht korrekt | du liegst falsch | ich habe dir gesagt | ich hab dir gesagt | ich habe doch gesagt | ich hab doch gesagt | ich habe gesagt | wie ich gesagt habe | wie gesagt | das habe ich nicht gemeint | das habe ich nicht gesagt | das war nicht gemeint | du solltest nicht | du hättest nicht
eso está mal | eso es incorrecto | eso no es correcto | no es correcto | te equivocas | estás equivocado | te dije | ya te dije | te he dicho | ya te he dicho | como te dije | como dije | no te pedí | no es lo que pedí | no es lo que quería
c'est faux | c'est incorrect | ce n'est pas correct | ce n'est pas juste | tu te trompes | vous vous trompez | je t'ai dit | je t'avais dit | je t'ai déjà dit | je vous ai dit | comme je l'ai dit | ce n'est pas ce que j'ai demandé | je ne t'ai pas demandé
isso está errado | está errado | isso não está certo | isso não é correto | isso está incorreto | você está errado | você errou | eu te disse | eu disse | já te disse | eu já disse | como eu disse | não foi isso que pedi | não foi o que pedi | não pedi
это неправильно | это неверно | это не так | ты ошибаешься | ты ошибся | вы ошибаетесь | я же говорил | я же говорила | я говорил | я говорила | я тебе говорил | я уже говорил | я уже говорила | как я сказал | я не просил | я не это имел в виду
";

/// Corrections in the middle of a sentence, followed by the right statement.
pub(crate) const MIDDLE: &str = "\
is not correct, | isn't correct, | is not right, | isn't right, | is not true, | isn't true, | is incorrect, | is not correct: | is incorrect:
ist nicht richtig, | ist nicht korrekt, | stimmt nicht,
no es correcto, | no es cierto, | es incorrecto,
n'est pas correct, | n'est pas vrai, | est incorrect,
não está correto, | não é verdade, | está incorreto,
";

/// Phrases that begin the same but correct nobody.
pub(crate) const NOT: &str = "\
as i said, thanks | i said thanks | you keep going | you keep working | i asked you to fix | i asked you to check | i asked you to look | that's not right?
como dije antes, gracias | wie gesagt, danke
я говорил с | я говорила с
";

/// "No, …": a correction only with one of the words below behind it, otherwise an answer.
pub(crate) const NO: &str = "\
no, | no - | no – | no — | nope, | nope | wrong, | wrong: | actually, no, | no. | no!
nein, | nein - | nein – | falsch, | nö,
no, | no; | mal,
non, | non - | faux,
não, | errado,
нет, | нет - | нет – | нет — | неверно, | неправильно,
";

/// Words that make a "no" a correction.
pub(crate) const RIGHT: &str = "\
use | not | instead | should | must | don't | never | always | supposed | only | rather | meant
nicht | statt | sondern | soll | sollte | muss | wir | nur | nimm | verwende | nutze | gemeint
usa | debe | debes | en vez de | en lugar de | tiene que | hay que | nosotros | solo | quería decir | es
utilise | doit | il faut | au lieu | pas | nous | on | seulement | voulais dire | c'est
usa | use | deve | em vez de | tem que | nós | só | quis dizer | é
используй | не | нужно | надо | должен | должна | должно | вместо | мы | только | имел в виду
";

/// Answers that begin with a "no" and correct nothing.
pub(crate) const NOT_NO: &str = "\
no, thanks | no, thank | no, that's fine | no, that's ok | no, that's all | no, that's it | no, it's fine | no, it's ok | no, it's good | no, all good | no, i'm good | no, i haven't | no, i didn't | no, i don't | no, i can't | no, go ahead | no, leave it | no, not yet | no, not now | no, not really | no, nothing | no, we're good | no, we are good | no, just | no, let's | no, it's not working | no, it doesn't | no, it still | no, still | no, same | no, we're done | no, this is fine | no, looks good | no, ignore | no, skip | no, remove | no, revert | no, undo | no, wait | no, keep going | no, leave | no, back to | no, forget | no, stop | no, continue | no, go back
nein, danke | nein, passt | nein, noch nicht | nein, schon gut | nein, geht nicht | nein, immer noch | nein, nicht nötig | nein, noch
no, gracias | no, está bien | no, todavía | no, aún | no, no funciona | no, es todo | no, ya está
non, merci | non, c'est bon | non, pas encore | non, ça va | non, toujours pas | non, pas besoin
não, obrigado | não, obrigada | não, está bom | não, ainda não | não, tudo bem | não, é só isso
нет, спасибо | нет, всё хорошо | нет, все хорошо | нет, ещё нет | нет, еще нет | нет, не надо | нет, пока | нет, не работает
";

/// Forms of "stop doing that".
pub(crate) const STOP: &str = "\
hör auf, | hör auf zu | hört auf | lass das
deja de | dejad de | deje de
arrête de | arrêtez de | arrête d'
pare de | para de | deixa de
перестань | перестаньте | хватит | прекрати
";

/// The same for languages without spaces.
pub(crate) const DENSE: &str = "\
それは間違い | それは違います | 間違っています | と言ったはず | と言いました | って言った | 前にも言った | 頼んでいません | やめてください | しないでと
这是错的 | 这不对 | 不对， | 不對， | 你错了 | 你搞错了 | 我说过 | 我說過 | 我告诉过你 | 我告訴過你 | 我不是说 | 我没让你 | 我没有让你 | 不要再 | 别再
";

/// Phrases without spaces that contain the same but correct nobody.
pub(crate) const DENSE_NOT: &str = "\
間違っていますか | 言いましたか | 对不对 | 不对吗 | 是不是
";
