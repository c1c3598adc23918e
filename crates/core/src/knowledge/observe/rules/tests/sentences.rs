//! Tests of classifying sentences in eight languages, with as many negative examples as positive ones.

use super::*;
use crate::base::provenance::StatementStrength;
use crate::base::sentiment::Sentiment;
use crate::vault::daily_log::FactTime;
use crate::vault::priority::Priority;

fn is(kind: FindingKind, sentences: &[&str]) {
    for sentence in sentences {
        assert_eq!(said(sentence), [(kind, (*sentence).to_owned())], "{sentence}");
    }
}

#[test]
fn obs_04_rules() {
    is(
        FindingKind::Rule,
        &[
            "Always run the linter before you commit.",
            "Never push directly to main.",
            "From now on write the changelog in English.",
            "When you write SQL, always use bound parameters.",
            "Before a release, always bump the schema version.",
            "In this project we use pnpm workspaces.",
            "In this repo, never touch the generated folder.",
            "Our convention is one component per file.",
            "We never log request bodies.",
            "We always squash before merging.",
            "We use tabs here.",
            "Don't delete branches without asking.",
            "Please don't amend commits without my approval.",
            "Remember that the staging database is read only.",
            "Postponed findings should get a ticket going forward.",
            "Let's make sure we use US English everywhere.",
            "We should be using the strong types wherever we can.",
            "The signing keys must never be logged anywhere.",
            "Bitte lösche keine Branches, ohne zu fragen.",
            "In diesem Projekt verwenden wir pnpm.",
            "Unsere Konvention ist eine Komponente pro Datei.",
            "Niemals direkt auf main pushen.",
            "Wenn du SQL schreibst, verwende immer Parameter.",
            "En este proyecto usamos pnpm.",
            "Nuestra convención es un componente por archivo.",
            "Nunca subas cambios a main.",
            "Dans ce projet, on utilise pnpm.",
            "Ne jamais pousser sur main.",
            "Notre convention est un composant par fichier.",
            "Neste projeto usamos pnpm.",
            "Nunca faça push para a main.",
            "Nossa convenção é um componente por arquivo.",
            "В этом проекте мы используем pnpm.",
            "Никогда не пушь в main напрямую.",
            "Мы всегда пишем тесты до кода.",
            "このプロジェクトではpnpmを使います。",
            "コミットの前に必ずテストを実行してください。",
            "在这个项目中我们用pnpm管理依赖。",
            "永远不要直接推送到main分支。",
        ],
    );
}

#[test]
fn obs_04_preferences() {
    is(
        FindingKind::Preference,
        &[
            "I prefer small commits with one topic each.",
            "We prefer composition over inheritance.",
            "Use pnpm instead of npm.",
            "Please use tabs, not spaces.",
            "Use ripgrep rather than grep.",
            "I'd prefer shorter commit messages.",
            "I don't like it when tests sleep.",
            "Ich bevorzuge kleine Commits.",
            "Nimm pnpm statt npm.",
            "Ich würde lieber kurze Funktionen sehen.",
            "Prefiero commits pequeños.",
            "Usa pnpm en vez de npm.",
            "Je préfère des commits courts.",
            "Utilise pnpm au lieu de npm.",
            "Prefiro commits pequenos.",
            "Use pnpm em vez de npm.",
            "Я предпочитаю маленькие коммиты.",
            "Используй pnpm вместо npm.",
            "小さいコミットの方が好きです。",
            "npmではなくpnpmを使ってください。",
            "我更喜欢小的提交。",
            "用pnpm而不是npm。",
        ],
    );
}

#[test]
fn obs_04_corrections() {
    is(
        FindingKind::Correction,
        &[
            "That's not correct, the settings file has to be committed.",
            "That's wrong, the port is 5433.",
            "I told you to leave the migrations alone.",
            "Stop adding comments to every function.",
            "You keep changing the lock file.",
            "No, the id comes from the header, not from the query.",
            "No, use the existing client instead.",
            "I didn't ask you to reformat the file.",
            "The first part is not correct, the hook adds the trailer in both modes.",
            "You are not correct: the hook receives the prompt field.",
            "Das stimmt nicht, der Port ist 5433.",
            "Ich habe dir gesagt, dass die Migrationen bleiben.",
            "Nein, nicht den Cache, sondern die Datenbank.",
            "Eso no es correcto, el puerto es 5433.",
            "Ya te dije que las migraciones no se tocan.",
            "Deja de añadir comentarios en cada función.",
            "C'est faux, le port est 5433.",
            "Je t'ai déjà dit de laisser les migrations.",
            "Arrête de modifier le fichier de verrouillage.",
            "Isso está errado, a porta é 5433.",
            "Pare de adicionar comentários em cada função.",
            "Это неправильно, порт 5433 занят стендом.",
            "Я же говорил не трогать миграции.",
            "Перестань добавлять комментарии в каждую функцию.",
            "それは間違いです、ポートは5433です。",
            "不对，端口应该是5433。",
            "不要再修改锁文件。",
        ],
    );
}

