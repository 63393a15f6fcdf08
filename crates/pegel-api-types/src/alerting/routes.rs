//! The way from a firing monitor to people.

use std::collections::BTreeSet;

use pegel_core::monitor::labels::{Labels, check_labels};
use pegel_core::monitor::routing::{Decision, Fate, MAX_ROUTES, Route};
use pegel_core::monitor::severity::Severity;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::problem::{FieldProblem, Problems};

/// The longest name of a route, in characters.
pub const MAX_ROUTE_NAME_CHARS: usize = 256;

/// All routes in the order in which they are looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteList {
    /// The routes; their order is a part of what they mean.
    pub routes: Vec<Route>,
    /// Grows with each change. To change the list, send the one that was seen; another one is a conflict.
    pub version: i64,
}

impl RouteList {
    /// Says what is wrong with the routes.
    ///
    /// # Errors
    /// Every route that breaks a rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        problems.check(self.routes.len() <= MAX_ROUTES, "/routes", "length", "there are at most 500 routes");
        let mut ids = BTreeSet::new();
        for (route, place) in self.routes.iter().zip(0..MAX_ROUTES) {
            let at = |field: &str| format!("/routes/{place}{field}");
            let chars = route.name.chars().count();
            let is_name = !route.name.trim().is_empty() && chars <= MAX_ROUTE_NAME_CHARS;
            problems.check(is_name, at("/name"), "length", "a route's name has 1 to 256 characters");
            problems.check(ids.insert(route.id), at("/id"), "range", "each route has an id of its own");
            if let Err(error) = route.check() {
                problems.check(false, at(""), "value", &error.to_string());
            }
        }
        problems.finish()
    }
}

/// Asks who would be told, without telling anyone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewRoutes {
    /// How bad it would be.
    pub severity: Severity,
    /// The labels it would have.
    #[serde(default)]
    #[schema(value_type = std::collections::HashMap<String, String>)]
    pub labels: Labels,
    /// Routes to try instead of those that are stored, such as ones that are being written.
    #[serde(default)]
    pub routes: Option<Vec<Route>>,
}

impl PreviewRoutes {
    /// Says what is wrong with the labels and the routes to try.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        if let Err(error) = check_labels(&self.labels) {
            problems.check(false, "/labels", "value", &error.to_string());
        }
        problems.finish()?;
        match &self.routes {
            Some(routes) => RouteList { routes: routes.clone(), version: 0 }.validate(),
            None => Ok(()),
        }
    }
}

/// Who would be told, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RoutePreview {
    /// Over which channels, each once, in the order of the routes. Empty if nobody would be told.
    pub channel_ids: Vec<Uuid>,
    /// What would become of each route, in order.
    pub routes: Vec<RouteFate>,
    /// Silences and maintenance windows that would keep people from being told now.
    pub withheld_by: Vec<Uuid>,
}

/// What would become of one route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RouteFate {
    /// The route.
    pub id: Uuid,
    /// What would become of it.
    pub fate: Fate,
}

impl RoutePreview {
    /// Makes the answer of a decision.
    pub fn new(decision: Decision, withheld_by: Vec<Uuid>) -> Self {
        let routes = decision.routes.into_iter().map(|(id, fate)| RouteFate { id, fate }).collect();
        Self { channel_ids: decision.channel_ids, routes, withheld_by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(id: u128, name: &str) -> Route {
        Route {
            id: Uuid::from_u128(id),
            name: name.to_owned(),
            is_enabled: true,
            severities: BTreeSet::from([Severity::High]),
            matchers: Vec::new(),
            channel_ids: vec![Uuid::from_u128(9)],
            is_continued: false,
        }
    }

    #[test]
    fn every_route_that_breaks_a_rule_is_named_by_its_place() {
        let nowhere = Route { channel_ids: Vec::new(), ..route(2, "nowhere") };
        let list = RouteList { routes: vec![route(1, "fine"), nowhere, route(1, " ")], version: 0 };
        let problems = list.validate().unwrap_err();
        let pointers: Vec<_> = problems.iter().map(|problem| problem.pointer.as_ref()).collect();
        assert_eq!(pointers, ["/routes/1", "/routes/2/name", "/routes/2/id"]);
    }

    #[test]
    fn a_preview_checks_the_routes_that_it_is_given() {
        let routes = Some(vec![route(1, "")]);
        let preview = PreviewRoutes { severity: Severity::Low, labels: Labels::new(), routes };
        assert_eq!(preview.validate().unwrap_err().len(), 1);
        let labels = Labels::from([("Bad".to_owned(), String::new())]);
        let preview = PreviewRoutes { severity: Severity::Low, labels, routes: None };
        assert_eq!(preview.validate().unwrap_err()[0].pointer, "/labels");
    }
}
