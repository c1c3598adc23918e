//! `rekindle cost`: shows the usage and limits of language models.

mod memory;

use clap::Args;
use rekindle_core::base::time::day;
use rekindle_core::config::{LlmProvider, LlmSettings as Settings};
use rekindle_core::llm::Cost as Money;
use rekindle_engine::llm::cost::{DailyLimit, DailyUsage, SpendingCaps, usage_by_day, used_tokens_and_cost};
use rekindle_engine::platform::db::Database;
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::pad_column;

#[derive(Args)]
#[command(after_help = "\
Each provider has its own limits (llm.command.daily_tokens, llm.anthropic.daily_dollars and so on), and
llm.daily_tokens and llm.daily_dollars apply to all together; 0 is no limit. Beyond them, rules take over until the
next day.

With --memory: the estimated number of tokens that hooks injected into your agents' sessions, by day and session. Each
injection counts once, because what an agent rereads on every turn is mostly cached.

Examples:
  rekindle cost
  rekindle cost --memory --model anthropic/claude-opus-5-5
  rekindle cost --days 30 --json
  rekindle config set llm.anthropic.daily_dollars 0.5")]
pub(crate) struct CostArgs {
    /// Go back this many days
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=366))]
    days: u32,
    /// Show what memory costs your agents
    #[arg(long)]
    memory: bool,
    /// Calculate with the price of this model, instead of llm.reflector_model
    #[arg(long, value_name = "PROVIDER/MODEL", requires = "memory")]
    model: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl CostArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.memory {
            return memory::show_memory_cost(context, self.days, self.model.as_deref(), self.json);
        }
        let settings = &context.settings.config.llm;
        let db = Database::open_existing(&context.places.database())?;
        let spent =
            |days| db.as_ref().map_or_else(|| Ok(Vec::new()), |db| usage_by_day(db, days, &context.now));
        let (all, today) = (spent(self.days)?, spent(1)?);
        let asked = LlmProvider::ALL.into_iter().filter(|provider| *provider != LlmProvider::Offline);
        let shares: Vec<ProviderShare> =
            asked.map(|provider| ProviderShare::new(provider, settings, &today)).collect();
        if self.json {
            let total = SpendingCaps::from_settings(settings, settings.provider).total;
            return context.out.json(&json!({
                "spent": all.iter().map(object).collect::<Vec<Value>>(),
                "daily": limit(total),
                "providers": shares.iter().map(ProviderShare::json).collect::<serde_json::Map<_, _>>(),
            }));
        }
        for one in &all {
            let unpriced = match one.unpriced {
                0 => String::new(),
                calls => format!("  ({calls} with unknown price)"),
            };
            context.out.line(format!(
                "{}  {}  {}  {:>5} calls  {:>9} tokens in  {:>8} out  {}{unpriced}",
                day(one.day),
                pad_column(if one.provider.is_empty() { "-" } else { &one.provider }, 9),
                pad_column(&one.model, 32),
                one.calls,
                one.usage.input,
                one.usage.output,
                one.cost
            ))?;
        }
        if all.is_empty() {
            context.out.line("No model calls.")?;
        }
        for share in &shares {
            let (tokens, cost) = share.used;
            let allowed = allowed(share.caps.provider_limit);
            let word = share.caps.provider.as_str();
            context.out.note(format!("{word}: {tokens} tokens and {cost} today; daily limit: {allowed}."));
        }
        let total = SpendingCaps::from_settings(settings, settings.provider).total;
        context.out.note(format!("Daily limit for all providers: {}.", allowed(total)));
        for why in shares.iter().filter_map(|share| share.exhausted.as_ref()) {
            context.out.warn(format!("{why}; rules take over until tomorrow"));
        }
        Ok(())
    }
}

/// The usage of a provider today, and its limits.
struct ProviderShare {
    caps: SpendingCaps,
    used: (u64, Money),
    exhausted: Option<String>,
}

impl ProviderShare {
    fn new(provider: LlmProvider, settings: &Settings, today: &[DailyUsage]) -> Self {
        let caps = SpendingCaps::from_settings(settings, provider);
        let used = used_tokens_and_cost(today, Some(provider.as_str()));
        // An exhausted quota matters only for the provider in use, or one that was used today.
        let matters = provider == settings.provider || used.0 > 0;
        Self { caps, used, exhausted: caps.exhausted_reason(today).filter(|_| matters) }
    }

    fn json(&self) -> (String, Value) {
        let (tokens, cost) = self.used;
        let object = json!({
            "today": {"tokens": tokens, "dollars": dollars(cost)},
            "daily": limit(self.caps.provider_limit),
            "exhausted": self.exhausted,
        });
        (self.caps.provider.as_str().to_owned(), object)
    }
}

fn dollars(cost: Money) -> f64 {
    cost.micro_dollars as f64 / 1e6
}

fn limit(limit: DailyLimit) -> Value {
    json!({"tokens": limit.tokens, "dollars": limit.cost.map(dollars)})
}

fn allowed(limit: DailyLimit) -> String {
    let tokens = limit.tokens.map_or("unlimited tokens".to_owned(), |most| format!("{most} tokens"));
    let money = limit.cost.map_or("unlimited cost".to_owned(), |most| most.to_string());
    format!("{tokens}, {money}")
}

fn object(spent: &DailyUsage) -> Value {
    json!({
        "day": day(spent.day),
        "provider": spent.provider,
        "model": spent.model,
        "calls": spent.calls,
        "inputTokens": spent.usage.input,
        "outputTokens": spent.usage.output,
        "dollars": dollars(spent.cost),
        "unpriced": spent.unpriced,
    })
}
