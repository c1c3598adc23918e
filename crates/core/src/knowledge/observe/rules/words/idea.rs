//! Phrases that postpone something or propose an idea.

/// First words of a clause that postpone something.
pub(crate) const IDEAS: &str = "\
idea: | an idea: | idea for later: | idea for the future: | something for later: | another idea: | project idea: | feature idea: | todo: | to-do: | to do: | follow-up: | follow up: | followup: | for later: | nice to have: | nice-to-have: | research: | to research: | worth exploring: | backlog: | future work:
later we should | later we could | later we can | later on we should | later on we could | later i want to | later i'd like to | someday | some day we | one day we | one day i | at some point we should | at some point we could | at some point i'd | at some point i want | eventually we should | eventually we could | eventually we'll want | eventually i'd like | in the future we could | in the future we should | in the future we might | in future we could | in future we should | down the road we | down the line we | long term we | long-term we | maybe later we | in a follow-up | in a followup | in a future pr | in a later pr | in a separate pr we | we could someday | we should someday | we should eventually | we could eventually | we should at some point
idee: | noch eine idee: | für später: | rückstand: | später sollten wir | später könnten wir | später will ich | irgendwann sollten wir | irgendwann könnten wir | irgendwann will ich | irgendwann möchte ich | eines tages | langfristig sollten wir | langfristig könnten wir | in zukunft könnten wir | in zukunft sollten wir
idea: | otra idea: | pendiente: | para más adelante: | para después: | más adelante deberíamos | más adelante podríamos | algún día | en el futuro podríamos | en el futuro deberíamos | luego deberíamos | en algún momento deberíamos
idée : | idée: | à faire : | à faire: | pour plus tard : | pour plus tard: | plus tard on devrait | plus tard, on devrait | plus tard on pourrait | plus tard, on pourrait | plus tard il faudrait | plus tard, il faudrait | plus tard, nous | un jour on | un jour, on | un jour nous | un jour il faudrait | un jour, il faudrait | à terme on | à terme, on | à terme il faudrait | à terme, il faudrait
ideia: | outra ideia: | pendente: | para depois: | para mais tarde: | mais tarde devíamos | mais tarde deveríamos | mais tarde podemos | mais tarde poderíamos | um dia devíamos | um dia deveríamos | um dia poderíamos | um dia quero | no futuro podemos | no futuro poderíamos | no futuro deveríamos | algum dia
идея: | ещё идея: | на потом: | туду: | позже надо | позже нужно | позже стоит | потом надо бы | потом стоит | потом можно будет | когда-нибудь | однажды мы | в будущем можно | в будущем стоит | в будущем надо | в будущем нужно | со временем надо | со временем стоит
";

/// Phrases that begin the same but mean now.
pub(crate) const NOT: &str = "\
someday it | one day it | todo: none | todo: nothing | idea: none | eines tages war | algún día fue | когда-нибудь было
";

/// The same for languages without spaces.
pub(crate) const DENSE: &str = "\
アイデア： | アイデア: | アイディア： | アイディア: | いつか | 将来的に | そのうち | 後日対応 | あとで対応 | 後で対応 | todo： | todo:
想法： | 想法: | 点子： | 点子: | 以后可以 | 以後可以 | 将来可以 | 將來可以 | 以后我们可以 | 有空再 | 待办： | 待办: | 待辦： | 后续可以 | 後續可以 | 将来应该 | 以后应该
";

/// Phrases without spaces that contain the same but postpone nothing.
pub(crate) const DENSE_NOT: &str = "\
以后再说 | 以後再說 | いつから | いつかは分から | 可以吗 | 可以嗎
";

/// Words anywhere in a message that consider something for later. A model's idea needs such a message.
pub(crate) const THOUGHT_OF: &str = "\
idea | ideas | later | someday | some day | one day | at some point | eventually | in the future | in future | down the road | down the line | long term | long-term | follow-up | follow up | followup | next step | next steps | nice to have | would be nice | would be great | would be cool | might want | may want | might be worth | worth exploring | worth looking | worth trying | we could | i could | could also | maybe we | perhaps we | what if | how about | consider | wish | todo | to-do | backlog | roadmap | future work | separate pr | another pr | not now | out of scope | future
idee | ideen | später | irgendwann | eines tages | langfristig | in zukunft | wäre schön | wäre gut | wir könnten | man könnte | vielleicht | nächster schritt | nächste schritte | was wäre, wenn
ideas | más adelante | algún día | en el futuro | estaría bien | sería bueno | sería útil | podríamos | tal vez | quizás | próximo paso | pendiente | y si
idée | idées | plus tard | un jour | à terme | à l'avenir | serait bien | serait utile | on pourrait | nous pourrions | peut-être | prochaine étape | et si
ideia | ideias | mais tarde | um dia | no futuro | algum dia | seria bom | seria útil | poderíamos | podíamos | talvez | próximo passo | e se
идея | идеи | позже | когда-нибудь | в будущем | со временем | было бы | мы могли бы | можно было бы | может быть | следующий шаг | на потом | а что если
";

/// The same for languages without spaces.
pub(crate) const DENSE_THOUGHT_OF: &str = "\
アイデア | アイディア | いつか | 将来 | そのうち | 後で | あとで | 後日 | かもしれない | できるといい | 次のステップ | todo
想法 | 点子 | 以后 | 以後 | 将来 | 將來 | 有空 | 待办 | 待辦 | 后续 | 後續 | 也许 | 或许 | 可以考虑 | 下一步 | 如果能
";
