//! The addresses, and the guard before them.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

use super::access::{Refusal, check_source};
use super::layout::{self, FrameFacts, PageSection};
use super::request::{PageAnswer, PageContent, PageRequest, RequestFields};
use super::server::PageServer;
use super::{
    assets, inbox, insight, memory, patches, review as queue, search, sessions, setting, settings, today,
    undo,
};
use crate::app::changes::change_stamp;
use crate::app::{CommandContext, review, status};
use crate::error::CliError;
use crate::output::Printer;

/// The largest body of a request: a memory of a megabyte, encoded.
pub(super) const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024;

/// Headers of every answer. No script, style, image or frame comes from anywhere else, and nothing is kept.
fn security_headers() -> [(HeaderName, HeaderValue); 8] {
    let named = HeaderName::from_static;
    [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers would send `Origin: null` with our own forms.
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (named("cross-origin-opener-policy"), "same-origin"),
        (named("cross-origin-resource-policy"), "same-origin"),
        (named("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}

const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Read,
    Change,
}

impl Purpose {
    /// The status of a request that names something wrong.
    fn usage_status(self) -> StatusCode {
        match self {
            Self::Read => StatusCode::NOT_FOUND,
            Self::Change => StatusCode::BAD_REQUEST,
        }
    }
}

/// Answers one request on a blocking thread.
type PageHandler = fn(&PageRequest<'_>) -> Result<PageAnswer, CliError>;

/// All addresses of the page, below its random path. They are one level deep, so that links need no path.
pub(super) fn router(server: Arc<PageServer>) -> Router {
    let routes = [
        ("", get(enter)),
        ("style.css", get(assets::style)),
        ("page.js", get(assets::script)),
        ("icon.svg", get(assets::icon)),
        ("alive", get(alive)),
        ("today", page(today::show)),
        ("search", page(search::show)),
        ("memory", page(memory::show)),
        ("edit", action(page(memory::edit_form), memory::save)),
        ("scope", action(MethodRouter::new(), memory::set_scope)),
        ("forget", action(page(memory::forget_form), memory::forget)),
        ("review", page(queue::show)),
        ("decide", action(MethodRouter::new(), queue::decide)),
        ("sessions", page(sessions::show)),
        ("session", page(sessions::session)),
        ("runs", page(sessions::all_runs)),
        ("insight", page(insight::show)),
        ("settings", page(settings::show)),
        ("setting", action(page(setting::show), setting::save)),
        ("probe", action(MethodRouter::new(), settings::probe)),
        ("inbox", action(MethodRouter::new(), inbox::decide)),
        ("patch", action(MethodRouter::new(), patches::decide)),
        ("undo", action(MethodRouter::new(), undo::undo)),
    ];
    let path = &server.keys().path;
    let router = routes
        .into_iter()
        .fold(Router::new(), |router, (name, route)| router.route(&format!("/{path}/{name}"), route));
    router
        .fallback(|| async { (StatusCode::NOT_FOUND, "Nothing is here.\n") })
        .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), guard))
        .with_state(server)
}

/// A page that is only read.
fn page(show: PageHandler) -> MethodRouter<Arc<PageServer>> {
    get(move |State(server): State<Arc<PageServer>>, uri: Uri| async move {
        respond(server, fields_of(&uri), Purpose::Read, show).await
    })
}

/// A change, which a form of ours asks for.
fn action(page: MethodRouter<Arc<PageServer>>, change: PageHandler) -> MethodRouter<Arc<PageServer>> {
    page.post(
        move |State(server): State<Arc<PageServer>>,
              form: Result<Form<Vec<(String, String)>>, FormRejection>| async move {
            let fields = match form {
                Ok(Form(fields)) => RequestFields(fields),
                Err(rejection) => {
                    return (rejection.status(), "This form cannot be read, so nothing was done.\n")
                        .into_response();
                }
            };
            if !server.keys().is_form_key(fields.raw("key").unwrap_or_default()) {
                return refuse(Refusal::WrongOrigin);
            }
            if server.read_only {
                let failure = CliError::usage("this page is read-only, so nothing was changed")
                    .hint("end it with Ctrl-C, and start `rekindle web` without --read-only");
                return fail(&server, &FrameFacts::default(), &failure, StatusCode::FORBIDDEN);
            }
            respond(server, fields, Purpose::Change, change).await
        },
    )
}

/// The fields behind the question mark of an address. Unreadable ones are none.
fn fields_of(uri: &Uri) -> RequestFields {
    Query::try_from_uri(uri).map_or_else(|_| RequestFields::default(), |Query(fields)| RequestFields(fields))
}

/// Checks every request before anything else of it is read, and adds the headers to every answer.
async fn guard(State(server): State<Arc<PageServer>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&server, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(refusal),
    };
    response.headers_mut().extend(security_headers());
    response
}

