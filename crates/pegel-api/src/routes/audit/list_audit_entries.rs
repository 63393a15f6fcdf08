//! Lists audit rows, the newest first.

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use pegel_api_types::page::Page;
use pegel_api_types::people::{AuditEntryView, ListAudit};
use pegel_core::access::permissions::AUDIT_READ;
use pegel_service::people::AuditFilter;
use pegel_service::policy::permission::AuditRead;

use crate::app::App;
use crate::auth::May;
use crate::endpoint::{Access, Draft, Endpoint};
use crate::input::Params;
use crate::paging::Paging;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/audit", Access::Needs(&AUDIT_READ), "Lists audit rows, the newest first.")
        .query::<ListAudit>()
        .answers::<Page<AuditEntryView>>(200, "The rows.")
        .by(list_audit_entries)
}

async fn list_audit_entries(
    State(app): State<App>,
    May(may): May<AuditRead>,
    Params(query): Params<ListAudit>,
) -> Result<Json<Page<AuditEntryView>>, Refusal> {
    let ListAudit { principal_id, action, target, from, until, before, limit } = query;
    let filter = AuditFilter { principal_id, action, target, from, until };
    let paging = Paging::begin(&app, may.caller(), format!("audit {filter:?}"), before.as_deref(), limit)?;
    let rows = app.service.people().list_audit(&may, filter, paging.after_number()?, paging.fetch()).await?;
    paging.finish(rows, |row| row.seq.to_string()).map(Json)
}
