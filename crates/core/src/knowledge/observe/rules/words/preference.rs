//! Phrases that express a preference or a convention.

/// Plain preferences of the speaker.
pub(crate) const PLAINLY: &str = "\
i prefer | we prefer | my preference is | i always prefer | i generally prefer | i like to keep | i like my | i like our | i dislike | i hate when | i hate seeing | i don't like when | i don't like it when | i do not like when
ich bevorzuge | wir bevorzugen | ich mag lieber | ich mag es nicht, wenn | ich mag keine | mir ist lieber, wenn | ich hasse es, wenn
prefiero | yo prefiero | preferimos | no me gusta que | no me gusta cuando | me gusta más
je préfère | nous préférons | on préfère | j'aime mieux | je n'aime pas quand | je n'aime pas que
eu prefiro | prefiro | preferimos | não gosto que | não gosto quando | gosto mais de
я предпочитаю | предпочитаю | мы предпочитаем | мне больше нравится | мне не нравится, когда | мне не нравится когда
";

/// Mild preferences, for once or perhaps for good.
pub(crate) const MILDLY: &str = "\
i'd prefer | i would prefer | i'd rather have | i would rather have | i'd rather use | i would rather use
ich hätte lieber | ich würde lieber | mir wäre lieber | ich würde es vorziehen
preferiría | yo preferiría
je préférerais | j'aimerais mieux
preferia | eu preferia | preferiria
я бы предпочёл | я бы предпочел | я бы предпочла
";

/// Phrases that begin the same but concern this one thing, or choose between two options.
pub(crate) const NOT: &str = "\
i prefer that | i prefer this | i prefer it | i prefer the first | i prefer the second | i prefer the latter | i prefer the former | i prefer option | i prefer your | i prefer not to say | we prefer that | we prefer this
i'd prefer that one | i'd prefer the first | i'd prefer the second | i'd prefer option | i'd prefer it | i'd prefer this | i would prefer it | i would prefer this | i would prefer option
ich bevorzuge das | ich bevorzuge die erste | ich bevorzuge option | ich bevorzuge variante | mir wäre lieber, du machst das
prefiero eso | prefiero esto | prefiero la primera | prefiero la segunda | prefiero la opción
je préfère ça | je préfère la première | je préfère la deuxième | je préfère l'option
prefiro isso | prefiro esse | prefiro a primeira | prefiro a segunda | prefiro a opção
предпочитаю это | предпочитаю первый | предпочитаю второй
";

/// The same for languages without spaces.
pub(crate) const DENSE: &str = "\
の方が好き | のほうが好き | のが好き | が好みです | を好みます | 派です
我更喜欢 | 我更喜歡 | 我喜欢用 | 我喜歡用 | 我偏好 | 我倾向于 | 我傾向於 | 我比较喜欢 | 我不喜欢用 | 我习惯用
";

/// Orders to use something …
pub(crate) const USE: &str = "\
use | please use | you should use | we should use | we use | let's use | always use | prefer | stick to | write
nimm | nutze | verwende | benutze | nutzt | verwendet | wir nutzen | wir verwenden | bitte nutze | bitte verwende
usa | utiliza | use | usemos | usamos | emplea
utilise | utilisez | utilisons | on utilise | emploie
use | usa | utilize | utiliza | usamos | vamos usar
используй | используйте | используем | бери | пиши на
";

/// … instead of something else.
pub(crate) const INSTEAD: &str = "\
instead of | rather than | , not | and not | over | not
statt | anstatt | anstelle von | , nicht | und nicht
en vez de | en lugar de | , no | y no
au lieu de | au lieu d' | plutôt que | , pas | et pas
em vez de | ao invés de | em lugar de | , não | e não
вместо | , а не | а не
";

/// The same for languages without spaces: the preferred thing may be on either side.
pub(crate) const DENSE_INSTEAD: &str = "\
ではなく | じゃなくて | の代わりに | 而不是 | 代替 | ，不要用 | ,不要用 | 不要用
";

/// … and the order that goes with it.
pub(crate) const DENSE_USE: &str = "\
使って | 使用して | を使う | 使いましょう | 使ってください | してください | 用 | 使用
";

/// Words that precede an object at hand rather than a name.
pub(crate) const POINTING: &str = "\
a | an | the | this | that | these | those | it | its | my | your | his | her | their | our | one | same | existing | current | new | above | below
der | die | das | den | dem | ein | eine | einen | einem | einer | dieser | diese | dieses | diesen | es | dein | deine | mein | meine
el | la | los | las | un | una | este | esta | ese | esa | lo | su | tu | mi
le | la | les | l' | un | une | ce | cet | cette | ces | ton | ta | mon | ma | son | sa
o | a | os | as | um | uma | este | esta | esse | essa | seu | sua | meu | minha
этот | эту | это | эти | тот | ту | его | её | их | мой | твой
";

