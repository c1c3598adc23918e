//! OTLP messages: an event as a log record, the end of a stage as a span, and the ends of a batch as metrics.
//!
//! A trace is a session, so the hooks, runs and steps of one session stand together. Ids are derived from the
//! event's own, and a batch that is sent twice is recognised.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Timestamp;
use rekindle_core::telemetry::{EventLevel, EventPhase, TelemetryEvent};

/// The upper bounds in milliseconds of the buckets of durations.
const DURATION_BOUNDS_MS: [f64; 10] =
    [1.0, 5.0, 20.0, 50.0, 100.0, 300.0, 1_000.0, 10_000.0, 60_000.0, 600_000.0];

/// Makes the log records of a batch.
pub(super) fn logs(events: &[TelemetryEvent]) -> ExportLogsServiceRequest {
    let log_records = events.iter().map(log_record).collect();
    let scope_logs = vec![ScopeLogs { scope: Some(scope()), log_records, ..Default::default() }];
    ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs { resource: Some(resource()), scope_logs, ..Default::default() }],
    }
}

/// Makes the spans of a batch: one for each end of a stage and each step of known duration.
pub(super) fn spans(events: &[TelemetryEvent]) -> ExportTraceServiceRequest {
    let spans = events.iter().filter_map(span).collect();
    let scope_spans = vec![ScopeSpans { scope: Some(scope()), spans, ..Default::default() }];
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans { resource: Some(resource()), scope_spans, ..Default::default() }],
    }
}

/// Makes the metrics of a batch: how often each stage ended in which way, and how long it took. Each batch counts
/// only its own events (delta temporality).
pub(super) fn metrics(events: &[TelemetryEvent]) -> ExportMetricsServiceRequest {
    let mut ends: BTreeMap<(&str, &str), StageEnds> = BTreeMap::new();
    for event in events.iter().filter(|event| outcome(event).is_some()) {
        ends.entry((&event.stage, outcome(event).unwrap_or_default())).or_default().add(event);
    }
    let times = events.iter().map(|event| event.at);
    let (first, last) = (times.clone().min().map_or(0, nanoseconds), times.max().map_or(0, nanoseconds));
    let labels = |stage: &str, outcome: &str| vec![text("stage", stage), text("outcome", outcome)];
    let counted = ends.iter().map(|((stage, outcome), ends)| NumberDataPoint {
        attributes: labels(stage, outcome),
        start_time_unix_nano: first,
        time_unix_nano: last,
        value: Some(number_data_point::Value::AsInt(i64::try_from(ends.count).unwrap_or(i64::MAX))),
        ..Default::default()
    });
    let timed = ends.iter().filter(|(_, ends)| ends.timed > 0);
    let timed = timed.map(|((stage, outcome), ends)| HistogramDataPoint {
        attributes: labels(stage, outcome),
        start_time_unix_nano: first,
        time_unix_nano: last,
        count: ends.timed,
        sum: Some(ends.sum_ms),
        bucket_counts: ends.buckets.to_vec(),
        explicit_bounds: DURATION_BOUNDS_MS.to_vec(),
        ..Default::default()
    });
    let delta = AggregationTemporality::Delta.into();
    let runs = Sum { data_points: counted.collect(), aggregation_temporality: delta, is_monotonic: true };
    let durations = Histogram { data_points: timed.collect(), aggregation_temporality: delta };
    let metric = |name: &str, description: &str, unit: &str, data| Metric {
        name: name.to_owned(),
        description: description.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Default::default()
    };
    let metrics = vec![
        metric("rekindle.stage.ends", "Ends of a stage", "{end}", Data::Sum(runs)),
        metric("rekindle.stage.duration", "Duration of a stage", "ms", Data::Histogram(durations)),
    ];
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics, ..Default::default() }];
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource()),
            scope_metrics,
            ..Default::default()
        }],
    }
}

/// The ends of one stage in one way.
#[derive(Default)]
struct StageEnds {
    count: u64,
    timed: u64,
    sum_ms: f64,
    buckets: [u64; DURATION_BOUNDS_MS.len() + 1],
}

impl StageEnds {
    fn add(&mut self, event: &TelemetryEvent) {
        self.count += 1;
        let Some(took) = event.duration_ms else { return };
        self.timed += 1;
        self.sum_ms += took;
        let bucket = DURATION_BOUNDS_MS.iter().position(|bound| took <= *bound);
        if let Some(count) = self.buckets.get_mut(bucket.unwrap_or(DURATION_BOUNDS_MS.len())) {
            *count += 1;
        }
    }
}

