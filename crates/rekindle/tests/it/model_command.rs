//! The built-in model, through the binary (R-04, VER-13).

use crate::sandbox;

#[test]
fn r_04_sto_10_the_model_is_in_the_binary_and_needs_nothing() {
    let sandbox = rekindle_testkit::Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let listed = sandbox.rekindle(&["model", "list", "--json"]).run().ok().json();
    assert_eq!((listed[0]["dimension"].as_u64(), listed[0]["builtin"].as_bool()), (Some(384), Some(true)));
    assert!(!sandbox.home().exists());
}

#[test]
fn ver_13_related_texts_are_alike_and_others_are_not() {
    let sandbox = sandbox();
    let alike = |one: &str, other: &str| {
        let said = sandbox.rekindle(&["model", "compare", one, other, "--json"]).run().ok().json();
        said["cosine"].as_f64().unwrap()
    };
    let question = "which port does the staging database use";
    let related = alike(question, "Postgres on the test host listens on 5433.");
    let unrelated = alike(question, "Grandmother's apple cake needs cinnamon.");
    assert!(related > 0.3 && unrelated < 0.15, "{related} {unrelated}");
    assert!((alike(question, question) - 1.0).abs() < 1e-3);
    sandbox.rekindle(&["model", "compare", " ", "x"]).run().fails(2);
}