/// Places in which a convention holds.
pub(crate) const PLACES: &str = "\
in this project | in this repo | in this repository | in this codebase | in this monorepo | in this code base | in our repo | in our codebase | in our project | in our team | in our company | on this project | on this team | in the whole repo | across the codebase | across the repo
in diesem projekt | in diesem repo | in diesem repository | in dieser codebasis | in unserem projekt | in unserem team | bei uns
en este proyecto | en este repo | en este repositorio | en nuestro proyecto | en nuestro equipo
dans ce projet | dans ce dépôt | dans ce repo | dans notre projet | dans notre équipe | chez nous
neste projeto | neste repositório | neste repo | no nosso projeto | na nossa equipe | na nossa equipa
в этом проекте | в этом репозитории | в нашем проекте | в нашей команде | у нас
";

/// Words that make a statement a convention.
pub(crate) const HABITS: &str = "\
we | use | always | never | every | all | only | no | nobody | everyone | everything is
wir | verwenden | nutzen | benutzen | schreiben | committen | testen | deployen | gilt | immer | nie | nur | alle | jeder
usamos | utilizamos | no usamos | siempre | nunca | solo | sólo | todos | todas | todo | escribimos | hacemos | ejecutamos | desplegamos
on | nous | toujours | jamais | tous | toutes | tout | seulement
usamos | utilizamos | não usamos | nós | sempre | nunca | só | todos | todas | tudo | a gente | escrevemos | fazemos | publicamos
мы | используем | не используем | принято | всегда | никогда | все | всё | только | пишем | деплоим | нельзя
";

/// Phrases about a current action, which is no convention.
pub(crate) const NOT_HABITS: &str = "\
we have a | we have an | we have some | we have two | we had | we got | we get | we see | we saw | we need to | we want to | we want | we should fix | we can | we could | we might | we are getting | we're getting | we are seeing | we're seeing | we now have | all tests fail | all the tests | all tests are
wir haben | wir sehen | wir bekommen | wir müssen | wir wollen | wir können | wir brauchen | alle tests schlagen
tenemos | todo falla | todos los tests fallan
on a | nous avons | on doit | nous devons | on veut | on peut | on voit | tous les tests échouent
nós temos | a gente tem | a gente precisa | todos os testes falham
мы видим | мы хотим | мы должны | мы можем | мы получаем | все тесты падают | всё падает | все падает
";

/// Phrases that name a convention.
pub(crate) const CONVENTIONS: &str = "\
our convention is | our policy is | our rule is | our standard is | our style is | the convention here is | the rule here is | the policy here is | the convention is | house rule: | convention: | project rule: | team rule: | we always | we never | we only ever | we only use | our workflow is | our process is | the way we do this is | this is how we
unsere konvention ist | unsere regel ist | unser standard ist | konvention: | regel: | hausregel: | wir verwenden immer | wir verwenden nie | wir nutzen immer | wir nutzen nie | wir benutzen immer | wir benutzen nie | wir schreiben immer | wir schreiben nie
nuestra convención es | nuestra regla es | convención: | regla: | siempre usamos | nunca usamos
notre convention est | notre règle est | convention : | règle : | règle: | nous utilisons toujours | on utilise toujours | nous n'utilisons jamais | on n'utilise jamais
nossa convenção é | a nossa convenção é | nossa regra é | convenção: | regra: | usamos sempre | sempre usamos | nunca usamos
наше правило | наша конвенция | правило: | мы всегда | мы никогда не | у нас принято
";

/// Phrases that begin the same but report events.
pub(crate) const NOT_CONVENTIONS: &str = "\
we always get | we always see | we always had | we always have to | we always fail | we always hit | we never get | we never got | we never see | we never saw | we never had | we never did | we never hit | we never reach | we never tested | we never finished | we never call | we never return | we never enter | we always return | we always call | we always enter | this is how we got | this is how we get | this is how we can
мы всегда получаем | мы всегда видим | мы никогда не видели | мы никогда не получали
";

/// Languages without spaces: the place …
pub(crate) const DENSE_PLACES: &str = "\
このプロジェクトでは | このリポジトリでは | このチームでは | うちでは | 在这个项目中 | 在这个项目里 | 这个项目里 | 这个项目中 | 本项目 | 我们项目 | 我们团队 | 这个仓库里 | 在這個專案
";

