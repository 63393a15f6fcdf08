//! What a redirect asks next.

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use url::Url;

use crate::error::Error;
use crate::request::{Header, MAX_URL_BYTES, Redirects};

/// Headers that say nothing about who asks, and stay when a redirect leads to another origin.
const HARMLESS: &[&str] = &["accept", "accept-language", "content-type", "user-agent", "cache-control"];

/// What is asked at one hop.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Bytes,
}

/// Follows redirects, each target once.
#[derive(Debug)]
pub(crate) struct Trail {
    redirects: Redirects,
    seen: Vec<(Method, Url)>,
}

impl Trail {
    pub(crate) fn new(redirects: Redirects) -> Self {
        Self { redirects, seen: Vec::new() }
    }

    /// Returns what to ask next, or `None` if the answer is the last one.
    ///
    /// # Errors
    /// `redirect_loop`, `redirect_limit`, `redirect_refused`.
    pub(crate) fn next(
        &mut self,
        ask: &Ask,
        status: StatusCode,
        location: Option<&HeaderValue>,
    ) -> Result<Option<Ask>, Error> {
        let Redirects::Follow { limit, is_downgrade_allowed } = self.redirects else { return Ok(None) };
        let (301 | 302 | 303 | 307 | 308, Some(location)) = (status.as_u16(), location) else {
            return Ok(None);
        };
        let url = target(&ask.url, location)?;
        if ask.url.scheme() == "https" && url.scheme() == "http" && !is_downgrade_allowed {
            return Err(refused("it leads from https to http"));
        }
        let is_same_origin = ask.url.origin() == url.origin();
        let becomes_get = match status.as_u16() {
            303 => ask.method != Method::HEAD,
            301 | 302 => ask.method == Method::POST,
            _ => false,
        };
        let mut next = Ask { url, ..ask.clone() };
        if becomes_get {
            next.method = Method::GET;
            next.body = Bytes::new();
            next.headers.retain(|one| one.name != header::CONTENT_TYPE);
        }
        if !is_same_origin {
            next.headers.retain(|one| HARMLESS.contains(&one.name.as_str()));
        }
        self.seen.push((ask.method.clone(), ask.url.clone()));
        if self.seen.contains(&(next.method.clone(), next.url.clone())) {
            return Err(Error::RedirectLoop { url: shown(&next.url) });
        }
        if self.seen.len() > usize::from(limit) {
            return Err(Error::RedirectLimit { limit });
        }
        Ok(Some(next))
    }
}

/// Returns a URL as it may be shown: without what comes after `?`, which may hold keys.
pub(crate) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_fragment(None);
    if shown.query().is_some() {
        shown.set_query(Some("[redacted]"));
    }
    shown.into()
}

fn target(base: &Url, location: &HeaderValue) -> Result<Url, Error> {
    let text = std::str::from_utf8(location.as_bytes()).map_err(|_| refused("its location is no text"))?;
    if text.len() > MAX_URL_BYTES {
        return Err(refused("its location is too long"));
    }
    let mut url = base.join(text).map_err(|_| refused("its location is no url"))?;
    url.set_fragment(None);
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(refused("it leads to something else than http"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("its location holds credentials"));
    }
    Ok(url)
}

