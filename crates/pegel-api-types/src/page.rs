//! Pages of Pegel's own collections, by key: a page says where the next one begins.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{Array, Object};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// How many items a page has if nobody says.
pub const DEFAULT_LIMIT: u32 = 100;

/// The most items a page may have.
pub const MAX_LIMIT: u32 = 1_000;

/// Asks for a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// `next_cursor` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    /// How many items, 1 to 1,000; 100 if absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
}

/// Says which version of a thing is to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenVersion {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
}

/// A page of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins, to be sent back as it is; null on the last page.
    pub next_cursor: Option<String>,
}

// By hand, as what is derived for a generic type does not bring its parameter's schema along.
impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        Object::builder()
            .description(Some(
                "A page; `next_cursor` is sent back as it is for the next one, null on the last.",
            ))
            .property("items", Array::new(Ref::from_schema_name(T::name())))
            .property("next_cursor", Option::<String>::schema())
            .required("items")
            .required("next_cursor")
            .into()
    }
}

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("Page_{}", T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}