/// … and the convention.
pub(crate) const DENSE_HABITS: &str = "\
を使います | を使う | を使っています | を使用します | は使いません | は使わない | を書きます | ルールです | 決まりです | 禁止です | 必ず
我们用 | 我們用 | 使用 | 统一 | 統一 | 必须 | 必須 | 规定 | 都用 | 只用 | 一律 | 禁止
";

/// Orders against a habit of the agent, in this form only: "stop …ing".
pub(crate) const STOP: &str = "\
stop | please stop | can you stop | quit
";

/// "Don't …" is mostly a one-off; with one of the second phrases it is not. One pair per language, because
/// "no" begins many phrases in several languages.
pub(crate) const DONT: &[(&str, &str)] = &[
    (
        "don't | do not | dont | please don't | please do not",
        "ever again | again | anymore | any more | without asking | without my | unless i | unless asked | in this repo | in this project | in this codebase | under any circumstances | in the future",
    ),
    (
        "mach nicht | mach das nicht | tu das nicht | bitte nicht | lösche nicht | ändere nicht | committe nicht | pushe nicht | lösch nicht | lösche keine | ändere keine | committe keine | pushe keine",
        "ohne zu fragen | ohne nachzufragen | nie wieder | außer ich",
    ),
    ("no | por favor no", "sin preguntar | nunca más | a menos que | sin mi permiso"),
    ("ne | n' | s'il te plaît ne", "sans demander | plus jamais | sauf si je | sans mon accord"),
    (
        "não | por favor não",
        "sem perguntar | nunca mais | a menos que | sem a minha permissão | sem minha permissão",
    ),
    ("не | пожалуйста, не | больше не", "без спроса | без моего | больше никогда | если я не"),
];

/// Phrases that begin the same but reassure or wait.
pub(crate) const NOT_DONT: &str = "\
don't worry | don't bother | don't know | don't think | don't see | don't we | don't you | don't i | do not know | do not think | do not see | do not worry | don't forget | don't need | don't have | don't want to
no sé | no veo | no me | no hay | no es | no está | no funciona | no te preocupes | no lo sé | no, | no hace falta | no quiero
não sei | não vejo | não me | não há | não é | não está | não funciona | não se preocupe | não, | não quero
не знаю | не вижу | не могу | не работает | не надо | не хочу | не волнуйся | не понимаю
";

/// Orders that hold everywhere: their first words …
pub(crate) const USING: &str = "\
make sure | let's make sure | use | let's use | we should use | we should be using | please use
achte darauf | verwende | nutze | benutze
asegúrate | usa | utiliza
assure-toi | utilise
certifique-se | use | usa
убедись | используй
";

/// … and the words for their scope.
pub(crate) const EVERYWHERE: &str = "\
everywhere | wherever we can | wherever possible | whenever possible | in all cases | across the codebase | across the repo | every time
überall | wo immer möglich | jedes mal
en todas partes | siempre que sea posible | cada vez
partout | chaque fois
em todo lado | em todos os lugares | sempre que possível | cada vez
везде | всюду | каждый раз
";

/// Last words of an order that holds from now on …
pub(crate) const ONWARDS: &str = "\
going forward | from now on | from here on
ab jetzt | von jetzt an | in zukunft | künftig
a partir de ahora | de ahora en adelante | en adelante
à l'avenir | désormais | dorénavant
a partir de agora | de agora em diante | daqui em diante
впредь | с этого момента
";

/// … and the words that make it an order.
pub(crate) const ORDERS: &str = "\
should | must | use | please | don't | let's | we want | need to | make sure
soll | sollte | sollten | muss | müssen | bitte | verwende | nutze | nicht
debe | deben | hay que | usa | por favor | no
doit | doivent | il faut | utilise | s'il te plaît | ne
deve | devem | use | usa | por favor | não
должен | должна | должны | надо | нужно | используй | не
";

/// Prohibitions in the middle of a sentence.
pub(crate) const MUST_NEVER: &str = "\
must never | must not ever | should never be | may never | must always | should not be changed ever | should not be updated ever | should not be edited ever
darf nie | darf niemals | dürfen nie | dürfen niemals | muss immer | müssen immer
nunca debe | nunca deben | siempre debe | siempre deben | no debe nunca
ne doit jamais | ne doivent jamais | doit toujours | doivent toujours
nunca deve | nunca devem | deve sempre | devem sempre
никогда не должен | никогда не должна | никогда не должны | всегда должен | всегда должна | всегда должны
";