/// The way in which a stage ended.
fn outcome(event: &TelemetryEvent) -> Option<&'static str> {
    match event.phase {
        EventPhase::Completed if event.skipped => Some("skipped"),
        EventPhase::Completed => Some("completed"),
        EventPhase::Failed => Some("failed"),
        EventPhase::Started | EventPhase::Step => None,
    }
}

fn resource() -> Resource {
    let version = text("service.version", env!("CARGO_PKG_VERSION"));
    Resource { attributes: vec![text("service.name", "rekindle"), version], ..Default::default() }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope { name: "rekindle.stages".to_owned(), ..Default::default() }
}

fn log_record(event: &TelemetryEvent) -> LogRecord {
    LogRecord {
        time_unix_nano: nanoseconds(event.at),
        observed_time_unix_nano: nanoseconds(event.at),
        severity_number: severity(event.level).into(),
        severity_text: event.level.as_str().to_uppercase(),
        body: Some(AnyValue { value: Some(Value::StringValue(event.name())) }),
        attributes: attributes(event),
        trace_id: trace_id(event),
        span_id: span_id(event),
        event_name: event.name(),
        ..Default::default()
    }
}

fn severity(level: EventLevel) -> SeverityNumber {
    match level {
        EventLevel::Debug => SeverityNumber::Debug,
        EventLevel::Info => SeverityNumber::Info,
        EventLevel::Warn => SeverityNumber::Warn,
        EventLevel::Error => SeverityNumber::Error,
        EventLevel::Fatal => SeverityNumber::Fatal,
    }
}

fn span(event: &TelemetryEvent) -> Option<Span> {
    let took = event.duration_ms.filter(|_| event.phase != EventPhase::Started)?;
    let end = nanoseconds(event.at);
    let is_step = event.phase == EventPhase::Step;
    let code = match event.phase {
        EventPhase::Failed => StatusCode::Error,
        EventPhase::Completed => StatusCode::Ok,
        EventPhase::Started | EventPhase::Step => StatusCode::Unset,
    };
    let message = event.error.map_or_else(String::new, |error| error.as_str().to_owned());
    let name = match &event.step {
        Some(step) if is_step => format!("{} {step}", event.stage),
        _ => event.stage.clone(),
    };
    Some(Span {
        trace_id: trace_id(event),
        span_id: span_id(event),
        parent_span_id: if is_step { run_span_id(event).unwrap_or_default() } else { Vec::new() },
        name,
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: end.saturating_sub((took * 1e6) as u64),
        end_time_unix_nano: end,
        attributes: attributes(event),
        status: Some(Status { message, code: code.into() }),
        ..Default::default()
    })
}

/// The id of the trace: the session's, else the run's, else the event's own.
fn trace_id(event: &TelemetryEvent) -> Vec<u8> {
    let whole = event.session_id.as_ref().or(event.run_id.as_ref()).unwrap_or(&event.id);
    derived_id("trace", whole, 0, 16)
}

fn span_id(event: &TelemetryEvent) -> Vec<u8> {
    let of_run = run_span_id(event).filter(|_| event.phase != EventPhase::Step);
    of_run.unwrap_or_else(|| derived_id("span", &event.id, 0, 8))
}

/// The id of the span of a run's attempt, which its steps name as their parent.
fn run_span_id(event: &TelemetryEvent) -> Option<Vec<u8>> {
    Some(derived_id("run", event.run_id.as_ref()?, event.attempt.unwrap_or(1), 8))
}

fn derived_id(kind: &str, id: &str, attempt: u32, bytes: usize) -> Vec<u8> {
    let hash = ContentHash::of_parts(&[kind.as_bytes(), id.as_bytes(), &attempt.to_le_bytes()]);
    hash.bytes().into_iter().take(bytes).collect()
}