fn refused(reason: &str) -> Error {
    Error::RedirectRefused { reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: Method, url: &str) -> Ask {
        let headers =
            [("authorization", "x"), ("accept", "*/*"), ("x-key", "k"), ("content-type", "text/plain")];
        Ask {
            method,
            url: Url::parse(url).unwrap(),
            headers: headers.iter().map(|(name, value)| Header::new(name, value).unwrap()).collect(),
            body: Bytes::from_static(b"body"),
        }
    }

    fn follow(from: &Ask, status: u16, location: &str) -> Result<Option<Ask>, Error> {
        let location = HeaderValue::from_str(location).unwrap();
        Trail::new(Redirects::default()).next(from, StatusCode::from_u16(status).unwrap(), Some(&location))
    }

    fn names(ask: &Ask) -> Vec<&str> {
        ask.headers.iter().map(|header| header.name.as_str()).collect()
    }

    #[test]
    fn locations_are_read_relative_to_what_was_asked() {
        let from = ask(Method::GET, "https://a.example/x/y?z#f");
        for (location, expected) in [
            ("/b", "https://a.example/b"),
            ("b?c", "https://a.example/x/b?c"),
            ("//b.example/", "https://b.example/"),
            ("https://a.example:444/#frag", "https://a.example:444/"),
        ] {
            assert_eq!(follow(&from, 302, location).unwrap().unwrap().url.as_str(), expected);
        }
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let from = ask(Method::GET, "https://a.example/");
        assert_eq!(names(&follow(&from, 302, "/b").unwrap().unwrap()).len(), 4);
        for other in ["https://b.example/", "https://a.example:8443/"] {
            assert_eq!(names(&follow(&from, 302, other).unwrap().unwrap()), ["accept", "content-type"]);
        }
    }

    #[test]
    fn a_post_becomes_a_get_unless_the_status_says_to_keep_it() {
        let from = ask(Method::POST, "http://a.example/");
        let next = |status| {
            let next = follow(&from, status, "/b").unwrap().unwrap();
            (next.method, next.body.len())
        };
        assert_eq!([301, 302, 303].map(next), [const { (Method::GET, 0) }; 3]);
        assert_eq!([307, 308].map(next), [const { (Method::POST, 4) }; 2]);
        let head = ask(Method::HEAD, "http://a.example/");
        assert_eq!(follow(&head, 303, "/b").unwrap().unwrap().method, Method::HEAD);
    }

    #[test]
    fn a_downgrade_another_scheme_and_credentials_are_refused() {
        let from = ask(Method::GET, "https://a.example/");
        for location in
            ["http://a.example/", "ftp://a.example/", "javascript:1", "https://u:p@a.example/", "http://"]
        {
            let error = follow(&from, 302, location).unwrap_err();
            assert!(matches!(error, Error::RedirectRefused { .. }), "{location}: {error}");
        }
    }

    #[test]
    fn what_is_no_redirect_is_the_answer() {
        let from = ask(Method::GET, "http://a.example/");
        assert!(follow(&from, 304, "/b").unwrap().is_none());
        assert!(follow(&from, 200, "/b").unwrap().is_none());
        let mut trail = Trail::new(Redirects::default());
        assert!(trail.next(&from, StatusCode::FOUND, None).unwrap().is_none());
        let location = HeaderValue::from_static("/b");
        let mut keep = Trail::new(Redirects::Keep);
        assert!(keep.next(&from, StatusCode::FOUND, Some(&location)).unwrap().is_none());
    }

    #[test]
    fn circles_and_endless_chains_end() {
        let mut trail = Trail::new(Redirects::default());
        let mut at = ask(Method::GET, "http://a.example/0");
        for number in 1..=10 {
            let location = HeaderValue::from_str(&format!("/{number}")).unwrap();
            at = trail.next(&at, StatusCode::FOUND, Some(&location)).unwrap().unwrap();
        }
        let more = HeaderValue::from_static("/11");
        let error = trail.next(&at, StatusCode::FOUND, Some(&more)).unwrap_err();
        assert!(matches!(error, Error::RedirectLimit { limit: 10 }));
        let circle = HeaderValue::from_static("/");
        let home = ask(Method::GET, "http://a.example/");
        let error =
            Trail::new(Redirects::default()).next(&home, StatusCode::FOUND, Some(&circle)).unwrap_err();
        assert!(matches!(error, Error::RedirectLoop { .. }));
    }

    #[test]
    fn what_may_hold_keys_is_not_shown() {
        let url = Url::parse("https://a.example/b?key=secret#x").unwrap();
        assert_eq!(shown(&url), "https://a.example/b?[redacted]");
    }
}
