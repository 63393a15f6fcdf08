//! The request budgets of clusters: one for each, whoever asks it.
//!
//! The test of a connection and the first look at the cluster that is then registered are made by clients of
//! their own, and so are the looks at a cluster that is registered twice. They take their shares of one budget
//! where they have a bootstrap address in common.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use fluss_client::bootstrap::HostPort;
use fluss_client::budget::RequestBudget;
use fluss_client::client::FlussClient;

/// All budgets that somebody uses, or has used a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Budgets(Mutex<Vec<Cluster>>);

#[derive(Debug)]
struct Cluster {
    addresses: BTreeSet<HostPort>,
    budget: Arc<RequestBudget>,
}

impl Cluster {
    fn is_used(&self) -> bool {
        Arc::strong_count(&self.budget) > 1 || !self.budget.is_full()
    }
}

impl Budgets {
    /// Returns a handle on the client that keeps to its cluster's budget.
    pub(crate) fn pace(&self, client: &FlussClient) -> FlussClient {
        client.paced_by(self.of(client.settings().bootstrap().addresses()))
    }

    fn of(&self, addresses: &[HostPort]) -> Arc<RequestBudget> {
        let mut clusters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clusters.retain(Cluster::is_used);
        let is_known = |cluster: &&mut Cluster| addresses.iter().any(|one| cluster.addresses.contains(one));
        if let Some(known) = clusters.iter_mut().find(is_known) {
            known.addresses.extend(addresses.iter().cloned());
            return Arc::clone(&known.budget);
        }
        let budget = Arc::<RequestBudget>::default();
        let addresses = addresses.iter().cloned().collect();
        clusters.push(Cluster { addresses, budget: Arc::clone(&budget) });
        budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<HostPort> {
        text.split(',').map(|address| address.parse().unwrap()).collect()
    }

    #[test]
    fn who_shares_an_address_shares_the_budget() {
        let budgets = Budgets::default();
        let first = budgets.of(&addresses("a:1,b:1"));
        let (same, wider) = (budgets.of(&addresses("b:1")), budgets.of(&addresses("b:1,c:1")));
        assert!(Arc::ptr_eq(&first, &same) && Arc::ptr_eq(&first, &wider));
        assert!(Arc::ptr_eq(&first, &budgets.of(&addresses("c:1"))));
        assert!(!Arc::ptr_eq(&first, &budgets.of(&addresses("d:1"))));
    }

    #[test]
    fn what_nobody_uses_is_forgotten() {
        let budgets = Budgets::default();
        for port in 1..100 {
            drop(budgets.of(&addresses(&format!("a:{port}"))));
        }
        let kept = budgets.of(&addresses("a:100"));
        assert_eq!(budgets.0.lock().unwrap().len(), 1);
        assert!(Arc::ptr_eq(&kept, &budgets.of(&addresses("a:100"))));
    }
}
