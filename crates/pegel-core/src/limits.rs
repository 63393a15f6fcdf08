//! How long a list may be, what a search matches, and how a page is cut out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{Array, Object};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Most entries of one page.
pub const MAX_PAGE_LIMIT: usize = 1_000;
/// Entries of a page when no limit is given.
pub const DEFAULT_PAGE_LIMIT: usize = 100;
/// Longest search text in bytes.
pub const MAX_SEARCH_BYTES: usize = 200;

/// Why a page cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// The limit is 0 or above [`MAX_PAGE_LIMIT`].
    #[error("limit {0} is not within 1 to {MAX_PAGE_LIMIT}")]
    Limit(usize),
    /// The search text is longer than [`MAX_SEARCH_BYTES`].
    #[error("the search text is longer than {MAX_SEARCH_BYTES} bytes")]
    Search,
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    search: Option<String>,
    offset: usize,
    limit: usize,
}

/// A part of a list and where it stands in the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The entries of this page.
    pub items: Vec<T>,
    /// Entries of the whole list, before the search.
    pub total_count: usize,
    /// Entries that match the search.
    pub matched_count: usize,
    /// Place of the first entry of this page among those that match, from 0.
    pub offset: usize,
    /// Most entries this page could hold.
    pub limit: usize,
    /// Offset of the next page, absent on the last one.
    pub next_offset: Option<usize>,
}

impl PageRequest {
    /// Checks what page is wanted; `limit` defaults to [`DEFAULT_PAGE_LIMIT`].
    ///
    /// # Errors
    /// [`LimitError`] when the limit or the search text is out of range.
    pub fn new(search: Option<&str>, offset: usize, limit: Option<usize>) -> Result<Self, LimitError> {
        let limit = limit.unwrap_or(DEFAULT_PAGE_LIMIT);
        if limit == 0 || limit > MAX_PAGE_LIMIT {
            return Err(LimitError::Limit(limit));
        }
        if search.is_some_and(|text| text.len() > MAX_SEARCH_BYTES) {
            return Err(LimitError::Search);
        }
        let search = search.map(str::to_lowercase).filter(|text| !text.is_empty());
        Ok(Self { search, offset, limit })
    }

    /// Asks for everything that matches, however long. For callers in this process
    /// that print or count; nobody outside is offered more than [`MAX_PAGE_LIMIT`].
    ///
    /// # Errors
    /// [`LimitError::Search`] when the search text is too long.
    pub fn whole(search: Option<&str>) -> Result<Self, LimitError> {
        Ok(Self { limit: usize::MAX, ..Self::new(search, 0, None)? })
    }

    /// Returns the place of the first entry wanted.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the most entries wanted.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether a search narrows the list.
    pub fn is_search(&self) -> bool {
        self.search.is_some()
    }

    /// Cuts the page out of a whole list. The search is a substring of any of the
    /// texts of an entry, without regard to case. Search only in what is shown: a
    /// search in hidden values would give them away.
    pub fn cut<T, S: AsRef<str>>(&self, all: Vec<T>, texts: impl Fn(&T) -> Vec<S>) -> Page<T> {
        self.gather(all, |entry, search| {
            texts(entry).iter().any(|text| text.as_ref().to_lowercase().contains(search))
        })
    }

    /// Picks the page out of entries that each have one text, in lower case already.
    pub fn pick<'a, T>(
        &self,
        all: impl IntoIterator<Item = &'a T>,
        lower_text: impl Fn(&T) -> &str,
    ) -> Page<&'a T> {
        self.gather(all, |entry, search| lower_text(entry).contains(search))
    }

    fn gather<T>(&self, all: impl IntoIterator<Item = T>, is_match: impl Fn(&T, &str) -> bool) -> Page<T> {
        let (mut total_count, mut matched_count) = (0, 0);
        let mut items = Vec::new();
        for entry in all {
            total_count += 1;
            if self.search.as_ref().is_some_and(|search| !is_match(&entry, search)) {
                continue;
            }
            if matched_count >= self.offset && items.len() < self.limit {
                items.push(entry);
            }
            matched_count += 1;
        }
        let end = self.offset.saturating_add(items.len());
        let next_offset = (!items.is_empty() && end < matched_count).then_some(end);
        // A list without a limit could hold as much as there is.
        let limit = self.limit.min(total_count.max(MAX_PAGE_LIMIT));
        Page { items, total_count, matched_count, offset: self.offset, limit, next_offset }
    }
}

