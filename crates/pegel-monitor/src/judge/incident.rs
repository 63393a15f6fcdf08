//! Keeps the incidents that a step opens, changes and closes, and their story.

use pegel_core::monitor::verdict::Effect;
use pegel_store::error::Error;
use pegel_store::incidents;
use pegel_store::monitors::{Monitor, MonitorState};
use pegel_store::tx::Tx;
use serde_json::json;

use crate::judge::Withheld;
use crate::judge::simulate::After;

/// Keeps what the effects say of incidents, in their order.
pub(super) async fn keep(
    tx: &mut Tx<'_>,
    monitor: &Monitor,
    stored: &MonitorState,
    after: &After,
    actor: &str,
    withheld: Option<&Withheld>,
) -> Result<(), Error> {
    for effect in &after.effects {
        match effect {
            Effect::Opened(firing) => {
                incidents::open(tx, monitor, firing).await?;
                let detail = json!({ "severity": firing.severity, "cause": firing.cause, "since": firing.since,
                    "evidence": after.evidence });
                incidents::note(tx, firing.id, "opened", "", &detail).await?;
                if let Some(withheld) = withheld {
                    let detail = json!({ "quiet_time_id": withheld.quiet_time_id, "until": withheld.until });
                    incidents::note(tx, firing.id, "withheld", "", &detail).await?;
                }
            }
            Effect::FlappingBegan(id) => incidents::note(tx, *id, "flapping", "", &json!({})).await?,
            Effect::FlappingEnded(id) => incidents::note(tx, *id, "calm", "", &json!({})).await?,
            Effect::Closed { firing, ended_at, ending } => {
                incidents::close(tx, firing, *ended_at, *ending).await?;
                let detail = json!({ "ending": ending, "ended_at": ended_at });
                incidents::note(tx, firing.id, "closed", actor, &detail).await?;
            }
            Effect::Notify { .. } => {}
        }
    }
    let Some(firing) = &after.verdict.firing else { return Ok(()) };
    let before = stored.verdict.firing.as_ref().filter(|before| before.id == firing.id);
    let marks = (firing.announced_at, firing.acknowledged_at);
    if before.map_or((None, None), |before| (before.announced_at, before.acknowledged_at)) != marks {
        incidents::mark(tx, firing).await?;
    }
    if firing.acknowledged_at.is_some() && before.is_some_and(|before| before.acknowledged_at.is_none()) {
        incidents::note(tx, firing.id, "acknowledged", actor, &json!({})).await?;
    }
    Ok(())
}
