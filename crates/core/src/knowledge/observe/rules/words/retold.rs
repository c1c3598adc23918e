//! Phrases that retell a session: actions and requests without results.

/// Subjects for the agent, at the start of a sentence.
pub(crate) const AGENT: &str = "\
the agent | agent | the assistant | assistant | the model | claude | codex | gemini
der agent | der assistent | die assistentin | el agente | el asistente | l'agent | l'assistant | o agente | o assistente | агент | ассистент | помощник
";

/// Subjects for the user, at the start of a sentence.
pub(crate) const PERSON: &str = "\
the user | user | the person | the developer
der benutzer | die benutzerin | der nutzer | die nutzerin | el usuario | la usuaria | l'utilisateur | l'utilisatrice | o usuário | a usuária | o utilizador | пользователь
";

/// Words between the agent and its action.
pub(crate) const BETWEEN: &str = "\
then | also | again | now | first | next | finally | later | has | had | have | is | was | successfully | just
hat | hatte | dann | auch | zuerst | danach | ha | había | luego | también | a | avait | ensuite | aussi | tem | tinha | depois | também | потом | затем | также | сначала
";

/// Intermediate steps, which are of no use next time.
pub(crate) const LOOKS: &str = "\
run | runs | ran | running | execute | executes | executed | executing | read | reads | reading | open | opens | opened | look | looks | looked | check | checks | checked | checking | search | searches | searched | list | lists | listed | start | starts | started | begin | begins | began | try | tries | tried | explore | explores | explored | inspect | inspects | inspected | review | reviews | reviewed | verify | verifies | verified | will | going to | plan to | plans to | continue | continues | continued | working on | works on | worked on | view | views | viewed | call | calls | called | invoke | invokes | invoked | commit | commits | committed | push | pushes | pushed | respond | responds | responded | reply | replies | replied | answer | answers | answered | acknowledge | acknowledges | acknowledged | confirm | confirms | confirmed | say | says | said | offer | offers | offered | ask | asks | asked | thank | thanks | thanked | understand | understands | understood | complete | completes | completed | finish | finishes | finished | test | tests | tested | wait | waits | waited | attempt | attempts | attempted | perform | performs | performed | proceed | proceeds | proceeded | apologize | apologizes | apologized | agree | agrees | agreed
geprüft | prüft | prüfte | führt | führte | startet | startete | begann | beginnt | liest | las | öffnet | öffnete | sucht | suchte | antwortet | antwortete | bestätigt | bestätigte | wird
ejecuta | ejecutó | ejecutado | lee | leyó | leído | abre | abrió | revisa | revisó | revisado | comprueba | comprobó | busca | buscó | empieza | empezó | responde | respondió | confirma | confirmó
lance | lancé | lit | lu | ouvre | ouvert | vérifie | vérifié | cherche | cherché | commence | commencé | répond | répondu | confirme | confirmé | exécute | exécuté
executa | executou | executado | lê | leu | abre | abriu | verifica | verificou | procura | procurou | começa | começou | responde | respondeu | confirma | confirmou
запускает | запустил | читает | прочитал | открывает | открыл | проверяет | проверил | ищет | искал | начинает | начал | отвечает | ответил | подтверждает | подтвердил
";

/// Steps without a subject.
pub(crate) const STEPS: &str = "\
ran | read the | read through | opened | looked at | looked into | checked | searched | listed | started | began | tried | explored | inspected | reviewed | verified | executed | committed | pushed | is going to | working on | continued
all tests pass | all tests passed | tests pass | tests passed | the tests pass | the tests passed | the build succeeded | the changes were committed | changes were committed
hat | es wurde geprüft | alle tests laufen | begann | startete
ejecutó | leyó | abrió | revisó | comprobó | buscó | empezó | todas las pruebas pasan
a lancé | a lu | a ouvert | a vérifié | a cherché | a commencé | tous les tests passent
executou | leu | abriu | verificou | procurou | começou | todos os testes passam
запустил | прочитал | открыл | проверил | искал | начал | все тесты проходят
";

/// The same for languages without spaces.
pub(crate) const DENSE_STEPS: &str = "\
を確認しました | を実行しました | を読みました | を開きました | を調べました | を確認した | を実行した | をコミットしました | 已检查 | 已运行 | 检查了 | 运行了 | 查看了 | 打开了 | 阅读了 | 提交了更改
";