impl<T> Page<T> {
    /// Turns each entry into something else; the place in the whole stays.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(change).collect(),
            total_count: self.total_count,
            matched_count: self.matched_count,
            offset: self.offset,
            limit: self.limit,
            next_offset: self.next_offset,
        }
    }
}

// By hand, as what is derived for a generic type does not bring its parameter's schema along.
impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        let counts = ["total_count", "matched_count", "offset", "limit"];
        let mut object = Object::builder()
            .description(Some("A part of a list, and where it stands in the whole."))
            .property("items", Array::new(Ref::from_schema_name(T::name())))
            .required("items");
        for count in counts {
            object = object.property(count, usize::schema()).required(count);
        }
        object.property("next_offset", Option::<usize>::schema()).required("next_offset").into()
    }
}

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("ListPage_{}", T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(request: &PageRequest, count: usize) -> Page<String> {
        request.cut((0..count).map(|n| format!("Table_{n}")).collect(), |name| vec![name.clone()])
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let mut seen = Vec::new();
        let mut offset = Some(0);
        while let Some(at) = offset {
            let page = numbers(&PageRequest::new(None, at, Some(7)).unwrap(), 20);
            assert_eq!((page.total_count, page.matched_count), (20, 20));
            seen.extend(page.items);
            offset = page.next_offset;
        }
        assert_eq!(seen.len(), 20);
        assert_eq!(seen.last().unwrap(), "Table_19");
    }

    #[test]
    fn search_ignores_case_and_counts_what_matches() {
        let page = numbers(&PageRequest::new(Some("tABLE_1"), 0, Some(3)).unwrap(), 20);
        assert_eq!((page.total_count, page.matched_count, page.next_offset), (20, 11, Some(3)));
        assert_eq!(page.items, ["Table_1", "Table_10", "Table_11"]);
        let umlaut = PageRequest::new(Some("ÄPFEL"), 0, None).unwrap();
        assert_eq!(umlaut.cut(vec!["rote Äpfel"], |text| vec![*text]).items.len(), 1);
    }

    #[test]
    fn picking_and_cutting_give_the_same_page() {
        let names: Vec<String> = (0..300).map(|n| format!("Table_{n}")).collect();
        let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let request = PageRequest::new(Some("LE_1"), 5, Some(20)).unwrap();
        let cut = request.cut(lower.clone(), |name| vec![name.clone()]);
        assert_eq!(request.pick(&lower, |name| name.as_str()).map(Clone::clone), cut);
        assert_eq!((cut.items.len(), cut.matched_count, cut.total_count), (20, 111, 300));
    }

    #[test]
    fn limits_outside_one_to_a_thousand_are_refused() {
        assert_eq!(PageRequest::new(None, 0, Some(0)), Err(LimitError::Limit(0)));
        assert_eq!(PageRequest::new(None, 0, Some(1_001)), Err(LimitError::Limit(1_001)));
        assert!(PageRequest::new(None, usize::MAX, Some(1_000)).is_ok());
        assert_eq!(PageRequest::new(Some(&"x".repeat(201)), 0, None), Err(LimitError::Search));
        assert_eq!(LimitError::Limit(0).to_string(), "limit 0 is not within 1 to 1000");
    }

    #[test]
    fn whole_list_has_no_next_page() {
        let page = numbers(&PageRequest::whole(None).unwrap(), 2_500);
        assert_eq!((page.items.len(), page.limit, page.next_offset), (2_500, 2_500, None));
        let page = numbers(&PageRequest::whole(Some("table_24")).unwrap(), 2_500);
        assert_eq!((page.items.len(), page.next_offset), (111, None));
    }

    #[test]
    fn offset_beyond_the_end_gives_an_empty_last_page() {
        let page = numbers(&PageRequest::new(None, 50, None).unwrap(), 20);
        assert!(page.items.is_empty() && page.next_offset.is_none());
        assert_eq!(page.matched_count, 20);
    }

    proptest! {
        #[test]
        fn no_page_is_longer_than_its_limit(count in 0..3_000_usize, offset in 0..4_000_usize, limit in 1..=1_000_usize) {
            let page = numbers(&PageRequest::new(None, offset, Some(limit)).unwrap(), count);
            prop_assert_eq!(page.items.len(), count.saturating_sub(offset).min(limit));
            prop_assert_eq!(page.next_offset.is_some(), offset + page.items.len() < count && offset < count);
        }
    }
}