fn admit(server: &PageServer, request: &Request) -> Result<(), Refusal> {
    check_source(request.method(), request.headers(), &server.host)?;
    let path = request.uri().path();
    let inside = path.strip_prefix('/').and_then(|rest| rest.strip_prefix(server.keys().path.as_str()));
    let is_open = match inside {
        // An address outside is not found, whoever asks.
        None => true,
        Some(page) => matches!(page, "/" | "/style.css" | "/icon.svg"),
    };
    if is_open {
        return Ok(());
    }
    if !server.keys().has_cookie(request.headers()) {
        return Err(Refusal::NoKey);
    }
    server.note_request();
    Ok(())
}

fn refuse(refusal: Refusal) -> Response {
    match refusal {
        Refusal::WrongHost => {
            (StatusCode::MISDIRECTED_REQUEST, "This address is not the page's own.\n").into_response()
        }
        Refusal::WrongOrigin => {
            (StatusCode::FORBIDDEN, "This request comes from another site, so nothing was done.\n")
                .into_response()
        }
        Refusal::NoKey => (StatusCode::UNAUTHORIZED, layout::locked()).into_response(),
    }
}

/// Opens the page with a token or a ticket. The answer is a page and no redirect: after a redirect from another
/// program, browsers keep a strict cookie to themselves.
async fn enter(State(server): State<Arc<PageServer>>, method: Method, uri: Uri) -> Response {
    let fields = fields_of(&uri);
    let is_known = fields.raw("token").is_some_and(|token| server.keys().is_token(token))
        || (method == Method::GET && fields.raw("ticket").is_some_and(|ticket| server.use_ticket(ticket)));
    if !is_known {
        return refuse(Refusal::NoKey);
    }
    server.note_request();
    ([(header::SET_COOKIE, server.keys().cookie_header())], layout::entrance()).into_response()
}

/// Tells an open page if anything has changed.
async fn alive(State(server): State<Arc<PageServer>>) -> Response {
    let stamp = blocking(server, RequestFields::default(), Purpose::Read, |request| {
        Ok(change_stamp(request.context))
    });
    match stamp.await {
        Ok(stamp) => stamp.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn respond(
    server: Arc<PageServer>,
    fields: RequestFields,
    purpose: Purpose,
    handler: PageHandler,
) -> Response {
    let (frame, notice) = (Arc::clone(&server), fields.get("notice").and_then(|number| number.parse().ok()));
    let work = move |request: &PageRequest<'_>| {
        let answer = handler(request);
        // After the work, which may have changed what waits.
        Ok((answer, frame_facts(request.context)))
    };
    match blocking(server, fields, purpose, work).await {
        Ok((Ok(answer), facts)) => render(&frame, &facts, notice, answer),
        Ok((Err(failure), facts)) => fail(&frame, &facts, &failure, purpose.usage_status()),
        Err(failure) => fail(&frame, &FrameFacts::default(), &failure, purpose.usage_status()),
    }
}

/// The facts in the frame. What cannot be read is left out; the page itself reports it.
fn frame_facts(context: &CommandContext<'_>) -> FrameFacts {
    FrameFacts {
        waiting: review::waiting_count(context).unwrap_or(0),
        off: status::switched_off(context).ok().flatten(),
        stamp: change_stamp(context),
    }
}

/// Runs a command's work on a blocking thread. A panic becomes an error page.
async fn blocking<T: Send + 'static>(
    server: Arc<PageServer>,
    fields: RequestFields,
    purpose: Purpose,
    work: impl FnOnce(&PageRequest<'_>) -> Result<T, CliError> + Send + 'static,
) -> Result<T, CliError> {
    let done = tokio::task::spawn_blocking(move || {
        let out = Printer::new(server.global.color);
        let context = CommandContext::in_folder(&server.global, &out, server.folder.clone())?
            .with_scan_cache(server.scans.for_one_request());
        let done = work(&PageRequest { context: &context, server: &server, fields: &fields });
        if purpose == Purpose::Change {
            context.index_changes(done.is_ok());
        }
        done
    });
    done.await.unwrap_or_else(|_| Err(CliError::new("something went wrong in Rekindle; this is a bug")))
}

fn render(server: &PageServer, facts: &FrameFacts, notice: Option<u64>, answer: PageAnswer) -> Response {
    match answer {
        PageAnswer::Page(page) => {
            let notice = notice.and_then(|number| server.take_notice(number));
            (page.status, layout::frame(server, facts, &page, notice.as_ref())).into_response()
        }
        PageAnswer::Fragment(part) => layout::fragment(part).into_response(),
        PageAnswer::SeeOther(page) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SEE_OTHER;
            if let Ok(location) = HeaderValue::from_str(&page) {
                response.headers_mut().insert(header::LOCATION, location);
            }
            response
        }
    }
}

fn fail(server: &PageServer, facts: &FrameFacts, failure: &CliError, usage: StatusCode) -> Response {
    let status = if failure.code == 2 { usage } else { StatusCode::INTERNAL_SERVER_ERROR };
    let page = PageContent {
        status,
        ..PageContent::new("Something is wrong", PageSection::None, layout::failure(failure))
    };
    (status, layout::frame(server, facts, &page, None)).into_response()
}