#[test]
fn a_correction_needs_something_to_correct() {
    let first = SessionScript::new().user("That's wrong, the port is 5433.").agent("Fixed.");
    assert_eq!(first.told(), Vec::<String>::new());
    // "That's wrong" is useless alone, but not with the next sentence.
    assert_eq!(said("That's wrong."), []);
    let both = "That's wrong. The staging port is 5433.";
    assert_eq!(said(both), [(FindingKind::Correction, both.to_owned())]);
    // A "no" to a question is an answer.
    let answer = SessionScript::new().user("check the parser please").agent("Should I use the old client?");
    assert_eq!(answer.user("No, use the new client instead.").agent("Ok.").told(), Vec::<String>::new());
}

#[test]
fn obs_04_decisions() {
    is(
        FindingKind::Decision,
        &[
            "We decided to keep sessions in Redis for thirty days.",
            "Let's go with Postgres for the job queue.",
            "Use Postgres instead of SQLite because two workers write at once.",
            "Decision: the API stays versioned by path.",
            "We're going with server-side rendering.",
            "Let's use Vitest for the new packages.",
            "The team decided against GraphQL.",
            "Wir haben uns für Postgres entschieden.",
            "Entscheidung: die API bleibt nach Pfad versioniert.",
            "Hemos decidido guardar las sesiones en Redis.",
            "Nos quedamos con Postgres.",
            "Nous avons décidé de garder les sessions dans Redis.",
            "On part sur Postgres.",
            "Decidimos guardar as sessões no Redis.",
            "Vamos ficar com Postgres.",
            "Мы решили хранить сессии в Redis.",
            "Переходим на Postgres.",
            "セッションはRedisに保存することにしました。",
            "我们决定把会话存储在Redis里。",
        ],
    );
}

#[test]
fn idea_01_ideas_and_follow_ups() {
    is(
        FindingKind::Idea,
        &[
            "Idea: show the diff before the upload.",
            "Idea for later: show the diff before the upload.",
            "Later we should split the worker into two processes.",
            "TODO: measure the cold start on Windows.",
            "One day we could offer an export to Parquet.",
            "Good enough, but at some point we should cache the thumbnails.",
            "Idee: den Diff vor dem Hochladen zeigen.",
            "Irgendwann sollten wir die Vorschaubilder cachen.",
            "Idea: mostrar el diff antes de subir.",
            "Algún día podríamos exportar a Parquet.",
            "Plus tard, on devrait mettre en cache les vignettes.",
            "Ideia: mostrar o diff antes do envio.",
            "No futuro poderíamos exportar para Parquet.",
            "Идея: показывать дифф перед загрузкой.",
            "Когда-нибудь сделаем экспорт в Parquet.",
            "いつかParquetへの書き出しに対応したい。",
            "以后可以支持导出为Parquet格式。",
        ],
    );
}

#[test]
fn obs_09_changes_in_the_persons_words() {
    is(
        FindingKind::Change,
        &[
            "We switched from Jenkins to GitHub Actions last week.",
            "We upgraded to Node 22.",
            "We don't use Sentry anymore.",
            "Wir sind auf Node 22 umgestiegen.",
            "Hemos migrado a Node 22.",
            "On est passé à Node 22.",
            "Migramos para Node 22.",
            "Мы перешли на Node 22.",
            "Node 22に移行しました。",
            "我们已经升级到Node 22版本。",
        ],
    );
}

#[test]
fn causes_in_the_persons_words() {
    is(
        FindingKind::Fix,
        &[
            "Turns out the proxy strips the authorization header.",
            "The root cause was a stale DNS entry on the runner.",
            "Es stellte sich heraus, dass der Proxy den Header entfernt.",
            "Resulta que el proxy elimina la cabecera.",
            "Il s'avère que le proxy supprime l'en-tête.",
            "Acontece que o proxy remove o cabeçalho.",
            "Оказалось, что прокси удаляет заголовок авторизации.",
            "原因はプロキシがヘッダーを削除していたことです。",
            "原因是代理删除了认证请求头。",
        ],
    );
}

