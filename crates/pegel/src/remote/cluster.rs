//! A registered cluster, asked through its server.

use http::Method;
use pegel_api_types::operation::Operation;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::envelope::{Envelope, EvidenceState, Status};
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;
use pegel_core::limits::MAX_PAGE_LIMIT;
use pegel_service::execution::Extent;
use pegel_service::failure::Failure;
use serde_json::Value;

use crate::remote::Server;

/// Most pages of a thousand entries that are read for a whole list.
const MAX_PAGES: usize = 1_000;

/// Where a list of an answer stands.
const ITEMS: &str = "/data/items";

/// A cluster and the server that knows it.
pub(crate) struct RemoteCluster {
    server: Server,
    slug: ClusterSlug,
}

impl RemoteCluster {
    pub(crate) fn new(server: Server, slug: ClusterSlug) -> Self {
        Self { server, slug }
    }

    /// Asks one question. A whole list is read page by page; what changes meanwhile may be missed or seen twice.
    ///
    /// # Errors
    /// Those of [`Server::send`]. A cluster that does not answer is an answer.
    pub(crate) async fn ask<O: Operation>(
        &self,
        input: &O::Input,
        extent: Extent,
    ) -> Result<Envelope<O::Output>, Failure> {
        let path = format!("/clusters/{}/{}", self.slug, O::META.route);
        if extent == Extent::Page || !O::META.is_list {
            return self.server.send(Method::POST, &path, input).await;
        }
        let question = serde_json::to_value(input);
        let mut question =
            question.map_err(|error| Failure::internal("cannot write the request").with_cause(&error))?;
        let mut whole = self.page(&path, &mut question, 0).await?;
        for _ in 1..MAX_PAGES {
            let Some(next) = whole.pointer("/data/next_offset").and_then(Value::as_u64) else {
                return serde_json::from_value(whole).map_err(|_| self.not_understood());
            };
            let page = self.page(&path, &mut question, next).await?;
            if page.pointer("/data").is_none_or(Value::is_null) {
                // A part of a whole list is no whole list: the last page's answer stands for all.
                return serde_json::from_value(page).map_err(|_| self.not_understood());
            }
            append(&mut whole, page);
        }
        let message = format!("the list is longer than {MAX_PAGES} pages of {MAX_PAGE_LIMIT} entries");
        Err(Failure::new(ErrorCode::ServerAnswerUnusable, message).with_hint("narrow it with --search"))
    }

    /// Has the server test the connection as it is registered.
    ///
    /// # Errors
    /// Those of [`Server::send`].
    pub(crate) async fn test_connection(&self) -> Result<Envelope<ConnectionTest>, Failure> {
        let path = format!("/clusters/{}/test", self.slug);
        self.server.call(Method::POST, &path, None::<&()>).await.map(|reply| reply.body)
    }

    async fn page(&self, path: &str, question: &mut Value, offset: u64) -> Result<Value, Failure> {
        if let Some(question) = question.as_object_mut() {
            question.insert("offset".to_owned(), offset.into());
            question.insert("limit".to_owned(), MAX_PAGE_LIMIT.into());
        }
        self.server.send(Method::POST, path, question).await
    }

    fn not_understood(&self) -> Failure {
        let message = format!("an answer of {} is not of the expected form", self.server.url());
        Failure::new(ErrorCode::ServerAnswerUnusable, message)
    }
}

/// Puts a page behind those before it; the whole is worth no more than its worst page.
fn append(whole: &mut Value, mut page: Value) {
    let next = page.pointer("/data/next_offset").cloned().unwrap_or(Value::Null);
    for pointer in [ITEMS, "/evidence", "/warnings"] {
        let more = page.pointer_mut(pointer).map(Value::take);
        if let (Some(Value::Array(have)), Some(Value::Array(more))) = (whole.pointer_mut(pointer), more) {
            // The same warning stands on every page.
            let new = more.into_iter().filter(|entry| pointer == ITEMS || !have.contains(entry));
            let new: Vec<Value> = new.collect();
            have.extend(new);
        }
    }
    let count = whole.pointer(ITEMS).and_then(Value::as_array).map_or(0, Vec::len);
    for (pointer, value) in [("/data/next_offset", next), ("/data/limit", count.into())] {
        if let Some(place) = whole.pointer_mut(pointer) {
            *place = value;
        }
    }
    let is_partial = page.pointer("/status").and_then(Value::as_str) == Some(Status::Partial.as_str());
    if let Some(status) = whole.pointer_mut("/status").filter(|_| is_partial) {
        *status = Status::Partial.as_str().into();
    }
}

/// Returns why a cluster gave no answer, as far as the envelope says; nothing if there is an answer.
pub(crate) fn why_unanswered<T>(envelope: &Envelope<T>) -> Option<Failure> {
    if envelope.data.is_some() || matches!(envelope.status, Status::Ok | Status::Empty) {
        return None;
    }
    let failed = envelope.evidence.iter().find(|evidence| evidence.state == EvidenceState::Failed);
    let Some(evidence) = failed else {
        let message = format!("the server says {} and not why", envelope.status.as_str());
        return Some(Failure::new(ErrorCode::ServerAnswerUnusable, message));
    };
    let code = evidence.code.unwrap_or(ErrorCode::ServerError);
    let failure = Failure::new(code, evidence.message.clone());
    Some(match &evidence.hint {
        Some(hint) => failure.with_hint(hint.clone()),
        None => failure,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(items: &[u32], next: Option<u32>, status: &str) -> Value {
        json!({
            "status": status, "evidence": [{ "check": status }], "warnings": ["may be filtered"],
            "data": { "items": items, "next_offset": next, "limit": 2, "offset": 0 },
        })
    }

    #[test]
    fn pages_become_one_list_that_is_worth_no_more_than_its_worst_page() {
        let mut whole = page(&[1, 2], Some(2), "ok");
        append(&mut whole, page(&[3, 3], Some(4), "partial"));
        append(&mut whole, page(&[5], None, "ok"));
        assert_eq!(
            whole["data"],
            json!({ "items": [1, 2, 3, 3, 5], "next_offset": null, "limit": 5, "offset": 0 })
        );
        assert_eq!((&whole["status"], &whole["warnings"]), (&json!("partial"), &json!(["may be filtered"])));
        assert_eq!(whole["evidence"], json!([{ "check": "ok" }, { "check": "partial" }]));
    }
}
