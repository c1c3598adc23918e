//! The style, the script and the icon, compiled in.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;

const STYLE: &str = concat!(
    include_str!("assets/base.css"),
    include_str!("assets/parts.css"),
    include_str!("assets/pages.css"),
);
const SCRIPT: &str = include_str!("assets/page.js");
const ICON: &str = include_str!("assets/icon.svg");

fn of_type(kind: &'static str) -> [(HeaderName, HeaderValue); 1] {
    [(header::CONTENT_TYPE, HeaderValue::from_static(kind))]
}

pub(super) async fn style() -> impl IntoResponse {
    (of_type("text/css; charset=utf-8"), STYLE)
}

pub(super) async fn script() -> impl IntoResponse {
    (of_type("text/javascript; charset=utf-8"), SCRIPT)
}

pub(super) async fn icon() -> impl IntoResponse {
    (of_type("image/svg+xml"), ICON)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The assets of issue size: a page must not make the program heavy.
    #[test]
    fn the_assets_stay_small_and_load_nothing_from_elsewhere() {
        assert!(STYLE.len() + SCRIPT.len() + ICON.len() < 400_000);
        for text in [STYLE, SCRIPT] {
            assert!(!text.contains("http:") && !text.contains("https:") && !text.contains("@import"));
            assert!(
                !text.contains("eval(") && !text.contains("innerHTML") && !text.contains("document.write")
            );
        }
    }
}
