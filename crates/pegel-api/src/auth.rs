//! From a cookie or an `Authorization` header to a caller, before any handler runs.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pegel_core::access::decision::Target;
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;
use pegel_service::caller::{Caller, Origin};
use pegel_service::policy::Authorized;
use pegel_service::policy::permission::Permit;
use secrecy::{ExposeSecret, SecretString};

use crate::app::App;
use crate::input::Names;
use crate::problem::Refusal;
use crate::settings::ApiSettings;

/// How a request shows who makes it.
#[derive(Debug, Clone)]
pub(crate) enum Credential {
    /// By a session's cookie.
    Session(SecretString),
    /// By an access token.
    Token(SecretString),
}

/// Who must have signed in for a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signed {
    /// Anyone who has, also who must change the password first.
    Barely,
    /// Anyone who has and need not change the password first.
    Fully,
}

/// The authenticated caller of a route that is not public.
pub(crate) struct CurrentCaller(pub(crate) Caller);

/// The name of a principal, left with an answer for the log.
#[derive(Debug, Clone)]
pub(crate) struct PrincipalName(pub(crate) String);

/// Returns the name of the session's cookie: with TLS one that no other host can set.
pub(crate) fn cookie_name(settings: &ApiSettings) -> &'static str {
    if settings.is_https() { "__Host-pegel_session" } else { "pegel_session" }
}

/// Returns the cookie that holds a session, or takes it away if there is no token.
///
/// It ends with the browser; the session ends by itself. With TLS it is bound to the host, which needs the path
/// `/`; otherwise it is for Pegel's own path only.
pub(crate) fn session_cookie(settings: &ApiSettings, token: Option<&SecretString>) -> String {
    let name = cookie_name(settings);
    let value = token.map_or("", |token| token.expose_secret());
    let base = settings.base_path();
    let path = if settings.is_https() || base.is_empty() { "/" } else { base };
    let secure = if settings.is_https() { "; Secure" } else { "" };
    let end = if token.is_some() { "" } else { "; Max-Age=0" };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}{end}")
}

/// Returns what the request shows; nothing if it shows nothing.
///
/// # Errors
/// `credentials_ambiguous` if that is more than one thing, `sign_in_required` if it is of an unknown kind.
pub(crate) fn credential_of(headers: &HeaderMap, cookie: &str) -> Result<Option<Credential>, Refusal> {
    let mut found = Vec::new();
    for header in headers.get_all(AUTHORIZATION) {
        let refused = || Refusal::of(ErrorCode::SignInRequired);
        let (scheme, token) =
            header.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(refused)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refused());
        }
        found.push(Credential::Token(SecretString::from(token.trim())));
    }
    for value in cookies(headers, cookie) {
        found.push(Credential::Session(SecretString::from(value)));
    }
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(Refusal::of(ErrorCode::CredentialsAmbiguous)),
    }
}

/// Returns whether the request carries the session's cookie, valid or not.
pub(crate) fn has_cookie(headers: &HeaderMap, cookie: &str) -> bool {
    cookies(headers, cookie).next().is_some()
}

fn cookies<'h>(headers: &'h HeaderMap, name: &'h str) -> impl Iterator<Item = &'h str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    let pairs = pairs.flat_map(|header| header.split(';'));
    pairs
        .filter_map(move |pair| pair.split_once('=').filter(|(own, _)| own.trim() == name))
        .map(|(_, v)| v.trim())
}

/// Returns who makes a request.
///
/// # Errors
/// `sign_in_required`, `credentials_ambiguous`, or as the store.
pub(crate) async fn authenticate(app: &App, headers: &HeaderMap, origin: &Origin) -> Result<Caller, Refusal> {
    let people = app.service.people();
    Ok(match credential_of(headers, cookie_name(&app.settings))? {
        None => return Err(Refusal::of(ErrorCode::SignInRequired)),
        Some(Credential::Session(token)) => {
            people.authenticate_session(token.expose_secret(), origin.request_id).await?
        }
        Some(Credential::Token(token)) => {
            people.authenticate_api_token(token.expose_secret(), origin.request_id).await?
        }
    })
}

/// Lets a request through to its handler if someone is signed in.
pub(crate) async fn require_caller(
    State((app, signed)): State<(App, Signed)>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = match origin_in(request.extensions()) {
        Ok(origin) => authenticate(&app, request.headers(), origin).await,
        Err(refusal) => Err(refusal),
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(refusal) => return refusal.into_response(),
    };
    let name = PrincipalName(caller.principal().name.clone());
    let mut response = if signed == Signed::Fully && caller.must_change_password() {
        Refusal::of(ErrorCode::PasswordChangeRequired).into_response()
    } else {
        request.extensions_mut().insert(caller);
        next.run(request).await
    };
    response.extensions_mut().insert(name);
    response
}

