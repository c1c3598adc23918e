//! Word lists for detecting requests, by language.

/// Fillers in front of an order that do not change its meaning.
pub(super) const LEADS: &str = "\
please | pls | also | and | ok | okay | so | oh | btw | by the way | hey | yes | no | but | well
important: | important | note: | rule: | i want you to | i'd like you to | i would like you to
make sure to | make sure you | be sure to | you should | you must | you need to | we should | we must
just | fyi | thanks | great | perfect | and please | one thing: | one more thing: | one more rule: | another rule: | new rule:
claude | codex | gemini | hi | hello
bitte | und | auch | ja | nein | aber | ach | wichtig: | du sollst | du musst | wir sollten | danke
por favor | y | también | vale | sí | pero | importante: | debes | gracias | bueno
s'il te plaît | s'il te plait | s'il vous plaît | stp | et | aussi | oui | non | mais | important :
tu dois | il faut | merci | alors
e | também | sim | não | mas | ok, | obrigado | obrigada | você deve | deves
пожалуйста | и | также | да | нет | но | важно: | ты должен | нужно | спасибо
";

/// Requests to remember, at the start of a sentence.
pub(super) const WISHES: &str = "\
remember | memorize | memorise | note for later | note to self | notes for later | note for next time
for future reference | for next time | keep in mind | bear in mind | make a note | take a note | take note
don't forget that | do not forget that | never forget | save this to memory | save to memory
save that to memory | add this to memory | add to memory | add this to your memory | add to your memory
commit this to memory | store this in memory | put this in your memory | from now on | going forward
from here on
merk dir | merke dir | merkt euch | merken sie sich | denk daran | denk dran | denke daran
notiz für später | notiz an mich | notier dir | notiere dir | notiere | behalte im kopf
behalte im hinterkopf | behalt im kopf | vergiss nicht, dass | ab jetzt | ab sofort | von jetzt an
in zukunft | künftig | zukünftig
recuerda | recuerde | recuérdalo | acuérdate | memoriza | ten en cuenta | ten presente | toma nota
nota para después | nota para luego | nota para más tarde | para la próxima | no olvides que
no te olvides de que | a partir de ahora | de ahora en adelante | en adelante
souviens-toi | souvenez-vous | rappelle-toi | rappelez-vous | retiens | retenez | mémorise
note pour plus tard | prends note | garde en tête | garde à l'esprit | gardez à l'esprit
n'oublie pas que | n'oubliez pas que | désormais | dorénavant | à partir de maintenant | à l'avenir
lembre-se | lembra-te | lembre que | lembra que | memorize | memoriza | tenha em mente | tem em mente
anota | anote | toma nota | tome nota | nota para depois | nota para mais tarde | não esqueça que
não te esqueças que | não se esqueça de que | a partir de agora | de agora em diante | daqui em diante
daqui para a frente
запомни | запомните | помни | помните | имей в виду | имейте в виду | учти | учтите | заметка на будущее
на будущее | запиши | не забудь, что | не забывай, что | отныне | впредь | с этого момента | с этого дня
";

/// Phrases that start like a request but are none.
pub(super) const NOT_WISHES: &str = "\
remember when | remember how | remember what | remember where | remember who | remember why | remember me
remember the time | remember the other | remember last | remember i said | remember we talked | remember we discussed | remember we did | remember we had | keep in mind when
remember him | remember her | from now on it | from now on this | from now on the | from now on that
going forward it | going forward this | going forward the
denk daran zurück | in zukunft vielleicht | in zukunft könnte | in zukunft könnten | in zukunft wird
in zukunft werden | in zukunft ist | ab jetzt ist | ab jetzt geht | ab jetzt kommt | künftig wird
ab sofort ist
recuerda cuando | recuerda cómo | recuerda lo que | recuerda cuándo | recuerda a
souviens-toi quand | rappelle-toi quand | rappelle-toi comment | à l'avenir peut-être | désormais il
désormais, il | désormais ça | désormais c'est | désormais le | désormais la
lembra quando | lembre-se quando | lembra que dia
помни, как | помните, как | помните когда | помни когда
";

