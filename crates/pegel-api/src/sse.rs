//! The stream of changes: which resource has which version now, and nothing of the resource itself.
//!
//! A stream shows what its caller may learn of at that moment, and ends with the session, the token or the
//! server. Whoever comes back with `Last-Event-ID` goes on where it ended, or is told to fetch everything anew.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, Method};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use pegel_core::error_code::ErrorCode;
use pegel_service::Error;
use pegel_service::caller::Caller;
use pegel_service::changes::{self, Change, Changes};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;
use crate::serve::Connection;

/// The header in which a browser says which event it saw last.
const LAST_EVENT_ID: &str = "last-event-id";

/// What a `change` event holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct ChangeEvent {
    /// What changed, such as `cluster/orders-eu`.
    resource_key: String,
    /// The version it has now; null if it counts none or is gone.
    version: Option<i64>,
}

/// How many streams are open, by user.
pub(crate) struct Streams {
    open: Arc<Mutex<HashMap<Uuid, usize>>>,
    max: usize,
    max_per_user: usize,
}

/// A place for one stream; free again when dropped.
struct Place {
    open: Arc<Mutex<HashMap<Uuid, usize>>>,
    user_id: Uuid,
}

impl Streams {
    pub(crate) fn new(max: usize, max_per_user: usize) -> Self {
        Self { open: Arc::default(), max, max_per_user }
    }

    /// Returns how many streams are open.
    pub(crate) fn count(&self) -> usize {
        lock(&self.open).values().sum()
    }

    fn enter(&self, user_id: Uuid) -> Result<Place, Refusal> {
        let mut open = lock(&self.open);
        let own = open.get(&user_id).copied().unwrap_or(0);
        if own >= self.max_per_user || open.values().sum::<usize>() >= self.max {
            return Err(Refusal::of(ErrorCode::TooManyStreams));
        }
        open.insert(user_id, own + 1);
        Ok(Place { open: Arc::clone(&self.open), user_id })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        if let Some(count) = open.get_mut(&self.user_id) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.user_id);
            }
        }
    }
}

/// Counts stay right also after a panic elsewhere: each change of the map is one step.
fn lock(open: &Mutex<HashMap<Uuid, usize>>) -> std::sync::MutexGuard<'_, HashMap<Uuid, usize>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Declares the route.
pub(crate) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/changes",
        Access::SignedIn,
        "Streams changes as server-sent events: `change` with a key and a version, `resync` when some were missed.",
    )
    .answers_events::<ChangeEvent>("The events; `Last-Event-ID` resumes.")
    .refuses(&[429])
    .by(stream_changes)
}

async fn stream_changes(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
    connection: Option<Extension<Connection>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let place = app.streams.enter(caller.user_id())?;
    let changes = app.changes.watch();
    let seen = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let seq = seen.map_or(*changes.borrow(), |id| id.parse().unwrap_or(-1));
    let ending = connection.map(|Extension(connection)| connection.ending).unwrap_or_default();
    let heartbeat = app.settings.stream_heartbeat;
    let mut follower =
        Follower { app, caller, changes, seq, ready: VecDeque::new(), ending, heartbeat, _place: place };
    // The first event comes at once, so that the client knows that it is heard.
    follower.ready.push_back(follower.sign_of_life());
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<_, Infallible>(event), follower))
    });
    let mut response = Sse::new(events).into_response();
    // Proxies that gather answers would hold back events.
    response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
    Ok(response)
}

/// One open stream.
struct Follower {
    app: App,
    caller: Caller,
    changes: watch::Receiver<i64>,
    seq: i64,
    ready: VecDeque<Event>,
    ending: CancellationToken,
    heartbeat: Duration,
    _place: Place,
}

impl Follower {
    /// Returns the next event, or nothing when the stream ends.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.ending.is_cancelled() {
                return None;
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            // Seen before the read, so that what comes during it wakes the wait below.
            self.changes.borrow_and_update();
            match self.app.changes.after(self.seq).await {
                Ok(Changes::Page(page)) if page.is_empty() => {}
                Ok(Changes::Page(page)) => {
                    self.take(page).await?;
                    continue;
                }
                Ok(Changes::Resync { head }) => {
                    self.seq = head;
                    return Some(Event::default().event("resync").id(head.to_string()).data("{}"));
                }
                Err(error) => return self.end(&error),
            }
            tokio::select! {
                () = self.ending.cancelled() => return None,
                changed = self.changes.changed() => changed.ok()?,
                () = tokio::time::sleep(self.heartbeat) => {
                    self.refresh().await?;
                    return Some(self.sign_of_life());
                }
            }
        }
    }

    /// Makes events of what the caller may learn of.
    async fn take(&mut self, page: Vec<Change>) -> Option<()> {
        for change in page {
            self.seq = change.seq;
            if changes::concerns_rights(&self.caller, &change.resource_key) {
                self.refresh().await?;
            }
            if changes::is_visible(&self.caller, &change.resource_key) {
                let data = ChangeEvent { resource_key: change.resource_key, version: change.version };
                let event = Event::default().event("change").id(change.seq.to_string()).json_data(data);
                self.ready.extend(event.ok());
            }
        }
        Some(())
    }

    /// Asks what the caller may now; nothing once the session or token has ended.
    async fn refresh(&mut self) -> Option<()> {
        match self.app.service.people().refresh(&self.caller).await {
            Ok(caller) => {
                self.caller = caller;
                Some(())
            }
            Err(error) => self.end(&error),
        }
    }

    /// Ends the stream; the client comes back and is told why then.
    fn end<T>(&self, error: &Error) -> Option<T> {
        if error.code() != ErrorCode::SignInRequired {
            tracing::warn!(
                request.id = %self.caller.request_id(),
                code = %error.code(),
                "a change stream ends: {}",
                error.internal()
            );
        }
        None
    }

    /// Returns a comment with the place in the feed, which browsers keep without an event.
    fn sign_of_life(&self) -> Event {
        Event::default().id(self.seq.to_string()).comment("alive")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_for_each_user_and_in_all() {
        let streams = Streams::new(3, 2);
        let (ann, bob) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = streams.enter(ann).ok().unwrap();
        let _second = streams.enter(ann).ok().unwrap();
        assert!(streams.enter(ann).is_err());
        let _third = streams.enter(bob).ok().unwrap();
        assert!(streams.enter(bob).is_err(), "there are three in all");
        assert_eq!(streams.count(), 3);
        drop(first);
        assert!(streams.enter(ann).is_ok());
        assert_eq!(streams.count(), 2);
    }
}
