//! `rekindle cost --memory`: the cost of memory in the context of agents.

use std::collections::BTreeMap;

use rekindle_core::base::time::{Date, day};
use rekindle_core::config::LlmProvider;
use rekindle_core::llm::TokenUsage;
use rekindle_core::recall::metrics::percentile;
use rekindle_engine::context::injection_stats::{self, SessionInjectionStats};
use rekindle_engine::llm::{PRICES_DATE, list_price};
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::error::CliError;

/// Shows the injected tokens by day, with their cost.
pub(super) fn show_memory_cost(
    context: &CommandContext<'_>,
    days: u32,
    model: Option<&str>,
    as_json: bool,
) -> Result<(), CliError> {
    let llm = &context.settings.config.llm;
    let configured = (llm.provider != LlmProvider::Offline).then(|| llm.reflector_model.as_str());
    let model = model.or(configured);
    let price = model.and_then(list_price);
    let logs = context.places.logs_folder();
    let all = injection_stats::sessions(&logs, days, &context.now)
        .map_err(|error| CliError::new(format!("{} cannot be read: {error}", logs.display())))?;
    let mut by_day: BTreeMap<Date, Vec<&SessionInjectionStats>> = BTreeMap::new();
    all.iter().for_each(|given| by_day.entry(given.day).or_default().push(given));
    let tokens: Vec<f64> = all.iter().map(|given| given.tokens as f64).collect();
    let sum: u64 = all.iter().map(|given| given.tokens).sum();
    let mean = sum as f64 / (tokens.len().max(1)) as f64;
    let high = if tokens.is_empty() { 0.0 } else { percentile(&tokens, 0.95) };
    let cost =
        |tokens: f64| price.map(|price| price.cost_of(TokenUsage { input: tokens.ceil() as u64, output: 0 }));
    if as_json {
        let days: Vec<Value> = by_day.iter().rev().map(|(date, given)| object(*date, given)).collect();
        let dollars = |tokens: f64| cost(tokens).map(|cost| cost.micro_dollars as f64 / 1e6);
        return context.out.json(&json!({
            "days": days,
            "sessions": all.len(),
            "tokens": sum,
            "perSession": {"mean": mean.round(), "p95": high.round()},
            "model": model,
            "dollarsPerSession": {"mean": dollars(mean), "p95": dollars(high)},
            "pricesAsOf": price.map(|_| PRICES_DATE),
        }));
    }
    for (date, given) in by_day.iter().rev() {
        let (tokens, blocks) = sums(given);
        context.out.line(format!(
            "{}  {:>4} sessions  {tokens:>8} tokens in {blocks:>4} blocks",
            day(*date),
            given.len()
        ))?;
    }
    if all.is_empty() {
        context.out.line("No agent has called Rekindle in this period.")?;
        return Ok(());
    }
    context.out.line(format!(
        "Tokens injected per session: {mean:.0} on average, {high:.0} at the 95th percentile."
    ))?;
    match (model, cost(mean), cost(high)) {
        (Some(model), Some(mean), Some(high)) => context.out.note(format!(
            "Read once by {model}, that costs {mean} per session, {high} at the 95th percentile (list price of {PRICES_DATE}, without caching)."
        )),
        (Some(model), ..) => context.out.note(format!("The price of {model} is unknown.")),
        (None, ..) => context.out.note("To see the cost, add `--model PROVIDER/MODEL`."),
    }
    Ok(())
}

fn sums(given: &[&SessionInjectionStats]) -> (u64, u64) {
    (given.iter().map(|one| one.tokens).sum(), given.iter().map(|one| one.blocks).sum())
}

fn object(date: Date, given: &[&SessionInjectionStats]) -> Value {
    let (tokens, blocks) = sums(given);
    let mut agents: BTreeMap<&str, u64> = BTreeMap::new();
    given.iter().for_each(|one| *agents.entry(one.agent.as_str()).or_default() += one.tokens);
    json!({"day": day(date), "sessions": given.len(), "tokens": tokens, "blocks": blocks, "byAgent": agents})
}
