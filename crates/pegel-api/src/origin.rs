//! Whether a request was meant for this Pegel and begun by its own pages or by a program.
//!
//! Against DNS rebinding: the `Host` must be one that Pegel answers for. Against forged requests: what a browser
//! sends from another site is refused, and a cookie counts on an unsafe method only beside proof that Pegel's own
//! page sent it, as JSON, which no foreign form can. There are no CORS headers, ever.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName};
use pegel_core::error_code::ErrorCode;

use crate::auth::{cookie_name, has_cookie};
use crate::problem::Refusal;
use crate::serve::Connection;
use crate::settings::ApiSettings;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what was not meant for this Pegel, or was begun by another site.
///
/// # Errors
/// `host_not_served`, `origin_not_allowed`, `unsupported_media_type`.
pub(crate) fn guard(request: &Request, settings: &ApiSettings) -> Result<(), Refusal> {
    let host = check_host(request, settings)?;
    let headers = request.headers();
    let is_own = origin_of(headers)?.map(|origin| is_own_origin(origin, &host, settings));
    if is_own == Some(false) {
        return Err(Refusal::of(ErrorCode::OriginNotAllowed));
    }
    if request.method().is_safe() {
        return Ok(());
    }
    let site = headers.get(SEC_FETCH_SITE);
    let is_same_site = site.map(|site| site == "same-origin");
    if is_same_site == Some(false) {
        return Err(Refusal::of(ErrorCode::OriginNotAllowed));
    }
    if has_cookie(headers, cookie_name(settings)) {
        if is_own.is_none() && is_same_site.is_none() {
            return Err(Refusal::of(ErrorCode::OriginNotAllowed));
        }
        if !is_json(headers) {
            return Err(Refusal::of(ErrorCode::UnsupportedMediaType));
        }
    }
    Ok(())
}

/// Refuses a request for a host that Pegel does not answer for; returns the host it is for.
///
/// # Errors
/// `host_not_served`.
pub(crate) fn check_host(request: &Request, settings: &ApiSettings) -> Result<Authority, Refusal> {
    let refused = || Refusal::of(ErrorCode::HostNotServed);
    let host = host_of(request).ok_or_else(refused)?;
    let name = name_of(&host);
    let is_public = settings.public_url.as_ref().is_some_and(|url| same_host(&url.host, name));
    let is_listed = settings.allowed_hosts.iter().any(|allowed| same_host(allowed, name));
    let is_local = is_loopback_connection(request) && is_loopback_name(name);
    if is_public || is_listed || is_local { Ok(host) } else { Err(refused()) }
}

/// Returns whether the body is declared as JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(own), None) = (types.next(), types.next()) else { return false };
    let essence = own.to_str().ok().and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Returns whether the client came to a loopback address of this machine.
pub(crate) fn is_loopback_connection(request: &Request) -> bool {
    let connection = request.extensions().get::<Connection>();
    connection.is_some_and(|connection| connection.local.ip().to_canonical().is_loopback())
}

/// Returns the one host that the request names, wherever it does.
fn host_of(request: &Request) -> Option<Authority> {
    let mut headers = request.headers().get_all(HOST).iter();
    let own: Option<Authority> = match (headers.next(), headers.next()) {
        (None, _) => None,
        (Some(host), None) => Some(host.to_str().ok()?.parse().ok()?),
        (Some(_), Some(_)) => return None,
    };
    let host = match (own, request.uri().authority()) {
        (Some(own), Some(other)) if own != *other => return None,
        (Some(host), _) => host,
        (None, other) => other?.clone(),
    };
    (!host.as_str().contains('@')).then_some(host)
}

fn name_of(host: &Authority) -> &str {
    bare(host.host())
}

/// Returns a host's name or address without brackets and the dot that ends a full name.
fn bare(host: &str) -> &str {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    inner.strip_suffix('.').unwrap_or(inner)
}

fn same_host(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    match (one.parse::<IpAddr>(), other.parse::<IpAddr>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one.eq_ignore_ascii_case(other),
    }
}

fn is_loopback_name(name: &str) -> bool {
    let is_address = || name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    name.eq_ignore_ascii_case("localhost") || is_address()
}

/// Returns the site that began the request, if a browser says so.
///
/// # Errors
/// `origin_not_allowed` if there is more than one.
fn origin_of(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let refused = || Refusal::of(ErrorCode::OriginNotAllowed);
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(None),
        (Some(origin), None) => origin.to_str().map(Some).map_err(|_| refused()),
        (Some(_), Some(_)) => Err(refused()),
    }
}

