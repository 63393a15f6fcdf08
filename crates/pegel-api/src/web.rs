//! The web console: its files are built by `web/` and carried inside of the program.
//!
//! Everything below the base path that is no route of the API is a page of the console, so that a link to one
//! survives a reload. The files hold no data; whoever reads them has to sign in before they show any. A program
//! that was built without them says so.

use axum::body::{Body, Bytes};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use rust_embed::{Embed, EmbeddedFile};

/// The files that `npm run build` leaves, those of debug builds read when they are asked for.
#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

/// What every address in the page starts from, as the build writes it.
const BASE: &str = r#"<base href="/" />"#;

/// The names of files hold their hash, so they never change.
const FOR_A_YEAR: &str = "public, max-age=31536000, immutable";

/// The page names the files of the newest build, so it is asked for anew each time.
const ASK_EACH_TIME: &str = "no-cache";

const WITHOUT_CONSOLE: &str = "This Pegel was built without its web console. The HTTP API is at api/v1, and `pegel --help` tells what the \
     command line can do.\n";

/// Returns the console's answer for a path below the base path, or nothing when there is no such file.
pub(crate) fn answer(path: &str, base_path: &str, headers: &HeaderMap) -> Option<Response> {
    let name = path.trim_start_matches('/');
    if let Some(asset) = name.strip_prefix("assets/") {
        let is_plain = asset.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'));
        return if is_plain { file(name, headers) } else { None };
    }
    // A page's address has no dot in its last part; what has one is a file that is not there.
    let last = name.rsplit('/').next().unwrap_or_default();
    if last.contains('.') && name != "index.html" { None } else { Some(page(base_path, headers)) }
}

fn file(name: &str, headers: &HeaderMap) -> Option<Response> {
    let is_packed = accepts_brotli(headers);
    let packed = if is_packed { Files::get(&format!("{name}.br")) } else { None };
    let encoding = packed.as_ref().map(|_| HeaderValue::from_static("br"));
    let found = packed.or_else(|| Files::get(name))?;
    let mut response = Response::new(Body::from(bytes_of(&found)));
    let answer = response.headers_mut();
    answer.insert(CONTENT_TYPE, HeaderValue::from_static(type_of(name)));
    answer.insert(CACHE_CONTROL, HeaderValue::from_static(FOR_A_YEAR));
    answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        answer.insert(CONTENT_ENCODING, encoding);
    }
    Some(response)
}

fn page(base_path: &str, headers: &HeaderMap) -> Response {
    let Some(index) = Files::get("index.html") else {
        let mut response = Response::new(Body::from(WITHOUT_CONSOLE));
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, plain);
        return response;
    };
    let tag = tag_of(&index, base_path);
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let text = String::from_utf8_lossy(&index.data);
        let own = text.replace(BASE, &format!(r#"<base href="{base_path}/" />"#));
        let mut response = Response::new(Body::from(own));
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, html);
        response
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(ASK_EACH_TIME));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// The page depends on the build and on the base path, and on nothing else.
fn tag_of(index: &EmbeddedFile, base_path: &str) -> String {
    let hash = index.metadata.sha256_hash();
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{hex}{}\"", base_path.replace('/', "-"))
}

fn bytes_of(file: &EmbeddedFile) -> Bytes {
    match &file.data {
        std::borrow::Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        std::borrow::Cow::Owned(bytes) => Bytes::from(bytes.clone()),
    }
}

fn type_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn accepts_brotli(headers: &HeaderMap) -> bool {
    let all = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(',')).any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_brotli = words.next().is_some_and(|name| name.eq_ignore_ascii_case("br"));
        is_brotli && !words.any(|word| matches!(word, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(headers: &[(http::HeaderName, &str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn brotli_is_sent_to_whoever_takes_it() {
        for (value, expected) in [
            ("gzip, br", true),
            ("br;q=0.5", true),
            ("BR", true),
            ("gzip", false),
            ("br;q=0", false),
            ("brotli", false),
        ] {
            assert_eq!(accepts_brotli(&asks(&[(ACCEPT_ENCODING, value)])), expected, "{value}");
        }
    }

    #[test]
    fn a_path_is_a_page_or_a_file_of_the_build_and_nothing_else() {
        let answer = |path: &str| answer(path, "", &HeaderMap::new());
        for page in ["/", "/clusters/eu/tables/shop/orders", "/index.html", "/login"] {
            assert!(answer(page).is_some(), "{page}");
        }
        for file in
            ["/assets/none.js", "/favicon.ico", "/assets/../index.html", "/assets/%2e%2e/x", "/a/b.txt"]
        {
            assert!(answer(file).is_none(), "{file}");
        }
    }
}
