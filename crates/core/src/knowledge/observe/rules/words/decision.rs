//! Phrases that express a decision.

/// Phrases of an explicit decision.
pub(crate) const PLAINLY: &str = "\
we decided | we chose | we explicitly chose | we've chosen | we picked | we've decided | we have decided | i decided | i've decided | i have decided | it's decided | it is decided | decision: | final decision: | we agreed | we've agreed | we have agreed | we settled on | we've settled on | we're going with | we are going with | we'll go with | we will go with | we're switching to | we are switching to | we're moving to | we are moving to | the decision is | the team decided
wir haben uns für | wir haben uns entschieden | wir haben entschieden | wir haben beschlossen | ich habe mich für | ich habe mich entschieden | ich habe entschieden | entscheidung: | beschluss: | beschlossen: | wir haben uns geeinigt | wir einigen uns auf | das team hat entschieden
decidimos | hemos decidido | he decidido | decidí | decisión: | acordamos | hemos acordado | quedamos en | optamos por | hemos optado por | el equipo decidió
nous avons décidé | on a décidé | j'ai décidé | décision : | décision: | nous avons choisi | on a choisi | nous avons opté | on a opté | l'équipe a décidé
decidimos | eu decidi | decidi | decisão: | ficou decidido | combinamos | optamos por | a equipe decidiu | a equipa decidiu
мы решили | я решил | я решила | решили, что | решено: | решение: | мы договорились | мы выбрали | команда решила
";

/// Phrases that begin the same but decide nothing.
pub(crate) const NOT: &str = "\
we decided to wait | i decided to wait | we decided not to decide | we agreed on a call | решение: нет
";

/// Decisions in the form of an invitation.
pub(crate) const LETS: &str = "\
let's go with | lets go with | let us go with | i'll go with | i'm going with | i want to go with | go with | going with | let's stick with | we'll stick with | stick with | let's stick to | let's switch to | let's settle on | let's standardize on | let's standardise on | let's keep using
wir nehmen | lass uns bei | wir bleiben bei | wir wechseln zu | wir wechseln auf | wir steigen um auf | wir setzen auf | dann nehmen wir | nehmen wir
vamos con | nos quedamos con | cambiemos a | quedémonos con
partons sur | on part sur | on reste sur | restons sur | optons pour | on passe à | passons à
vamos com | vamos ficar com | ficamos com | vamos adotar
давай остановимся на | остановимся на | переходим на | давай возьмём | давай возьмем | останемся на
";

/// Invitations to use something, which decide only with a purpose or a reason.
pub(crate) const LETS_USE: &str = "\
let's use | lets use | let us use | we'll use | we will use | i'll use | we are using
wir verwenden | wir nutzen | lass uns | wir benutzen
vamos a usar | usemos | usaremos
on utilise | utilisons | on va utiliser
vamos usar | usaremos | usemos
будем использовать | давай использовать | давайте использовать
";

/// Words that give a reason.
pub(crate) const BECAUSE: &str = "\
because | since | so that | as it | due to | otherwise | in order to
weil | da wir | denn | damit | sonst | wegen
porque | ya que | para que | debido a | si no
parce que | parce qu' | car | puisque | afin | sinon | à cause
porque | já que | pois | para que | devido a | senão
потому что | так как | чтобы | иначе | из-за | поскольку
";

/// The same for languages without spaces.
pub(crate) const DENSE: &str = "\
に決めました | に決めた | に決定 | ことに決め | でいきましょう | で行きましょう | でいきます | ことにしました | ことにします | を採用します | を採用しました
我们决定 | 我們決定 | 我决定 | 我決定 | 决定用 | 决定使用 | 決定使用 | 决定采用 | 我们选择 | 我們選擇 | 我们采用 | 我們採用
";

/// Phrases without spaces that contain the same but decide nothing.
pub(crate) const DENSE_NOT: &str = "\
に決めましたか | 决定吗 | 还没决定 | 還沒決定 | 没有决定 | 怎么决定
";

/// Names for the items of a list from which the user chooses.
pub(crate) const NUMBERED: &str = "\
option | variant | approach | number | choice | alternative | proposal | plan | variante | nummer | möglichkeit | opción | número | numéro | opção | alternativa | вариант | номер | #
";