/// Returns whether an origin is that of Pegel's own pages.
///
/// That is the public URL's, whatever a proxy made of the `Host`, and under the URL's host no other. Under any
/// other name that is served it is the host that the request is for; without a public URL with TLS or not.
fn is_own_origin(origin: &str, host: &Authority, settings: &ApiSettings) -> bool {
    let is_https = settings.is_https();
    if let Some(url) = &settings.public_url {
        if origin.eq_ignore_ascii_case(&url.origin) {
            return true;
        }
        if same_host(&url.host, name_of(host)) {
            return false;
        }
    }
    let is_of = |scheme: &str, implied: &str| {
        let own = host.as_str().strip_suffix(implied).unwrap_or(host.as_str());
        origin.strip_prefix(scheme).is_some_and(|theirs| theirs.eq_ignore_ascii_case(own))
    };
    is_of("http://", ":80") || (!is_https && is_of("https://", ":443"))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Body;
    use axum::http::Method;

    use super::*;

    fn settings(public_url: Option<&str>) -> ApiSettings {
        let allowed_hosts = vec!["pegel.internal".to_owned(), "192.0.2.5".to_owned()];
        let public_url = public_url.map(|url| url.parse().unwrap());
        ApiSettings { public_url, allowed_hosts, ..ApiSettings::default() }
    }

    fn request(local: &str, method: Method, uri: &str, headers: &[(&str, &str)]) -> Request {
        let mut builder = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let mut request = builder.body(Body::empty()).unwrap();
        let local: SocketAddr = local.parse().unwrap();
        request.extensions_mut().insert(Connection::new(local, local));
        request
    }

    fn check(url: Option<&str>, request: &Request, expected: Result<(), ErrorCode>) {
        let found = guard(request, &settings(url)).map_err(|refusal| refusal.code());
        assert_eq!(found, expected, "{request:?}");
    }

    #[test]
    fn only_hosts_that_pegel_answers_for_are_served() {
        let refused = Err(ErrorCode::HostNotServed);
        let get = |local: &str, host: &str| request(local, Method::GET, "/", &[("host", host)]);
        for host in ["localhost:9300", "LOCALHOST", "127.0.0.1", "127.1.2.3:1", "[::1]:9300", "localhost."] {
            check(None, &get("127.0.0.1:9300", host), Ok(()));
            check(None, &get("192.0.2.5:9300", host), refused);
        }
        for host in ["pegel.internal", "Pegel.Internal:8443", "192.0.2.5", "pegel.internal."] {
            check(None, &get("192.0.2.5:9300", host), Ok(()));
        }
        for host in ["evil.example", "localhost.evil.example", "pegel.internal.evil.example", "0.0.0.0", ""] {
            check(None, &get("127.0.0.1:9300", host), refused);
        }
        check(None, &get("127.0.0.1:1", "ann@localhost"), refused);
        check(Some("https://pegel.example"), &get("192.0.2.5:1", "pegel.example"), Ok(()));
        check(None, &request("127.0.0.1:1", Method::GET, "/", &[]), refused);
        let two = [("host", "localhost"), ("host", "localhost")];
        check(None, &request("127.0.0.1:1", Method::GET, "/", &two), refused);
        let absolute = "http://evil.example/api/v1/users";
        check(None, &request("127.0.0.1:1", Method::GET, absolute, &[("host", "localhost")]), refused);
    }

    fn post(host: &str, headers: &[(&str, &str)]) -> Request {
        let mut all = vec![("host", host)];
        all.extend_from_slice(headers);
        request("127.0.0.1:9300", Method::POST, "/api/v1/users", &all)
    }

    const COOKIE: (&str, &str) = ("cookie", "pegel_session=x");
    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

    #[test]
    fn a_cookie_counts_on_an_unsafe_method_only_from_pegels_own_page() {
        let refused = Err(ErrorCode::OriginNotAllowed);
        let own = ("origin", "http://localhost:9300");
        let check =
            |headers: &[(&str, &str)], expected| check(None, &post("localhost:9300", headers), expected);
        check(&[COOKIE, JSON, own], Ok(()));
        check(&[COOKIE, JSON, ("sec-fetch-site", "same-origin")], Ok(()));
        check(&[COOKIE, JSON, own, ("sec-fetch-site", "same-origin")], Ok(()));
        check(&[COOKIE, JSON], refused);
        check(&[COOKIE, JSON, ("sec-fetch-site", "none")], refused);
        check(&[COOKIE, JSON, own, ("sec-fetch-site", "same-site")], refused);
        check(&[COOKIE, JSON, own, ("sec-fetch-site", "cross-site")], refused);
        for foreign in ["http://evil.example", "http://localhost:9301", "https://localhost", "null", ""] {
            check(&[COOKIE, JSON, ("origin", foreign)], refused);
            check(&[COOKIE, JSON, ("origin", foreign), ("sec-fetch-site", "same-origin")], refused);
        }
        check(&[COOKIE, JSON, own, own], refused);
        check(&[COOKIE, own], Err(ErrorCode::UnsupportedMediaType));
        for form in
            ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"]
        {
            check(&[COOKIE, own, ("content-type", form)], Err(ErrorCode::UnsupportedMediaType));
        }
        check(&[COOKIE, own, JSON, ("content-type", "text/plain")], Err(ErrorCode::UnsupportedMediaType));
    }

    #[test]
    fn a_program_needs_no_origin_and_may_have_no_foreign_one() {
        let token = ("authorization", "Bearer pgl_1");
        let refused = Err(ErrorCode::OriginNotAllowed);
        check(None, &post("localhost:9300", &[token]), Ok(()));
        check(None, &post("localhost:9300", &[]), Ok(()));
        check(None, &post("localhost:9300", &[token, ("origin", "http://evil.example")]), refused);
        check(None, &post("localhost:9300", &[token, ("sec-fetch-site", "cross-site")]), refused);
        let foreign = [("host", "localhost"), ("origin", "http://evil.example")];
        check(None, &request("127.0.0.1:1", Method::GET, "/", &foreign), refused);
    }

    #[test]
    fn under_the_public_url_only_its_own_origin_counts() {
        let url = Some("https://pegel.example/pegel");
        let cookie = ("cookie", "__Host-pegel_session=x");
        let refused = Err(ErrorCode::OriginNotAllowed);
        let origin = |host: &str, origin: &'static str, expected| {
            check(url, &post(host, &[cookie, JSON, ("origin", origin)]), expected);
        };
        origin("pegel.example", "https://pegel.example", Ok(()));
        origin("pegel.example", "http://pegel.example", refused);
        origin("pegel.example", "https://pegel.example:8443", refused);
        origin("localhost:9300", "https://pegel.example", Ok(()));
        origin("localhost:9300", "https://localhost:9300", refused);
        origin("localhost:9300", "http://localhost:9300", Ok(()));
        origin("pegel.internal", "https://pegel.internal", refused);
    }
}
