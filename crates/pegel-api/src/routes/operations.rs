//! Operations on a cluster: every [`Operation`] there is, each by GET and by POST, and the list of them.

mod list_operations;

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::operation::{Operation, Risk};
use pegel_core::envelope::Envelope;
use pegel_service::catalog::Execute;

use crate::app::App;
use crate::auth::CurrentCaller;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::{JsonBody, Names, Params};
use crate::problem::Refusal;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = vec![list_operations::endpoint()];
    macro_rules! add {
        ($($operation:ty),* $(,)?) => { $(endpoints.extend(routes_of::<$operation>());)* };
    }
    pegel_api_types::for_each_operation!(add);
    endpoints
}

/// Returns the routes of an operation: a read by GET with a query, and everything by POST with a body.
fn routes_of<O: Execute>() -> Vec<Endpoint> {
    let meta = O::META;
    let post = draft::<O>(Method::POST)
        .id(if meta.risk == Risk::Read { format!("{}_by_body", meta.id) } else { meta.id.to_owned() })
        .body::<O::Input>()
        .by(run_by_body::<O>);
    let mut endpoints = vec![post];
    if meta.risk == Risk::Read {
        let get = draft::<O>(Method::GET).id(meta.id.to_owned()).query::<O::Input>().by(run_by_query::<O>);
        endpoints.push(get);
    }
    endpoints
}

fn draft<O: Operation>(method: Method) -> Draft {
    let meta = O::META;
    let path = format!("/clusters/{{cluster}}/{}", meta.route);
    Draft::api(method, path, Access::Needs(meta.permission), meta.summary)
        .answers::<Envelope<O::Output>>(200, "The answer of the cluster; `status` says what it is worth.")
        .extension("x-pegel-operation", meta.id)
        .extension("x-pegel-risk", serde_json::json!(meta.risk))
        .refuses(&[400, 404])
}

async fn run_by_query<O: Execute>(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
    names: Names,
    Params(input): Params<O::Input>,
) -> Result<Json<Envelope<O::Output>>, Refusal> {
    Ok(Json(app.service.run::<O>(&caller, &names.cluster()?, input).await?))
}

async fn run_by_body<O: Execute>(
    State(app): State<App>,
    CurrentCaller(caller): CurrentCaller,
    names: Names,
    JsonBody(input): JsonBody<O::Input>,
) -> Result<Json<Envelope<O::Output>>, Refusal> {
    Ok(Json(app.service.run::<O>(&caller, &names.cluster()?, input).await?))
}