/// Requests that hold from now on.
pub(super) const RULES: &str = "\
always | never | i always want | i never want | you should always | you should never | you must always
you must never | we should always | we should never | we must never | we must always | don't ever
do not ever
immer | nie | niemals | verwende immer | verwende nie | verwende niemals | benutze immer | benutze nie
nutze immer | nutze nie | nimm immer | nimm nie | schreib immer | schreibe immer | mach immer
mache immer | antworte immer | teste immer | führe immer | prüfe immer | lass immer
siempre | nunca | jamás | usa siempre | usa nunca | no uses nunca | utiliza siempre | haz siempre
ejecuta siempre | escribe siempre | responde siempre | contesta siempre | comprueba siempre | pon siempre
toujours | jamais | ne jamais | utilise toujours | utilisez toujours | fais toujours | écris toujours
mets toujours | lance toujours | vérifie toujours | réponds toujours | n'utilise jamais
n'utilisez jamais | ne fais jamais | ne mets jamais | n'écris jamais | ne commite jamais
ne pousse jamais
sempre | jamais | use sempre | usa sempre | utilize sempre | faça sempre | faz sempre | execute sempre
escreva sempre | escreve sempre | responda sempre | responde sempre | não use nunca | nunca
всегда | никогда не | используй всегда | пиши всегда | отвечай всегда | проверяй всегда
";

/// Phrases that start like a rule but report or exclaim.
pub(super) const NOT_RULES: &str = "\
never mind | never seen | never heard | never had | never got | never been | never tried | never worked
never happened | never again | never saw | never knew | never thought | never really | never said
never ever seen | never did | never was | never is | never finishes | never ends | always been
always had | always has | always was | always is | always did | always fails | always failing
always worked | always happens | always wanted | always thought | always gets | always the | always a
always with | always in | always at | always on | always when | always wondered | always nice
always good | always great | always returns | always shows | always says
immer noch | immer wieder | immer mehr | immer wenn | immer dieselbe | immer der | immer die | immer das
immer am | immer im | immer nur | immer gerne | nie gesehen | nie gehört | nie gehabt | nie wieder
nie im leben | niemand
siempre me | siempre se | siempre ha | siempre he | siempre falla | siempre es | siempre está | siempre da
siempre el | siempre la | siempre lo | nunca he | nunca ha | nunca había | nunca vi | nunca me | nunca se
nunca mejor | nunca funciona | jamás he
toujours pas | toujours le | toujours la | toujours en | toujours aussi | toujours un | toujours une
toujours rien | jamais vu | jamais eu | jamais entendu | jamais de la vie | jamais deux
sempre me | sempre se | sempre foi | sempre é | sempre dá | sempre falha | sempre o | sempre a
nunca vi | nunca tive | nunca me | nunca se | nunca foi | nunca funcionou
всегда был | всегда так | всегда падает | всегда было | никогда не видел | никогда не видела
никогда не было | никогда не слышал | никогда не работал
";

/// Requests in languages without spaces, anywhere in the sentence.
pub(super) const DENSE_WISHES: &str = "\
覚えておいて | 覚えといて | 覚えてください | 覚えて下さい | 記憶して | メモしておいて | メモしといて | メモしてください | 今後は | これからは | 以後は | 请记住 | 請記住
记住： | 记住: | 记住， | 记住, | 記住： | 記住， | 记下来 | 記下來 | 请记下 | 請記下 | 备忘： | 備忘： | 从现在起 | 從現在起 | 从现在开始 | 從現在開始 | 以后请
以後請 | 以后都 | 以後都 | 以后不要 | 以後不要 | 今后请 | 今後請 | 今后都
";

/// Requests in languages without spaces, at the start of a sentence only.
pub(super) const DENSE_OPENINGS: &str = "\
记住 | 記住
";

/// Chinese rules, at the start of a sentence.
pub(super) const DENSE_RULES: &str = "\
永远不要 | 永遠不要 | 永远要 | 始终 | 始終 | 总是要 | 總是要 | 总是使用 | 總是使用 | 绝对不要 | 絕對不要 | 绝不要 | 千万不要 | 千萬不要 | 务必 | 務必
";

/// Japanese rules, first half: "always do" and "never do" start with an adverb.
pub(super) const DENSE_ADVERBS: &str = "\
必ず | いつも | 常に | 絶対に | 決して | 二度と
";

/// Japanese rules, second half: they end with an order.
pub(super) const DENSE_ORDERS: &str = "\
ください | 下さい | して | しないで | ないで | 使って | こと | するな | せよ | ように
";

/// Questions, and reports that something was remembered.
pub(super) const DENSE_NOT: &str = "\
覚えています | 覚えてます | 覚えている | 覚えてる | ですか | ますか | でしたか | 吗 | 嗎 | 还记得 | 還記得 | 记住了 | 記住了 | 没记住 | 呢
";
