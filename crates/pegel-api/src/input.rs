//! What a request brings, read with bounds: names in the path, the query, a JSON body.
//!
//! A handler can read only what its route declared ([`Declared`]), so that the OpenAPI document cannot leave
//! anything out. What is wrong is told by the field's place and rule; a value is never repeated.

mod objects;

use std::any::TypeId;
use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use http_body_util::LengthLimitError;
use pegel_api_types::problem::FieldProblem;
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::PartialSchema;
use utoipa::openapi::schema::{ArrayItems, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use uuid::Uuid;

use crate::app::App;
use crate::input::objects::Objects;
use crate::origin::is_json;
use crate::problem::Refusal;

/// The longest rule that is told, in characters.
const MAX_RULE_CHARS: usize = 500;

/// What a route says it reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    query: Option<(TypeId, Arc<BTreeMap<String, Kind>>)>,
    body: Option<TypeId>,
}

impl Declared {
    /// Declares the query.
    pub(crate) fn query<T: PartialSchema + 'static>(&mut self) {
        self.query = Some((TypeId::of::<T>(), Arc::new(kinds_of(&T::schema()))));
    }

    /// Declares the body.
    pub(crate) fn body<T: 'static>(&mut self) {
        self.body = Some(TypeId::of::<T>());
    }
}

/// How the text of a parameter becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Boolean,
    List(Box<Self>),
}

/// The names in the path.
pub(crate) struct Names(Vec<(String, String)>);

impl Names {
    /// Returns an id.
    ///
    /// # Errors
    /// `not_found` for what is no id, as nothing has such a name.
    pub(crate) fn id(&self, name: &str) -> Result<Uuid, Refusal> {
        self.get(name)?.parse().map_err(|_| Refusal::not_found("what the path names"))
    }

    /// Returns the cluster.
    ///
    /// # Errors
    /// `not_found` for what is no slug.
    pub(crate) fn cluster(&self) -> Result<ClusterSlug, Refusal> {
        self.get("cluster")?.parse().map_err(|_| Refusal::not_found("the cluster"))
    }

    /// Returns what stands there, whatever it is; nothing where the path has no such part.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).ok()
    }

    fn get(&self, name: &str) -> Result<&str, Refusal> {
        let found = self.0.iter().find(|(own, _)| own == name);
        let missing = || Refusal::internal(format!("the path has no {name}"));
        found.map(|(_, value)| value.as_str()).ok_or_else(missing)
    }
}

impl FromRequestParts<App> for Names {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let names = RawPathParams::from_request_parts(parts, app).await;
        let names = names.map_err(|_| Refusal::not_found("what the path names"))?;
        Ok(Self(names.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()))
    }
}

/// The query.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequestParts<App> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Refusal> {
        let declared = parts.extensions.get::<Declared>().and_then(|declared| declared.query.as_ref());
        let kinds = match declared {
            Some((id, kinds)) if *id == TypeId::of::<T>() => kinds,
            _ => return Err(Refusal::internal("a handler reads a query that its route does not declare")),
        };
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| Refusal::new(ErrorCode::Invalid, "the query is malformed"))?;
        read(json_of(pairs.0, kinds)?).map(Self)
    }
}

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned + 'static> FromRequest<App> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let declared = request.extensions().get::<Declared>().and_then(|declared| declared.body);
        if declared != Some(TypeId::of::<T>()) {
            return Err(Refusal::internal("a handler reads a body that its route does not declare"));
        }
        if !is_json(request.headers()) {
            return Err(Refusal::of(ErrorCode::UnsupportedMediaType));
        }
        let bytes = body_of(request, app).await?;
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let body = serde_path_to_error::deserialize(Objects(&mut json)).map_err(field_refusal)?;
        json.end().map_err(|_| Refusal::new(ErrorCode::Invalid, "the body goes on after its end"))?;
        Ok(Self(body))
    }
}

async fn body_of(request: Request, app: &App) -> Result<Bytes, Refusal> {
    let limit = app.settings.max_body_bytes;
    let too_large =
        || Refusal::new(ErrorCode::BodyTooLarge, format!("a body may have {limit} bytes at most"));
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if announced.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let read = axum::body::to_bytes(request.into_body(), limit);
    match tokio::time::timeout(app.settings.body_timeout, read).await {
        Err(_) => Err(Refusal::of(ErrorCode::BodyTimeout)),
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.source().is_some_and(|source| source.is::<LengthLimitError>()) => {
            Err(too_large())
        }
        Ok(Err(_)) => Err(Refusal::new(ErrorCode::Invalid, "the body ended early")),
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_path_to_error::deserialize(Objects(value)).map_err(field_refusal)
}

/// Names the field that cannot be read and the rule it breaks.
fn field_refusal(error: serde_path_to_error::Error<serde_json::Error>) -> Refusal {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in error.path() {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Unknown => {}
        }
    }
    let error = error.into_inner();
    if !error.is_data() {
        let detail = format!("the body is not JSON: line {}, column {}", error.line(), error.column());
        return Refusal::new(ErrorCode::Invalid, detail);
    }
    let text = error.to_string();
    // What serde_json adds about the place means nothing to who wrote a query.
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let missing = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(field) = missing {
        pointer.push('/');
        pointer.push_str(field);
    }
    let code = if missing.is_some() { "missing" } else { "type" };
    Refusal::of_field(FieldProblem::new(pointer, code, rule_of(text)))
}

/// Takes the value out of what serde says, as it may be a secret.
fn rule_of(text: &str) -> String {
    const QUOTING: [&str; 5] =
        ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant ", "duplicate field "];
    let is_quoting = QUOTING.iter().any(|start| text.starts_with(start));
    match text.rfind("expected ").and_then(|place| text.get(place..)) {
        Some(rule) if is_quoting => in_json_words(rule).to_owned(),
        // An unknown name may be as long as a body.
        _ => text.chars().take(MAX_RULE_CHARS).collect(),
    }
}

