//! `rekindle cost`

mod memory;

use clap::Args;
use rekindle_core::time::day;
use rekindle_engine::cost::{Caps, Spent, spent};
use rekindle_engine::db::Db;
use serde_json::{Value, json};

use crate::compose::Context;
use crate::error::Failure;
use crate::output::column;

/// Show what language models used, and what they may use in a day
#[derive(Args)]
#[command(after_help = "\
The limits are llm.daily_tokens and llm.daily_dollars; 0 is no limit. What goes beyond waits for the next day.

With --memory: how many tokens hooks put in front of your agents, by day and session, by our own estimate. They are
counted once; what an agent reads again on every turn is mostly cached.

Examples:
  rekindle cost
  rekindle cost --memory --model anthropic/claude-opus-5-5
  rekindle cost --days 30 --json
  rekindle config set llm.daily_dollars 0.5")]
pub(crate) struct Cost {
    /// How many days back
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=366))]
    days: u32,
    /// What memory costs your agents instead
    #[arg(long)]
    memory: bool,
    /// Whose price to go by, instead of llm.reflector_model
    #[arg(long, value_name = "PROVIDER/MODEL", requires = "memory")]
    model: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Cost {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        if self.memory {
            return memory::show(context, self.days, self.model.as_deref(), self.json);
        }
        let caps = Caps::of(&context.settings.config.llm);
        let all = match Db::open_existing(&context.places.database())? {
            Some(db) => spent(&db, self.days, &context.now)?,
            None => Vec::new(),
        };
        if self.json {
            return context.out.json(&json!({
                "spent": all.iter().map(object).collect::<Vec<Value>>(),
                "daily": {
                    "tokens": caps.tokens,
                    "dollars": caps.cost.map(|cost| cost.micro_dollars as f64 / 1e6),
                },
            }));
        }
        for one in &all {
            let unpriced = match one.unpriced {
                0 => String::new(),
                calls => format!("  ({calls} of unknown price)"),
            };
            context.out.line(format!(
                "{}  {}  {:>5} calls  {:>9} tokens in  {:>8} out  {}{unpriced}",
                day(one.day),
                column(&one.model, 32),
                one.calls,
                one.usage.input,
                one.usage.output,
                one.cost
            ))?;
        }
        if all.is_empty() {
            context.out.line("No language model was asked.")?;
        }
        let tokens = caps.tokens.map_or("any number of tokens".to_owned(), |most| format!("{most} tokens"));
        let money = caps.cost.map_or("any amount".to_owned(), |most| most.to_string());
        context.out.note(format!("Allowed in a day: {tokens}, {money}."));
        Ok(())
    }
}

fn object(spent: &Spent) -> Value {
    json!({
        "day": day(spent.day),
        "model": spent.model,
        "calls": spent.calls,
        "inputTokens": spent.usage.input,
        "outputTokens": spent.usage.output,
        "dollars": spent.cost.micro_dollars as f64 / 1e6,
        "unpriced": spent.unpriced,
    })
}
