//! Pages by key: how many items to fetch, from where, and what the next page begins with.

use pegel_api_types::page::{DEFAULT_LIMIT, MAX_LIMIT, Page};
use pegel_api_types::problem::FieldProblem;
use pegel_core::ids::ClusterSlug;
use pegel_service::caller::Caller;
use pegel_service::cursor::Cursors;
use uuid::Uuid;

use crate::app::App;
use crate::problem::Refusal;

/// One page that is asked for. Where it begins is sealed for the caller and the list.
pub(crate) struct Paging<'a> {
    cursors: &'a Cursors,
    caller: &'a Caller,
    list: String,
    after: Option<String>,
    limit: u32,
}

impl<'a> Paging<'a> {
    /// Reads where a page begins; `list` names the list and its filters.
    ///
    /// # Errors
    /// `invalid` for a cursor of another list or caller, or a limit out of range.
    pub(crate) fn begin(
        app: &'a App,
        caller: &'a Caller,
        list: impl Into<String>,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Self, Refusal> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Refusal::of_field(FieldProblem::new(
                "/limit",
                "range",
                "a page has 1 to 1,000 items",
            )));
        }
        let (cursors, list) = (app.service.cursors(), list.into());
        let after = cursor.map(|cursor| cursors.open(caller, &list, cursor)).transpose()?;
        Ok(Self { cursors, caller, list, after, limit })
    }

    /// Returns what the page begins after.
    pub(crate) fn after(&self) -> Option<String> {
        self.after.clone()
    }

    /// Returns the id that the page begins after.
    pub(crate) fn after_id(&self) -> Result<Option<Uuid>, Refusal> {
        let foreign = |_| Refusal::internal("a cursor of ids holds none");
        self.after.as_ref().map(|after| after.parse()).transpose().map_err(foreign)
    }

    /// Returns the cluster that the page begins after.
    pub(crate) fn after_slug(&self) -> Result<Option<ClusterSlug>, Refusal> {
        let foreign = |_| Refusal::internal("a cursor of clusters holds none");
        self.after.as_ref().map(|after| after.parse()).transpose().map_err(foreign)
    }

    /// Returns the number that the page begins after.
    pub(crate) fn after_number(&self) -> Result<Option<i64>, Refusal> {
        let foreign = |_| Refusal::internal("a cursor of numbers holds none");
        self.after.as_ref().map(|after| after.parse()).transpose().map_err(foreign)
    }

    /// Returns how many items to fetch: one more than asked for, to see whether there is a next page.
    pub(crate) fn fetch(&self) -> u32 {
        // At the store's own bound a next page is assumed, and may turn out to be empty.
        self.limit.saturating_add(1).min(MAX_LIMIT)
    }

    /// Makes the page; `position` names what the next one begins after.
    pub(crate) fn finish<T>(
        &self,
        mut items: Vec<T>,
        position: impl FnOnce(&T) -> String,
    ) -> Result<Page<T>, Refusal> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let has_next = items.len() > limit || (self.limit == MAX_LIMIT && items.len() == limit);
        items.truncate(limit);
        let last = items.last().filter(|_| has_next).map(position);
        let next_cursor = last.map(|last| self.cursors.seal(self.caller, &self.list, &last)).transpose()?;
        Ok(Page { items, next_cursor })
    }
}
