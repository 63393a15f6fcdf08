//! Routes, as one list: their order is a part of what they mean, so they are changed together.

use pegel_core::monitor::routing::{MAX_ROUTES, Route};

use crate::error::Error;
use crate::tx::Tx;
use crate::value::Value;

/// The key under which a change of the list is announced.
pub const RESOURCE_KEY: &str = "routes";

/// The list and its version, which is 0 as long as nobody has written it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteList {
    /// The routes, in order.
    pub routes: Vec<Route>,
    /// Grows with each change.
    pub version: i64,
}

/// Returns the list.
///
/// # Errors
/// As any statement.
pub async fn get(tx: &mut Tx<'_>) -> Result<RouteList, Error> {
    let version = tx.fetch_one("SELECT version FROM route_list WHERE id = 1", &[]).await?.int("version")?;
    let rows = tx.fetch_all("SELECT definition FROM route ORDER BY position LIMIT 1000", &[]).await?;
    let routes = rows.iter().map(|row| row.json("definition")).collect::<Result<_, _>>()?;
    Ok(RouteList { routes, version })
}

/// Writes the whole list if nobody has written it since `version`; returns the new version.
///
/// # Errors
/// `conflict` if someone has or two routes have one id, `too_large`.
pub async fn replace(tx: &mut Tx<'_>, version: i64, routes: &[Route]) -> Result<i64, Error> {
    if routes.len() > MAX_ROUTES {
        return Err(Error::TooLarge { what: "the count of routes", limit: MAX_ROUTES });
    }
    let sql = "UPDATE route_list SET version = version + 1 WHERE id = 1 AND version = $1";
    if tx.execute(sql, &[version.into()]).await? == 0 {
        return Err(Error::conflict("the list of", "routes"));
    }
    tx.execute("DELETE FROM route", &[]).await?;
    let sql = "INSERT INTO route (id, position, definition) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    for (route, position) in routes.iter().zip(0i64..) {
        let values = [route.id.into(), position.into(), Value::json(route)?];
        if tx.execute(sql, &values).await? == 0 {
            return Err(Error::conflict("route", route.id));
        }
    }
    tx.announce_version(RESOURCE_KEY, version + 1);
    Ok(version + 1)
}
