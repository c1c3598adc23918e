use super::*;
use crate::llm::{DataEgress, data_egress};

#[track_caller]
fn refused(of: &[(&str, &str)], variables: &[(&str, &str)]) -> String {
    let error =
        model(&settings(of), ModelJob::Observer, &around(Path::new("/nowhere"), variables)).err().unwrap();
    assert_eq!((error.fault, error.retry), (FailureOwner::Person, RetryAdvice::Never));
    error.message
}

#[test]
fn r_03_no_model_is_called_by_default() {
    let offline = settings(&[]);
    for job in ModelJob::ALL {
        assert!(
            model(&offline, job, &around(Path::new("/nowhere"), &[("ANTHROPIC_API_KEY", KEY)]))
                .unwrap()
                .is_none()
        );
    }
    assert_eq!(data_egress(&offline), DataEgress::Nothing);
}

#[test]
fn sec_04_a_key_comes_from_the_environment_only() {
    let anthropic = [("llm.provider", "anthropic")];
    assert_eq!(refused(&anthropic, &[]), "no API key: set ANTHROPIC_API_KEY in the environment");
    assert_eq!(
        refused(&anthropic, &[("ANTHROPIC_API_KEY", "")]),
        "no API key: set ANTHROPIC_API_KEY in the environment"
    );
    assert_eq!(
        refused(&anthropic, &[("ANTHROPIC_API_KEY", "two words")]),
        "the value of ANTHROPIC_API_KEY is not a key"
    );
    let openai =
        [("llm.provider", "openai"), ("llm.observer_model", "openai/x"), ("llm.openai.key_variable", "MINE")];
    assert_eq!(refused(&openai, &[("OPENAI_API_KEY", KEY)]), "no API key: set MINE in the environment");
    assert!(
        model(&settings(&openai), ModelJob::Observer, &around(Path::new("/"), &[("MINE", KEY)]))
            .unwrap()
            .is_some()
    );
    // A self-hosted server may need no key.
    let own = [
        ("llm.provider", "openai"),
        ("llm.observer_model", "ollama/x"),
        ("llm.openai.url", "http://127.0.0.1:1/v1"),
    ];
    assert!(model(&settings(&own), ModelJob::Observer, &around(Path::new("/"), &[])).unwrap().is_some());
}

#[test]
fn sec_02_traffic_beyond_the_private_network_is_encrypted() {
    let far = [
        ("llm.provider", "openai"),
        ("llm.observer_model", "openai/x"),
        ("llm.openai.url", "http://llm.example/v1"),
    ];
    let message = refused(&far, &[("OPENAI_API_KEY", KEY)]);
    assert!(message.contains("llm.example without encryption; use https://"), "{message}");
    let far = [("llm.provider", "anthropic"), ("llm.anthropic.url", "http://8.8.8.8")];
    assert!(refused(&far, &[("ANTHROPIC_API_KEY", KEY)]).contains("without encryption"));
}

#[test]
fn obs_01_a_model_of_another_provider_is_refused_with_a_hint() {
    let key = [("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY)];
    let message =
        refused(&[("llm.provider", "anthropic"), ("llm.observer_model", "openai/gpt-5-mini")], &key);
    assert!(message.starts_with(
        "llm.observer_model is openai/gpt-5-mini, which is not a model of anthropic; set it to"
    ));
    // The default model is Anthropic's.
    assert!(refused(&[("llm.provider", "openai")], &key).contains("set it to openai/NAME"));
    let message = refused(&[("llm.provider", "command")], &[]);
    assert!(message.contains("llm.command.program is empty"), "{message}");
    let message = refused(
        &[("llm.provider", "command"), ("llm.command.program", "no-such-program")],
        &[("PATH", "/bin")],
    );
    assert!(message.contains("is neither a program on the PATH"), "{message}");
    let message =
        refused(&[("llm.provider", "command"), ("llm.command.program", "./claude")], &[("PATH", "/bin")]);
    assert!(message.contains("nor the full path"), "{message}");
}

#[test]
fn sec_02_the_destination_of_data_is_shown() {
    let to = |of: &[(&str, &str)]| data_egress(&settings(of));
    assert_eq!(to(&[("llm.provider", "anthropic")]), DataEgress::Server { host: "api.anthropic.com".into() });
    let own = [("llm.provider", "openai"), ("llm.openai.url", "http://192.168.1.2:8000/v1")];
    assert_eq!(to(&own), DataEgress::House { host: "192.168.1.2".into() });
    let DataEgress::Program { program, to } =
        to(&[("llm.provider", "command"), ("llm.command.program", "codex")])
    else {
        panic!("a program");
    };
    assert_eq!((program.as_str(), to), ("codex", "OpenAI, or the provider it is set up for"));
}
