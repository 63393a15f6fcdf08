//! Lists the operations on a cluster with what holds for each, so that forms can be made of the list.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::operation::{Meta, Operation};
use pegel_api_types::operation_schema::{OperationSchema, Operations};
use pegel_core::access::permissions::CLUSTERS_READ;
use pegel_service::policy::permission::ClustersRead;
use pegel_service::policy::{Authorized, may_in_part};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::MayInCluster;
use crate::endpoint::{Access, Draft, Endpoint, NamedSchema};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/clusters/{cluster}/operations/schema",
        Access::Needs(&CLUSTERS_READ),
        "Lists the operations on a cluster: what each needs and does, and the schema of its input.",
    )
    .answers::<Operations>(200, "The operations; those that the caller may not use have no schema.")
    .by(list_operations)
}

async fn list_operations(
    State(app): State<App>,
    MayInCluster(may): MayInCluster<ClustersRead>,
) -> Result<Json<Operations>, Refusal> {
    // Who may see any cluster still does not see one that is not there.
    app.service.clusters().get(&may).await?;
    let mut items = Vec::new();
    macro_rules! add {
        ($($operation:ty),* $(,)?) => { $(items.push(entry::<$operation>(&may));)* };
    }
    pegel_api_types::for_each_operation!(add);
    Ok(Json(Operations { items }))
}

fn entry<O: Operation>(may: &Authorized<ClustersRead>) -> OperationSchema {
    let Meta { id, route, summary, permission, risk, phrase, cooldown, is_list } = O::META;
    let is_allowed = may_in_part(may, permission);
    OperationSchema {
        id: id.into(),
        route: route.into(),
        summary: summary.into(),
        permission: permission.name.into(),
        minimum_role: permission.minimum_role,
        is_allowed,
        risk,
        phrase: phrase.map(Into::into),
        cooldown,
        is_list,
        input: is_allowed.then(json_schema::<O::Input>),
    }
}

/// Returns the JSON Schema of a type, with everything it refers to inside.
fn json_schema<T: ToSchema>() -> Value {
    let mut named: Vec<NamedSchema> = Vec::new();
    T::schemas(&mut named);
    let definitions: serde_json::Map<String, Value> =
        named.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
    let mut schema = json!(T::schema());
    if let Value::Object(object) = &mut schema {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        if !definitions.is_empty() {
            object.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    lead_inside(&mut schema);
    schema
}

/// Makes references lead into the schema itself instead of the OpenAPI document.
fn lead_inside(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                match inner {
                    Value::String(place) if key == "$ref" => {
                        *place = place.replace("#/components/schemas/", "#/$defs/");
                    }
                    inner => lead_inside(inner),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(lead_inside),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_stands_by_itself() {
        macro_rules! check {
            ($($operation:ty),* $(,)?) => { $(
                let schema = json_schema::<<$operation as Operation>::Input>();
                let text = schema.to_string();
                assert_eq!(schema["type"], "object", "{text}");
                assert!(!text.contains("#/components"), "{text}");
                for part in text.split("\"$ref\":\"#").skip(1) {
                    let pointer = part.split('"').next().unwrap();
                    assert!(schema.pointer(pointer).is_some(), "{pointer} is not in {text}");
                }
            )* };
        }
        pegel_api_types::for_each_operation!(check);
    }
}