#[test]
fn one_off_requests_and_small_talk_are_nothing() {
    for text in [
        // Orders for one-off work.
        "Fix the test.",
        "Add a button to the toolbar.",
        "Please rename the function to parse_line.",
        "Use the existing helper instead of the loop.",
        "Use parse_line() instead of split_at().",
        "use a match instead of if let here",
        "Let's use the debugger.",
        "Let's use this branch for testing.",
        "Let's fix the lint along the way.",
        "Let's discuss.",
        "Let's go with that.",
        "Let's go with the first option.",
        "Go with it.",
        "Don't commit yet.",
        "Don't touch the tests for now.",
        "Do not push.",
        "Stop the server.",
        "stop",
        "Write the docs, not the tests.",
        "Make it faster.",
        "commit this and push",
        "We should add a test for this.",
        "We need to update the readme.",
        "In this project we have a bug in the parser.",
        "In this repo the tests fail.",
        "We use a mutex here, so it deadlocks.",
        "We use it here.",
        "You missed the import on line three.",
        "no remove this again, the risk is too big",
        "no, ignore this part, back to the changes we did",
        "Our case would be:\n1. if there is an error, always exit with 1\n2. never print a stack trace",
        "**Always** exit with an error code.",
        "Implement the following plan:\n# Fix\ntext\n## Change\nAlways render the bullets when they exist.\n",
        "Let's go with 4 and 5.",
        "This should never happen again on retries.",
        "The count is not correct anymore.",
        // Reports that give no order.
        "It always fails on CI.",
        "We never got that error before.",
        "We always get a timeout here.",
        "I like it.",
        "I prefer the second option.",
        "I prefer that.",
        "I don't like this.",
        "We replaced it already.",
        "Never mind.",
        "I decided.",
        // Short answers to questions.
        "No.",
        "No, thanks.",
        "No, that's fine.",
        "no worries, take your time",
        "Yes, do both please.",
        "ok",
        "thanks, that works great",
        "perfect, next step please",
        // Questions state nothing (OBS-08).
        "Should we always run the linter?",
        "Do you prefer tabs or spaces?",
        "Did we decide to use Postgres?",
        "Why did you use npm instead of pnpm?",
        "Isn't that wrong, the port is 5433?",
        "Could we one day export to Parquet?",
        // Examples in other languages.
        "Bitte den Test reparieren.",
        "Füge einen Knopf hinzu.",
        "In diesem Projekt gibt es einen Fehler.",
        "Nein, danke.",
        "Lass uns anfangen.",
        "Wir haben einen Fehler im Parser.",
        "Immer noch derselbe Fehler.",
        "Nimm die zweite Variante.",
        "Arregla la prueba.",
        "En este proyecto hay un error.",
        "No, gracias.",
        "No sé qué pasa.",
        "Vamos con eso.",
        "Corrige le test.",
        "Dans ce projet, il y a un bogue.",
        "Non, merci.",
        "On y va.",
        "Toujours pas.",
        "Corrige o teste.",
        "Neste projeto há um erro.",
        "Não, obrigado.",
        "Vamos com isso.",
        "Исправь тест.",
        "В этом проекте есть ошибка.",
        "У нас баг в парсере.",
        "Нет, спасибо.",
        "Давай начнём.",
        "テストを修正してください。",
        "このプロジェクトではテストが失敗します。",
        "ボタンを追加して。",
        "いいですね。",
        "请修复这个测试。",
        "在这个项目里用户登录失败了。",
        "加一个按钮。",
        "以后再说。",
        "这样对不对？",
    ] {
        assert_eq!(said(text), [], "{text}");
    }
}

#[test]
fn fbk_06_the_strength_of_statements() {
    let strength = |text: &str| {
        let session = SessionScript::new().user("hello there agent").agent("Hi.").user(text).agent("Ok.");
        let finding = session.findings().remove(0);
        (finding.strength, finding.priority)
    };
    assert_eq!(strength("Never push to main branches."), (StatementStrength::Explicit, Priority::High));
    assert_eq!(strength("Use pnpm instead of npm."), (StatementStrength::Implied, Priority::High));
    assert_eq!(
        strength("I'd prefer shorter commit messages."),
        (StatementStrength::Implied, Priority::Medium)
    );
    assert_eq!(
        strength("Keep in mind that Windows paths differ."),
        (StatementStrength::Implied, Priority::Medium)
    );
    assert_eq!(
        strength("Later we should split the worker process."),
        (StatementStrength::Implied, Priority::Low)
    );
}

