//! Word lists for sentences without content of their own, and for words around sentences.

/// Small words. A sentence of only these depends on its context.
pub(crate) const FUNCTION_WORDS: &str = "\
a | an | the | this | that | these | those | it | its | it's | them | they | he | she | i | i'm | i'd | you | your | we | our | my | me | us
is | are | was | were | be | been | do | does | did | don't | doesn't | didn't | have | has | had | can | could | will | would | should | may
and | or | but | so | if | then | than | as | at | by | for | from | in | into | of | on | to | up | with | out | about | over
not | no | yes | yeah | yep | ok | okay | sure | please | pls | thanks | thank | great | good | nice | cool | perfect | right | now | just | also | too
again | still | here | there | what | which | who | how | why | when | where | one | ones | two | both | all | any | some | more | other | same | first | second | third
go | going | let | let's | use | using | make | do | get | try | want | need | like | think | option | approach | plan | suggestion | idea | thing | things | way | stuff
der | die | das | den | dem | des | ein | eine | einen | einem | einer | es | er | sie | ich | du | wir | ihr | mir | dir | uns | mich | dich | und | oder | aber
ist | sind | war | sei | so | wie | was | wer | wo | nicht | kein | keine | ja | nein | bitte | danke | gut | doch | mal | noch | nur | auch | hier | da | dann | jetzt | mit | von | zu | für | auf | in | im | an | bei
el | la | los | las | un | una | unos | lo | le | les | se | me | te | nos | mi | tu | su | y | o | pero | que | de | del | al | en | con | por | para | es | son | no | sí | si | muy | más | esto | eso | esta | ese | así
le | les | une | des | du | ce | cet | cette | ces | ça | c'est | il | elle | on | nous | vous | je | et | ou | mais | ne | pas | que | qui | pour | avec | sur | dans | oui | non | très | plus | comme
o | os | as | um | uma | isso | isto | este | esta | ele | ela | eu | e | ou | mas | não | sim | com | por | em | no | na | do | da | que | muito | mais | assim
и | или | но | а | в | на | с | к | по | за | из | от | для | не | да | нет | это | то | так | как | что | он | она | оно | они | мы | вы | я | ты | его | её | их | этот | эта | тот | все | всё | уже | ещё | очень | просто
";

/// Openings of a clause that may precede a rule: "when you write SQL, always …".
pub(crate) const CONDITION_CLAUSES: &str = "\
when | whenever | if | before | after | for | in | on | while | unless | until | once | as soon as
wenn | bevor | ehe | nach | nachdem | bei | beim | für | vor | sobald | falls | in | im
cuando | si | antes | después | al | para | en | siempre que
quand | lorsque | si | avant | après | pour | dans | dès que
quando | se | antes | depois | ao | para | em | no | na | sempre que
когда | если | перед | после | при | прежде чем | для | в | до
";

/// Words that announce foreign text, in a line that ends with a colon.
pub(crate) const QUOTE_INTRODUCTIONS: &str = "\
log | logs | output | error | errors | trace | traceback | stack | message | says | said | response | paste | pasted | readme | file | doc | docs
issue | email | mail | comment | comments | review | feedback | description | wrote | guide | following | quote | reply | ticket | report | prompt | text | plan | spec | task | requirements | transcript | diff | finding | findings
ausgabe | fehler | fehlermeldung | meldung | protokoll | datei | kommentar | rückmeldung | folgendes | schreibt | sagt
salida | errores | registro | mensaje | archivo | comentario | dice | siguiente
sortie | erreur | journal | fichier | commentaire | dit | suivant
saída | erro | mensagem | arquivo | ficheiro | comentário | diz | seguinte
лог | логи | вывод | ошибка | ошибку | сообщение | файл | комментарий | пишет | следующее
";

/// The same for languages without spaces.
pub(crate) const DENSE_QUOTE_INTRODUCTIONS: &str = "\
ログ | 出力 | エラー | メッセージ | ファイル | コメント | 日志 | 输出 | 錯誤 | 错误 | 报错 | 消息 | 文件 | 评论
";

/// Speakers and log levels at the start of a line, which mark it as foreign.
pub(crate) const SPEAKERS: &str = "\
user | human | assistant | system | agent | tool | claude | codex | gemini | gpt | chatgpt | ai | bot | developer
info | warn | warning | error | err | debug | trace | fatal | notice | critical | stdout | stderr
";

/// Answers that only approve, so that their content was said by the agent.
pub(crate) const APPROVALS: &str = "\
yes | yep | yeah | yup | sure | ok | okay | go ahead | do it | do both | please do | continue | go on | proceed | sounds good | looks good | lgtm | perfect | great | thanks | thank you | nice | done | retry | try again | next
ja | mach das | mach weiter | weiter | passt | gerne | danke | genau
sí | si | dale | hazlo | continúa | adelante | perfecto | gracias | vale
oui | vas-y | continue | d'accord | parfait | merci | fais-le
sim | pode | faz isso | continua | continue | perfeito | obrigado | obrigada
да | давай | продолжай | хорошо | отлично | спасибо | ок | сделай
";

/// Words in a request that reports something broken.
pub(crate) const BREAKAGE_WORDS: &str = "\
bug | bugs | fail | fails | failed | failing | failure | broken | broke | breaks | error | errors | crash | crashes | crashed | crashing | wrong | doesn't work | does not work | not working | why | regression | flaky | hangs | stuck | incorrect | leak | exception | panic
fehler | kaputt | bricht | schlägt fehl | funktioniert nicht | geht nicht | stürzt | warum | absturz | hängt
error | fallo | falla | fallan | roto | rota | no funciona | por qué | se cuelga
bogue | erreur | échoue | échouent | cassé | cassée | ne marche pas | ne fonctionne pas | pourquoi | plante
erro | falha | falham | quebrado | quebrada | não funciona | por que | por quê | trava
ошибка | баг | падает | падают | сломан | сломано | сломалось | не работает | почему | зависает
";

/// The same for languages without spaces.
pub(crate) const DENSE_BREAKAGE_WORDS: &str = "\
エラー | バグ | 失敗 | 動かない | 動きません | 壊れ | なぜ | 落ちる | クラッシュ | 错误 | 報錯 | 报错 | 失败 | 失敗 | 坏了 | 崩溃 | 为什么 | 不工作 | 不能用
";