/// Changes, which are worth a line if they name the object and the purpose (OBS-05).
pub(crate) const CHANGES: &str = "\
edit | edits | edited | update | updates | updated | change | changes | changed | modify | modifies | modified | write | writes | wrote | written | add | adds | added | create | creates | created | make | makes | made | remove | removes | removed | delete | deletes | deleted | use | uses | used
geändert | ändert | änderte | bearbeitet | schreibt | schrieb | erstellt | fügt | edita | editó | cambia | cambió | modifica | modificó | escribe | escribió | crea | creó
modifie | modifié | change | changé | écrit | crée | créé | ajoute | ajouté | altera | alterou | modifica | modificou | escreve | escreveu | cria | criou
изменяет | изменил | пишет | написал | создаёт | создал | добавляет | добавил
";

/// Words that introduce a purpose.
pub(crate) const AIMS: &str = "\
to | so | for | in order | such that
um | damit | für | para | pour | afin | чтобы | для
";

/// Words that introduce a reason: the sentence is then more than a step.
pub(crate) const REASONS: &str = "\
because | since | due to | instead of | so that | otherwise | rather than | fixed by | by replacing | replaced by
weil | wegen | statt | anstatt | sonst | porque | debido a | en lugar de | en vez de | parce que | à cause de | au lieu de | em vez de | por causa de | потому что | из-за | вместо
";

/// Verbs of a user who requests something now, or is content.
pub(crate) const ASKS: &str = "\
ask | asks | asked | is asking | request | requests | requested | wants the | wants to know | wanted the | wanted to know | would like the | thanks | thanked | approve | approves | approved | confirm | confirms | confirmed | agree | agrees | agreed | acknowledge | acknowledges | acknowledged | report | reports | reported | complain | complains | complained | tells the agent to | told the agent to | tells the assistant to | told the assistant to | is satisfied | was satisfied | says thanks | greets | greeted | ends the session | ended the session | instructed the agent to commit | instructs the agent to commit
fragt | fragte | bittet | bat | möchte wissen | bedankt | bedankte | bestätigt | bestätigte | meldet | meldete
pide | pidió | pregunta | preguntó | agradece | agradeció | confirma | confirmó | informa | informó
demande | a demandé | remercie | a remercié | confirme | a confirmé | signale | a signalé
pede | pediu | pergunta | perguntou | agradece | agradeceu | confirma | confirmou | relata | relatou
просит | попросил | спрашивает | спросил | благодарит | поблагодарил | подтверждает | подтвердил | сообщает | сообщил
";

/// The same for languages without spaces.
pub(crate) const DENSE_ASKS: &str = "\
ユーザーは依頼 | ユーザーが依頼 | ユーザーは質問 | ユーザーは感謝 | ユーザーが質問 | 用户要求 | 用户请求 | 用户询问 | 用户感谢 | 用户问 | 用户确认
";

/// Words of a request, anywhere in a sentence of the user.
pub(crate) const PLEASE: &str = "\
please | pls | bitte | por favor | s'il te plaît | s'il vous plaît | stp | svp | пожалуйста | i want you to | i'd like you to | i need you to | go and | help me | let me know | tell me
";

/// First words of a clause that orders one-off work.
pub(crate) const ORDERS: &str = "\
add | apply | build | bump | change | check | clean | close | commit | compare | continue | convert | create | debug | delete | deploy | describe | do | document | explain | explore | extract | figure out | find | find out | finish | fix | format | generate | give me | go | go on | have a look | help | implement | improve | inline | inspect | install | investigate | let me see | list | look | look at | look into | make | merge | move | open | polish | push | put | read | rebase | refactor | remove | rename | replace | rerun | restore | revert | review | rewrite | run | save | search | set up | show | simplify | split | start | stop | submit | summarise | summarize | tag | take | tell | test | try | undo | update | upgrade | use | verify | write
füge | ändere | prüfe | baue | lösche | erstelle | erkläre | finde | behebe | schreibe | schau | zeig | zeige | mach | mache | starte | teste | benenne | entferne | committe
añade | agrega | cambia | revisa | borra | crea | explica | busca | arregla | escribe | mira | muestra | haz | ejecuta | prueba | quita
ajoute | change | vérifie | supprime | crée | explique | cherche | corrige | écris | regarde | montre | fais | lance | teste | enlève
adiciona | adicione | muda | mude | verifica | verifique | apaga | apague | cria | crie | explica | explique | procura | corrige | corrija | escreve | escreva | mostra | mostre | faz | faça | roda | rode | remove | remova
добавь | измени | проверь | удали | создай | объясни | найди | исправь | напиши | посмотри | покажи | сделай | запусти | протестируй | убери | закоммить
";

/// The same for languages without spaces.
pub(crate) const DENSE_ORDERS: &str = "\
してください | して下さい | してほしい | お願い | 教えて | 見せて | 请 | 請 | 帮我 | 幫我 | 麻烦
";