/// Returns where a request comes from.
pub(crate) fn origin_in(extensions: &axum::http::Extensions) -> Result<&Origin, Refusal> {
    extensions.get::<Origin>().ok_or_else(|| Refusal::internal("the request did not pass the edge"))
}

fn caller_in(parts: &Parts) -> Result<&Caller, Refusal> {
    let missing = || Refusal::internal("a handler asks for a caller on a public route");
    parts.extensions.get::<Caller>().ok_or_else(missing)
}

impl FromRequestParts<App> for CurrentCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refusal> {
        caller_in(parts).cloned().map(Self)
    }
}

/// A handle above all clusters.
pub(crate) struct May<P>(pub(crate) Authorized<P>);

/// A handle in the cluster that the path names; answers are filtered by the caller's scope.
pub(crate) struct MayInCluster<P>(pub(crate) Authorized<P>);

/// A handle for the whole cluster that the path names.
pub(crate) struct MayWholeCluster<P>(pub(crate) Authorized<P>);

impl<P: Permit> FromRequestParts<App> for May<P> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        Ok(Self(app.service.policy().authorize(caller_in(parts)?, Target::Global).await?))
    }
}

impl<P: Permit> FromRequestParts<App> for MayInCluster<P> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let cluster = cluster_in(parts, app).await?;
        Ok(Self(app.service.policy().authorize(caller_in(parts)?, Target::Cluster(&cluster)).await?))
    }
}

impl<P: Permit> FromRequestParts<App> for MayWholeCluster<P> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let cluster = cluster_in(parts, app).await?;
        Ok(Self(app.service.policy().authorize(caller_in(parts)?, Target::WholeCluster(&cluster)).await?))
    }
}

async fn cluster_in(parts: &mut Parts, app: &App) -> Result<ClusterSlug, Refusal> {
    Names::from_request_parts(parts, app).await?.cluster()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn check(headers: &[(HeaderName, &str)], expected: Result<Option<&str>, ErrorCode>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        let found = credential_of(&map, "pegel_session").map_err(|refusal| refusal.code());
        let found = found.map(|credential| {
            credential.map(|credential| match credential {
                Credential::Session(token) => format!("session {}", token.expose_secret()),
                Credential::Token(token) => format!("token {}", token.expose_secret()),
            })
        });
        assert_eq!(found, expected.map(|text| text.map(str::to_owned)), "{headers:?}");
    }

    #[test]
    fn a_request_shows_one_credential_or_none() {
        let ambiguous = Err(ErrorCode::CredentialsAmbiguous);
        check(&[], Ok(None));
        check(&[(AUTHORIZATION, "Bearer pgl_1")], Ok(Some("token pgl_1")));
        check(&[(AUTHORIZATION, "bearer pgl_1")], Ok(Some("token pgl_1")));
        check(&[(COOKIE, "a=b; pegel_session=x; c=d")], Ok(Some("session x")));
        check(&[(COOKIE, "__Host-pegel_session=x; pegel_session_2=y")], Ok(None));
        check(&[(COOKIE, "pegel_session=x"), (AUTHORIZATION, "Bearer pgl_1")], ambiguous);
        check(&[(COOKIE, "pegel_session=x; pegel_session=y")], ambiguous);
        check(&[(COOKIE, "pegel_session=x"), (COOKIE, "pegel_session=x")], ambiguous);
        check(&[(AUTHORIZATION, "Bearer a"), (AUTHORIZATION, "Bearer b")], ambiguous);
        check(&[(AUTHORIZATION, "Basic YTpi")], Err(ErrorCode::SignInRequired));
        check(&[(AUTHORIZATION, "Bearer")], Err(ErrorCode::SignInRequired));
    }

    #[test]
    fn the_cookie_is_bound_to_its_host_where_there_is_tls() {
        let with = |url: Option<&str>, token: Option<&str>| {
            let public_url = url.map(|url| url.parse().unwrap());
            let settings = ApiSettings { public_url, ..ApiSettings::default() };
            session_cookie(&settings, token.map(SecretString::from).as_ref())
        };
        assert_eq!(with(None, Some("x")), "pegel_session=x; Path=/; HttpOnly; SameSite=Strict");
        assert_eq!(
            with(Some("https://a.example/pegel"), Some("x")),
            "__Host-pegel_session=x; Path=/; HttpOnly; SameSite=Strict; Secure"
        );
        assert_eq!(
            with(Some("http://a.example/pegel"), None),
            "pegel_session=; Path=/pegel; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }
}
