//! How steps on the way are told, and what is meant for once.

/// At the beginning: somebody did something, which nobody will want to know next time.
pub(crate) const STEPS: &str = "\
ran | read | opened | looked at | looked into | checked | searched | listed | started | began | tried | explored | inspected | reviewed | verified | will | is going to | working on | continued
the agent ran | the agent read | the agent opened | the agent looked | the agent checked | the agent searched | the agent listed | the agent started | the agent tried | the agent explored | the agent inspected | the agent reviewed | the agent verified
the assistant ran | the assistant read | the assistant opened | the assistant looked | the assistant checked | the assistant searched | the assistant started | the assistant tried | the assistant explored | the assistant reviewed | the assistant verified
all tests pass | all tests passed | tests pass | tests passed | the tests pass | the build succeeded
hat | der agent hat | es wurde geprüft | alle tests laufen | begann | startete
ejecutó | leyó | abrió | revisó | comprobó | buscó | empezó | el agente | todas las pruebas pasan
a lancé | a lu | a ouvert | a vérifié | a cherché | a commencé | l'agent a | tous les tests passent
executou | leu | abriu | verificou | procurou | começou | o agente | todos os testes passam
запустил | прочитал | открыл | проверил | искал | начал | агент | все тесты проходят
";

/// Without spaces.
pub(crate) const DENSE_STEPS: &str = "\
を確認しました | を実行しました | を読みました | を開きました | を調べました | 已检查 | 已运行 | 检查了 | 运行了 | 查看了 | 打开了 | 阅读了
";

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
