//! Says whether the audit log is as it was written.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::people::AuditVerification;
use pegel_core::access::permissions::AUDIT_READ;
use pegel_service::policy::permission::AuditRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(
        Method::GET,
        "/audit/verify",
        Access::Needs(&AUDIT_READ),
        "Reads the whole audit log and says whether every row is as it was written.",
    )
    .answers::<AuditVerification>(200, "What was found; a broken log is an answer too.")
    .by(verify_audit)
}

async fn verify_audit(
    State(app): State<App>,
    May(may): May<AuditRead>,
) -> Result<Json<AuditVerification>, Refusal> {
    Ok(Json(app.service.people().verify_audit(&may).await?))
}
