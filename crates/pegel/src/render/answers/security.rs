//! Access-control entries.

use pegel_core::limits::Page;

use crate::render::answers::{counted, next_page, nothing};
use crate::render::grid::{Cell, Column, Grid};
use crate::render::paper::Paper;
use crate::render::{Evidences, Show};
use pegel_api_types::operations::acls::Acl;

impl Show for Page<Acl> {
    fn title(&self) -> String {
        counted(self, "access-control entries")
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let mut grid = Grid::new(&[
            Column::Text("PRINCIPAL"),
            Column::Text("RESOURCE"),
            Column::Short("OPERATION"),
            Column::Text("HOST"),
            Column::Short("PERMISSION"),
        ]);
        for acl in &self.items {
            grid.row(vec![
                Cell::text(format!("{}:{}", acl.principal_type, acl.principal_name)),
                Cell::text(format!("{} {}", acl.resource_type, acl.resource_name)),
                Cell::text(&acl.operation),
                Cell::text(&acl.host),
                Cell::text(&acl.permission),
            ]);
        }
        paper.grid(&grid);
    }

    fn empty(&self) -> String {
        let none = "No access-control entry matches. Only superusers may do anything that needs a right.";
        nothing(self, "entries", none)
    }

    fn note(&self) -> Option<String> {
        next_page(self, "entries")
    }
}