#[test]
fn fbk_07_how_the_person_felt() {
    let feels = |text: &str| {
        let session = SessionScript::new().user("hello there agent").agent("Hi.").user(text).agent("Ok.");
        session.findings().first().and_then(|finding| finding.sentiment)
    };
    assert_eq!(feels("I told you to leave the migrations alone."), Some(Sentiment::Frustrated));
    assert_eq!(feels("Never push to main again 😡"), Some(Sentiment::Frustrated));
    assert_eq!(feels("This is important: never push to main."), None);
    assert_eq!(feels("Always rotate the keys immediately after a leak."), Some(Sentiment::Urgent));
    assert_eq!(feels("I love this layout, but I prefer smaller fonts."), Some(Sentiment::Pleased));
    assert_eq!(feels("Never push to main."), None);
}

#[test]
fn obs_07_times_are_those_of_the_messages() {
    let session = SessionScript::new().user("Never push to main.").agent("Ok.");
    assert_eq!(session.findings()[0].when.unwrap().to_string(), "(09:00)");
    let vienna = TimeZone::get("Europe/Vienna").unwrap();
    let observed = rules::observe(&session.messages, &vienna, None);
    assert_eq!(observed.findings().next().unwrap().when.unwrap().to_string(), "(10:00)");
    // A statement about another time keeps its wording.
    let later = SessionScript::new().user("Remember that the freeze starts tomorrow at 13:00.").agent("Ok.");
    assert_eq!(later.told(), ["Rule: Remember that the freeze starts tomorrow at 13:00."]);
}

#[test]
fn obs_07_without_a_time_the_position_is_shown() {
    let mut session = SessionScript::new().user("Never push to main.").agent("Ok.");
    for number in 0..8 {
        session = session.user(&format!("look at part {number}")).agent("I did.");
    }
    session = session.user("Always sign the release tags.").agent("Ok.");
    session.messages.iter_mut().for_each(|message| message.at = None);
    let when: Vec<Option<FactTime>> = session.findings().iter().map(|finding| finding.when).collect();
    assert_eq!(when, [Some(FactTime::EarlyInSession), Some(FactTime::NearEnd)]);
}

#[test]
fn duplicate_statements_are_kept_once() {
    let session = SessionScript::new()
        .user("Never push to main.")
        .agent("Ok.")
        .user("never push to main!")
        .agent("Ok.");
    let findings = session.findings();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].messages, ["m0", "m2"]);
}

#[test]
fn at_most_sixty_and_the_best_stay() {
    let mut session = SessionScript::new();
    for number in 0..100 {
        session = session.user(&format!("Idea: build exporter number {number} for partners.")).agent("Ok.");
    }
    session = session.user("Never push to main.").agent("Ok.");
    let findings = session.findings();
    assert_eq!(findings.len(), rules::MAX_FINDINGS);
    assert_eq!(findings.last().unwrap().kind, FindingKind::Rule);
}

#[test]
fn obs_06_questions_that_nobody_answered() {
    let open = SessionScript::new()
        .user("look at the cache please")
        .agent("I did.")
        .user("Why is the second lookup slower?");
    assert_eq!(open.told(), ["Question: Why is the second lookup slower?"]);
    assert_eq!(open.findings()[0].priority, Priority::Low);
    assert_eq!(open.agent("Because it misses.").told(), Vec::<String>::new());
    let request = SessionScript::new().user("Can you look at the cache?");
    assert_eq!(request.told(), Vec::<String>::new());
    let rephrased = SessionScript::new()
        .user("Why is the second lookup slower?")
        .user("look at the cache first")
        .agent("I did.");
    assert_eq!(rephrased.told(), Vec::<String>::new());
}

#[test]
fn a_choice_is_stored_with_its_options() {
    let offer = "Two ways:\n\n1. **Lock the table** while the job runs\n2. Use an advisory lock per tenant\n\nWhich one?";
    let session = SessionScript::new()
        .user("the jobs collide at night")
        .agent(offer)
        .user("let's go with option 2")
        .agent("Ok.");
    let finding = session.findings().remove(0);
    assert_eq!(finding.kind, FindingKind::Decision);
    assert_eq!(finding.origin, crate::base::provenance::Origin::Agent);
    assert_eq!(
        finding.text,
        "Chosen: “let's go with option 2”. The agent had offered: “2. Use an advisory lock per tenant”"
    );
    assert_eq!(finding.messages, ["m1", "m2"]);
    let nothing = SessionScript::new()
        .user("the jobs collide at night")
        .agent("I see.")
        .user("let's go with option 2")
        .agent("Ok.");
    assert_eq!(nothing.told(), Vec::<String>::new());
}