fn attributes(event: &TelemetryEvent) -> Vec<KeyValue> {
    let ids = [
        ("rekindle.event_id", Some(&event.id)),
        ("session.id", event.session_id.as_ref()),
        ("rekindle.run_id", event.run_id.as_ref()),
        ("rekindle.handled_event_id", event.event_id.as_ref()),
        ("rekindle.dedupe_key", event.dedupe_key.as_ref()),
        ("rekindle.proposal_id", event.proposal_id.as_ref()),
        ("rekindle.step", event.step.as_ref()),
    ];
    let mut attributes: Vec<KeyValue> =
        ids.into_iter().filter_map(|(key, id)| Some(text(key, id?))).collect();
    let numbers = [
        ("rekindle.observation_count", event.observation_count),
        ("rekindle.proposal_count", event.proposal_count),
        ("rekindle.retry_level", event.retry_level),
        ("rekindle.attempt", event.attempt.map(u64::from)),
    ];
    let numbers = numbers.into_iter().filter_map(|(key, number)| Some((key, number?)));
    attributes.extend(
        numbers
            .map(|(key, number)| attribute(key, Value::IntValue(i64::try_from(number).unwrap_or(i64::MAX)))),
    );
    attributes
        .extend(event.duration_ms.map(|took| attribute("rekindle.duration_ms", Value::DoubleValue(took))));
    attributes.extend(event.error.map(|error| text("error.type", error.as_str())));
    attributes
        .extend(event.will_retry.map(|retry| attribute("rekindle.will_retry", Value::BoolValue(retry))));
    attributes.extend(event.skipped.then(|| attribute("rekindle.skipped", Value::BoolValue(true))));
    let counts = event.counts.iter();
    attributes.extend(
        counts.map(|(name, count)| attribute(&format!("rekindle.count.{name}"), Value::DoubleValue(*count))),
    );
    attributes
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..Default::default() }
}

fn nanoseconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str, phase: EventPhase, took: Option<f64>) -> TelemetryEvent {
        let at = Timestamp::from_second(1_000).unwrap();
        let mut event = TelemetryEvent::new(id.to_owned(), at, "observe", phase, EventLevel::Info);
        (event.duration_ms, event.session_id) = (took, Some("s".to_owned()));
        event.run_id = Some("r".to_owned());
        event
    }

    /// O11-01: a run is a span from its start to its end, and its steps are its children in the session's trace.
    #[test]
    fn o11_01_a_run_is_a_span_and_its_steps_are_its_children() {
        let step =
            TelemetryEvent { step: Some("read".to_owned()), ..event("a", EventPhase::Step, Some(10.0)) };
        let events =
            [event("b", EventPhase::Started, None), step, event("c", EventPhase::Failed, Some(250.0))];
        let mut request = spans(&events);
        let spans = request.resource_spans.remove(0).scope_spans.remove(0).spans;
        let [step, run] = spans.as_slice() else { panic!("{spans:?}") };
        assert_eq!((run.name.as_str(), step.name.as_str()), ("observe", "observe read"));
        assert_eq!(run.end_time_unix_nano - run.start_time_unix_nano, 250_000_000);
        assert_eq!((&step.parent_span_id, &step.trace_id), (&run.span_id, &run.trace_id));
        assert_eq!((run.trace_id.len(), run.span_id.len()), (16, 8));
        assert_eq!(run.status.as_ref().unwrap().code, i32::from(StatusCode::Error));
        // The log record of the failure stands in the span.
        let record = log_record(&events[2]);
        assert_eq!((record.span_id, record.event_name.as_str()), (run.span_id.clone(), "observe.failed"));
    }

    /// O11-01: a batch counts each end once, and each duration is in one bucket.
    #[test]
    fn o11_01_the_metrics_of_a_batch_count_its_own_events() {
        let events = [
            event("a", EventPhase::Started, None),
            event("b", EventPhase::Completed, Some(3.0)),
            event("c", EventPhase::Completed, Some(1e9)),
            event("d", EventPhase::Failed, None),
        ];
        let mut request = metrics(&events);
        let metrics = request.resource_metrics.remove(0).scope_metrics.remove(0).metrics;
        let Some(Data::Sum(ends)) = &metrics[0].data else { panic!("{metrics:?}") };
        let counts: Vec<_> = ends.data_points.iter().map(|point| point.value).collect();
        let number = |count| Some(number_data_point::Value::AsInt(count));
        assert_eq!(counts, [number(2), number(1)]);
        let Some(Data::Histogram(durations)) = &metrics[1].data else { panic!("{metrics:?}") };
        let [point] = durations.data_points.as_slice() else { panic!("{durations:?}") };
        assert_eq!((point.count, point.sum), (2, Some(1e9 + 3.0)));
        assert_eq!(point.bucket_counts, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }
}