/// Says in words of JSON what a type of the source is.
fn in_json_words(rule: &str) -> &str {
    match rule {
        "expected u8" | "expected u16" | "expected u32" | "expected u64" | "expected usize" => {
            "expected a whole number, not below zero and not too large"
        }
        "expected i8" | "expected i16" | "expected i32" | "expected i64" => {
            "expected a whole number that is not too large"
        }
        "expected a sequence" => "expected a list",
        "expected a map" => "expected an object",
        _ if rule.starts_with("expected struct ") => "expected an object",
        _ => rule,
    }
}

/// Makes a JSON object of a query's pairs.
fn json_of(pairs: Vec<(String, String)>, kinds: &BTreeMap<String, Kind>) -> Result<Value, Refusal> {
    let mut object = Map::new();
    for (name, text) in pairs {
        match kinds.get(&name) {
            Some(Kind::List(item)) => {
                let value = value_of(text, item);
                let list = object.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(value);
                }
            }
            kind => {
                if object.contains_key(&name) {
                    let rule = "a parameter is given once";
                    return Err(Refusal::of_field(FieldProblem::new(format!("/{name}"), "type", rule)));
                }
                let value = value_of(text, kind.unwrap_or(&Kind::Text));
                object.insert(name, value);
            }
        }
    }
    Ok(Value::Object(object))
}

/// Returns a parameter as JSON; what is not of its kind stays a text, so that the type refuses it.
fn value_of(text: String, kind: &Kind) -> Value {
    let read = match kind {
        Kind::Text | Kind::List(_) => None,
        Kind::Number => text.parse::<serde_json::Number>().ok().map(Value::Number),
        Kind::Boolean => text.parse().ok().map(Value::Bool),
    };
    read.unwrap_or(Value::String(text))
}

fn kinds_of(schema: &RefOr<Schema>) -> BTreeMap<String, Kind> {
    let RefOr::T(Schema::Object(object)) = schema else { return BTreeMap::new() };
    object.properties.iter().map(|(name, property)| (name.clone(), kind_of(property))).collect()
}

fn kind_of(schema: &RefOr<Schema>) -> Kind {
    let has = |types: &SchemaType, asked: Type| match types {
        SchemaType::Type(own) => *own == asked,
        SchemaType::Array(several) => several.contains(&asked),
        SchemaType::AnyValue => false,
    };
    match schema {
        RefOr::T(Schema::Array(array)) => Kind::List(Box::new(match &array.items {
            ArrayItems::RefOrSchema(item) => kind_of(item),
            ArrayItems::False => Kind::Text,
        })),
        RefOr::T(Schema::Object(object)) if has(&object.schema_type, Type::String) => Kind::Text,
        RefOr::T(Schema::Object(object))
            if has(&object.schema_type, Type::Integer) || has(&object.schema_type, Type::Number) =>
        {
            Kind::Number
        }
        RefOr::T(Schema::Object(object)) if has(&object.schema_type, Type::Boolean) => Kind::Boolean,
        _ => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use utoipa::ToSchema;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        is_open: bool,
        #[serde(default)]
        search: Option<String>,
        #[serde(default)]
        buckets: Vec<i32>,
        database: String,
    }

    fn asked(pairs: &[(&str, &str)]) -> Result<Asked, FieldProblem> {
        let pairs = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let problem = |refusal: Refusal| refusal.errors()[0].clone();
        json_of(pairs, &kinds_of(&Asked::schema())).and_then(read).map_err(problem)
    }

    #[test]
    fn parameters_become_what_their_type_says() {
        let pairs = [
            ("database", "12"),
            ("limit", "7"),
            ("is_open", "true"),
            ("search", "true"),
            ("buckets", "1"),
            ("buckets", "2"),
        ];
        let expected = Asked {
            limit: Some(7),
            is_open: true,
            search: Some("true".to_owned()),
            buckets: vec![1, 2],
            database: "12".to_owned(),
        };
        assert_eq!(asked(&pairs), Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_named_by_place_and_rule_and_never_by_value() {
        let check = |pairs: &[(&str, &str)], pointer: &str, code: &str| {
            let problem = asked(pairs).unwrap_err();
            assert_eq!((problem.pointer.as_ref(), problem.code.as_ref()), (pointer, code), "{problem:?}");
            assert!(!problem.detail.contains("hunter2"), "{problem:?}");
        };
        check(&[], "/database", "missing");
        check(&[("database", "a"), ("limit", "hunter2")], "/limit", "type");
        check(&[("database", "a"), ("limit", "-1")], "/limit", "type");
        check(&[("database", "a"), ("limit", "1.5")], "/limit", "type");
        check(&[("database", "a"), ("limit", "")], "/limit", "type");
        check(&[("database", "a"), ("is_open", "hunter2")], "/is_open", "type");
        check(&[("database", "a"), ("buckets", "1"), ("buckets", "hunter2")], "/buckets/1", "type");
        check(&[("database", "a"), ("database", "hunter2")], "/database", "type");
        let long = asked(&[("database", "a"), (&"n".repeat(100_000), "")]).unwrap_err();
        assert_eq!(long.detail.len(), MAX_RULE_CHARS);
        let number = asked(&[("database", "a"), ("limit", "-1")]).unwrap_err();
        assert_eq!(number.detail, "expected a whole number, not below zero and not too large");
        let unknown = asked(&[("database", "a"), ("databse", "x")]).unwrap_err();
        assert!(unknown.detail.contains("unknown field `databse`"), "{unknown:?}");
    }
}
