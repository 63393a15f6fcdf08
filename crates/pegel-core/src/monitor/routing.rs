//! Who is told: routes by severity and labels, in order.
//!
//! What [`decide`] returns says for every route why it was taken or not, so that a dry run is the very
//! same function.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::monitor::labels::{LabelError, Labels, Matcher, check_matchers, first_mismatch};
use crate::monitor::severity::Severity;

/// The most routes there may be.
pub const MAX_ROUTES: usize = 500;

/// The most channels of one route.
pub const MAX_CHANNELS: usize = 32;

/// A way to the people who are to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Its id.
    pub id: Uuid,
    /// The name shown.
    pub name: String,
    /// Whether it is in use.
    pub is_enabled: bool,
    /// For which severities.
    pub severities: BTreeSet<Severity>,
    /// For which labels; all must match, and none matches everything.
    pub matchers: Vec<Matcher>,
    /// Over which channels.
    pub channel_ids: Vec<Uuid>,
    /// Whether the routes after it are still looked at when it is taken.
    pub is_continued: bool,
}

/// Why a route is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// It is for no severity.
    #[error("a route needs at least one severity")]
    NoSeverity,
    /// It leads nowhere.
    #[error("a route needs 1 to {MAX_CHANNELS} channels")]
    Channels,
    /// A matcher is not as matchers are.
    #[error(transparent)]
    Label(#[from] LabelError),
}

impl Route {
    /// Checks what somebody wrote.
    ///
    /// # Errors
    /// It is for nothing, or leads nowhere.
    pub fn check(&self) -> Result<(), RouteError> {
        if self.severities.is_empty() {
            return Err(RouteError::NoSeverity);
        }
        if self.channel_ids.is_empty() || self.channel_ids.len() > MAX_CHANNELS {
            return Err(RouteError::Channels);
        }
        check_matchers(&self.matchers)?;
        Ok(())
    }
}

/// What became of one route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was taken.
    Taken,
    /// Somebody has switched it off.
    Disabled,
    /// It is not for this severity.
    OtherSeverity,
    /// It is not for these labels.
    OtherLabels(Matcher),
    /// A route before it was taken and ended the search.
    NotReached,
}

/// Who is told, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Decision {
    /// Over which channels, each once, in the order of the routes. Empty if nobody is told.
    pub channel_ids: Vec<Uuid>,
    /// What became of each route, in order.
    pub routes: Vec<(Uuid, Fate)>,
}

/// Decides who is told of something this bad with these labels.
pub fn decide(routes: &[Route], severity: Severity, labels: &Labels) -> Decision {
    let mut decision = Decision::default();
    let mut is_over = false;
    for route in routes {
        let fate = fate(route, severity, labels, is_over);
        if fate == Fate::Taken {
            for id in &route.channel_ids {
                if !decision.channel_ids.contains(id) {
                    decision.channel_ids.push(*id);
                }
            }
            is_over = !route.is_continued;
        }
        decision.routes.push((route.id, fate));
    }
    decision
}

fn fate(route: &Route, severity: Severity, labels: &Labels, is_over: bool) -> Fate {
    if is_over {
        Fate::NotReached
    } else if !route.is_enabled {
        Fate::Disabled
    } else if !route.severities.contains(&severity) {
        Fate::OtherSeverity
    } else {
        first_mismatch(&route.matchers, labels)
            .map_or(Fate::Taken, |matcher| Fate::OtherLabels(matcher.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::labels::Operator;

    const PAGER: u128 = 1;
    const CHAT: u128 = 2;
    const MAIL: u128 = 3;

    fn route(id: u128, severity: Severity, channels: &[u128]) -> Route {
        Route {
            id: Uuid::from_u128(id),
            name: format!("route {id}"),
            is_enabled: true,
            severities: BTreeSet::from([severity]),
            matchers: Vec::new(),
            channel_ids: channels.iter().copied().map(Uuid::from_u128).collect(),
            is_continued: false,
        }
    }

    fn channels(decision: &Decision) -> Vec<u128> {
        decision.channel_ids.iter().map(Uuid::as_u128).collect()
    }

    #[test]
    fn severities_go_to_pager_chat_and_mail() {
        let routes = [
            route(10, Severity::Critical, &[PAGER, CHAT]),
            route(11, Severity::High, &[CHAT]),
            route(12, Severity::Medium, &[MAIL]),
        ];
        let told = |severity| channels(&decide(&routes, severity, &Labels::new()));
        assert_eq!(told(Severity::Critical), [PAGER, CHAT]);
        assert_eq!(told(Severity::High), [CHAT]);
        assert_eq!(told(Severity::Medium), [MAIL]);
        assert_eq!(told(Severity::Low), [0; 0]);
    }

    #[test]
    fn the_decision_says_what_became_of_each_route() {
        let mut routes = [1, 2, 3, 4, 5].map(|id| route(id, Severity::High, &[CHAT]));
        routes[0].is_enabled = false;
        routes[1].severities = BTreeSet::from([Severity::Low]);
        let team = Matcher { label: "team".into(), operator: Operator::In, values: vec!["data".into()] };
        routes[2].matchers = vec![team.clone()];
        let fates: Vec<Fate> = decide(&routes, Severity::High, &Labels::new())
            .routes
            .into_iter()
            .map(|(_, fate)| fate)
            .collect();
        assert_eq!(
            fates,
            [Fate::Disabled, Fate::OtherSeverity, Fate::OtherLabels(team), Fate::Taken, Fate::NotReached]
        );
    }

    #[test]
    fn a_route_that_continues_adds_and_nobody_is_told_twice() {
        let mut routes = [route(1, Severity::High, &[CHAT, MAIL]), route(2, Severity::High, &[MAIL, PAGER])];
        routes[0].is_continued = true;
        assert_eq!(channels(&decide(&routes, Severity::High, &Labels::new())), [CHAT, MAIL, PAGER]);
    }

    #[test]
    fn routes_that_are_for_nothing_or_lead_nowhere_are_refused() {
        assert_eq!(route(1, Severity::Low, &[CHAT]).check(), Ok(()));
        assert_eq!(route(1, Severity::Low, &[]).check(), Err(RouteError::Channels));
        let nothing = Route { severities: BTreeSet::new(), ..route(1, Severity::Low, &[CHAT]) };
        assert_eq!(nothing.check(), Err(RouteError::NoSeverity));
    }
}
