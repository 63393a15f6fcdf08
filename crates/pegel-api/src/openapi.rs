//! The OpenAPI document, made of the same declarations as the routes.

use std::collections::BTreeMap;

use pegel_api_types::problem::Problem;
use pegel_core::ids::ClusterSlug;
use utoipa::ToSchema;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Info, License, OpenApi, Paths, RefOr, Schema};

use crate::endpoint::{Endpoint, NamedSchema, SESSION_SCHEME, TOKEN_SCHEME, problem_responses};
use crate::routes;

/// Returns the document of all routes.
pub fn openapi() -> OpenApi {
    document(routes::endpoints())
}

fn document(endpoints: Vec<Endpoint>) -> OpenApi {
    let mut paths = Paths::new();
    let mut schemas = Vec::new();
    add::<Problem>(&mut schemas);
    add::<ClusterSlug>(&mut schemas);
    for endpoint in endpoints {
        let path = endpoint.document_path();
        schemas.extend(endpoint.schemas);
        let item = PathItem::new(endpoint.method, endpoint.operation);
        match paths.paths.get_mut(&path) {
            Some(known) => known.merge_operations(item),
            None => {
                paths.paths.insert(path, item);
            }
        }
    }
    let named: BTreeMap<String, RefOr<Schema>> = schemas.into_iter().collect();
    let mut components = Components::builder();
    for (name, schema) in named {
        components = components.schema(name, schema);
    }
    for (name, response) in problem_responses() {
        components = components.response(name, response);
    }
    let session = ApiKeyValue::with_description(
        "pegel_session",
        "Of `POST /api/v1/session`; `__Host-pegel_session` where the public URL has TLS. Unsafe methods also need \
         an `Origin` of Pegel's own, or `Sec-Fetch-Site: same-origin`, and `Content-Type: application/json`.",
    );
    let token = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An access token of `POST /api/v1/account/tokens`: `pgl_…`."));
    let components = components
        .security_scheme(SESSION_SCHEME, SecurityScheme::ApiKey(ApiKey::Cookie(session)))
        .security_scheme(TOKEN_SCHEME, SecurityScheme::Http(token.build()));
    let mut info = Info::new("Pegel", "1");
    info.description = Some(
        "Console, monitor and alert engine for Apache Fluss. Everything but the routes without `security` needs a \
         session or an access token. `x-pegel-permission` names what a grant has to match, `x-pegel-audited` the \
         action of the audit row."
            .to_owned(),
    );
    info.license = Some(License::builder().name("Apache-2.0").identifier(Some("Apache-2.0")).build());
    OpenApi::builder().info(info).paths(paths).components(Some(components.build())).build()
}

fn add<T: ToSchema>(schemas: &mut Vec<NamedSchema>) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn one_name_is_one_schema() {
        let mut known: BTreeMap<String, String> = BTreeMap::new();
        for endpoint in routes::endpoints() {
            for (name, schema) in endpoint.schemas {
                let schema = serde_json::to_string(&schema).unwrap();
                let before = known.entry(name.clone()).or_insert_with(|| schema.clone());
                assert_eq!(*before, schema, "two types are called {name}");
            }
        }
    }

    #[test]
    fn every_route_is_in_the_document_under_its_own_id() {
        let endpoints = routes::endpoints();
        let count = endpoints.len();
        let ids: BTreeSet<_> =
            endpoints.iter().map(|endpoint| endpoint.operation.operation_id.clone().unwrap()).collect();
        assert_eq!(ids.len(), count, "two routes have one id");
        for id in &ids {
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(id.contains('_') && id.chars().all(is_plain), "{id} is not <verb>_<resource>");
        }
        let document = serde_json::to_value(openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let written: usize = paths.values().map(|item| item.as_object().unwrap().len()).sum();
        assert_eq!(written, count);
    }

    /// Brings the keys of every object into one order: extensions come in any.
    fn sorted(value: Value) -> Value {
        match value {
            Value::Object(object) => {
                let sorted: BTreeMap<String, Value> =
                    object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
                Value::Object(sorted.into_iter().collect())
            }
            Value::Array(list) => list.into_iter().map(sorted).collect(),
            other => other,
        }
    }

    #[test]
    fn the_committed_document_is_the_generated_one() {
        let document = sorted(serde_json::to_value(openapi()).unwrap());
        let generated = serde_json::to_string_pretty(&document).unwrap() + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");
        if std::env::var_os("PEGEL_UPDATE").is_some() {
            std::fs::write(path, &generated).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == generated,
            "openapi.json is out of date: PEGEL_UPDATE=1 cargo test -p pegel-api"
        );
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = serde_json::to_string(&openapi()).unwrap();
        let parsed: Value = serde_json::from_str(&document).unwrap();
        for part in document.split("\"$ref\":\"#").skip(1) {
            let pointer = part.split('"').next().unwrap();
            assert!(parsed.pointer(pointer).is_some(), "{pointer} is not there");
        }
    }
}
