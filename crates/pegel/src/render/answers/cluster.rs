//! Servers, the connection test and the cluster's configuration.

use pegel_core::envelope::EvidenceState;
use pegel_core::limits::Page;

use crate::render::answers::{counted, next_page, nothing};
use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::render::paper::Paper;
use crate::render::{Evidences, Show};
use pegel_api_types::operations::cluster_config::ConfigValue;
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_api_types::operations::servers::{ServerState, Servers};

impl Show for Servers {
    fn title(&self) -> String {
        format!(
            "Servers: {} of {} tablet servers alive",
            self.tablet_servers_alive_count, self.tablet_servers_registered_count
        )
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let mut grid = Grid::new(&[
            Column::Short("SERVER"),
            Column::Text("ADDRESS"),
            Column::Text("RACK"),
            Column::Short("LISTED"),
            Column::Short("ANSWERS"),
            Column::Number("MS"),
            Column::Short("STATE"),
        ]);
        for server in &self.servers {
            grid.row(vec![
                Cell::text(format!("{} {}", server.role.as_str(), server.id)),
                Cell::text(&server.address),
                server.rack.as_ref().map_or(Cell::Nothing, Cell::text),
                Cell::text(if server.is_in_metadata { "yes" } else { "no" }),
                Cell::text(if server.answers { "yes" } else { "no" }),
                server.latency_ms.map_or(Cell::Unknown, |latency| Cell::Number(format!("{latency:.2}"))),
                Cell::State(match server.state {
                    ServerState::Alive => Mark::Good("ALIVE"),
                    ServerState::NotAnswering => Mark::Bad("NOT_ANSWERING"),
                }),
            ]);
        }
        paper.grid(&grid);
    }

    fn empty(&self) -> String {
        "No server is registered. Start the cluster, then ask again.".to_owned()
    }
}

impl Show for ConnectionTest {
    fn title(&self) -> String {
        format!("Connection test: {}", self.verdict.as_str())
    }

    fn body(&self, envelope: &Evidences<'_>, paper: &mut Paper) {
        let mut grid = Grid::new(&[
            Column::Text("ADDRESS"),
            Column::Short("STEP"),
            Column::Short("RESULT"),
            Column::Number("MS"),
            Column::Text("SEEN"),
        ]);
        for step in envelope.evidence {
            let code = step.code.map_or_else(String::new, |code| format!(" [{code}]"));
            grid.row(vec![
                step.subject.as_ref().map_or(Cell::Nothing, Cell::text),
                Cell::text(step.check.as_ref()),
                Cell::State(match step.state {
                    EvidenceState::Ok => Mark::Good("ok"),
                    EvidenceState::Failed => Mark::Bad("failed"),
                    EvidenceState::Skipped => Mark::Neutral("not tried"),
                }),
                step.duration_ms.map_or(Cell::Nothing, Cell::number),
                Cell::text(format!("{}{code}", step.message)),
            ]);
        }
        paper.grid(&grid);
        paper.blank();
        let registered = self.tablet_servers_registered_count;
        paper.facts(&[
            ("verdict", Some(self.verdict.as_str().to_owned())),
            ("security protocol", Some(self.security_protocol.to_string())),
            ("server version line", self.server_line.as_deref().map(str::to_owned)),
            (
                "tablet servers alive",
                registered.map(|registered| format!("{} of {registered}", self.tablet_servers_alive_count)),
            ),
            (
                "steps",
                Some(format!(
                    "{} ok, {} failed, {} not tried",
                    self.ok_count, self.failed_count, self.skipped_count
                )),
            ),
        ]);
        let mut hints: Vec<&str> = Vec::new();
        for hint in envelope.evidence.iter().filter_map(|step| step.hint.as_deref()) {
            if !hints.contains(&hint) {
                hints.push(hint);
                paper.line(&format!("hint: {hint}"));
            }
        }
    }

    fn empty(&self) -> String {
        "No address was tried.".to_owned()
    }

    fn shows_evidence(&self) -> bool {
        true
    }
}

impl Show for Page<ConfigValue> {
    fn title(&self) -> String {
        let hidden = self.items.iter().filter(|entry| entry.is_redacted).count();
        let hidden = if hidden == 0 { String::new() } else { format!(", {hidden} hidden") };
        format!("Cluster configuration: {}{hidden}", counted(self, "values"))
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let mut grid = Grid::new(&[
            Column::Text("KEY"),
            Column::Text("VALUE"),
            Column::Text("DEFAULT"),
            Column::Short("SOURCE"),
            Column::Short(""),
        ]);
        for entry in &self.items {
            let note = match (entry.is_redacted, entry.differs_from_default) {
                (true, _) => "hidden",
                (false, Some(true)) => "differs",
                (false, _) => "",
            };
            grid.row(vec![
                Cell::text(&entry.key),
                entry.value.as_ref().map_or(Cell::Nothing, Cell::text),
                entry.default_value.as_ref().map_or(Cell::Nothing, Cell::text),
                Cell::text(&entry.source),
                Cell::text(note),
            ]);
        }
        paper.grid(&grid);
    }

    fn empty(&self) -> String {
        nothing(self, "values", "The cluster reports no configuration value.")
    }

    fn note(&self) -> Option<String> {
        next_page(self, "values")
    }
}
