//! The configuration of the cluster, secrets hidden.

use fluss_client::admin::ConfigEntry;
use pegel_api_types::operations::cluster_config::{ConfigValue, ListClusterConfig, ListClusterConfigInput};
use pegel_core::limits::{Page, PageRequest};
use pegel_core::redaction::redact;

use crate::catalog::config_defaults::compare;
use crate::catalog::{Execute, list_status};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::policy::Authorized;
use crate::policy::permission::ConfigRead;

impl Execute for ListClusterConfig {
    type Permit = ConfigRead;

    /// Reads the configuration of the cluster.
    ///
    /// # Errors
    /// `authorization_failed` without DESCRIBE on the cluster.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<ConfigRead>,
        input: ListClusterConfigInput,
    ) -> Result<Answer<Page<ConfigValue>>, Failure> {
        let page = execution.page(input.search.as_deref(), input.offset, input.limit)?;
        Ok(judge(execution.client.cluster_config().await?, &page))
    }
}

/// Hides secrets first, so that not even a search can find them.
fn judge(entries: Vec<ConfigEntry>, page: &PageRequest) -> Answer<Page<ConfigValue>> {
    let values: Vec<ConfigValue> = entries.into_iter().map(view).collect();
    let page = page.cut(values, |entry| {
        vec![entry.key.clone(), entry.value.clone().unwrap_or_default(), entry.source.clone()]
    });
    let (status, warning) = list_status(&page);
    let mut answer = Answer::new(status, page);
    answer.warnings.extend(warning);
    answer
}

fn view(entry: ConfigEntry) -> ConfigValue {
    let shown = entry.value.map(|value| redact(&entry.key, &value));
    let is_redacted = shown.as_ref().is_some_and(|shown| shown.is_redacted);
    // What is hidden is not compared: even that would tell something of it.
    let value = shown.as_ref().map(|shown| shown.value.as_str());
    let compared = (!is_redacted).then(|| compare(&entry.key, value)).flatten();
    ConfigValue {
        is_redacted,
        differs_from_default: compared.as_ref().map(|compared| compared.differs),
        default_value: compared.and_then(|compared| compared.default_value),
        value: shown.map(|shown| shown.value),
        key: entry.key,
        source: entry.source,
    }
}

#[cfg(test)]
mod tests {
    use pegel_core::envelope::Status;

    use super::*;

    /// A configuration with secrets under their own key and inside another value.
    fn with_secrets() -> Answer<Page<ConfigValue>> {
        with_secrets_and("")
    }

    fn with_secrets_and(search: &str) -> Answer<Page<ConfigValue>> {
        let entry = |key: &str, value: Option<&str>, source: &str| ConfigEntry {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            source: source.to_owned(),
        };
        let initial = "INITIAL_SERVER_CONFIG";
        let entries = vec![
            entry("default.bucket.number", Some("3"), initial),
            entry("kv.rocksdb.block.cache-size", None, initial),
            entry("plugin.options", Some("mode=fast;password=hunter2"), "DYNAMIC_SERVER_CONFIG"),
            entry("s3.secret-key", Some("hunter2"), initial),
            entry(
                "security.sasl.plain.jaas.config",
                Some(
                    "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required user_a=\"hunter2\";",
                ),
                initial,
            ),
        ];
        judge(entries, &PageRequest::new(Some(search), 0, None).unwrap())
    }

    #[test]
    fn no_secret_is_in_the_answer() {
        let page = with_secrets().data.unwrap();
        assert!(!format!("{page:?}").contains("hunter2"));
        assert_eq!(page.items.iter().filter(|entry| entry.is_redacted).count(), 3);
        assert_eq!(page.items[1].value, None);
    }

    #[test]
    fn what_differs_from_its_default_says_so_and_what_is_hidden_says_nothing() {
        let page = with_secrets().data.unwrap();
        let seen = |place: usize| {
            let entry = &page.items[place];
            (entry.differs_from_default, entry.default_value.as_deref())
        };
        assert_eq!(seen(0), (Some(true), Some("1")), "default.bucket.number");
        assert_eq!(seen(1), (Some(false), Some("8 mb")), "kv.rocksdb.block.cache-size");
        assert_eq!(seen(2), (None, None), "plugin.options");
        assert_eq!(seen(4), (None, None), "security.sasl.plain.jaas.config");
    }

    #[test]
    fn search_cannot_find_what_is_hidden() {
        assert_eq!(with_secrets_and("hunter2").status, Status::Empty);
        assert_eq!(with_secrets_and("BUCKET").data.unwrap().items.len(), 1);
        assert_eq!(with_secrets_and("dynamic").data.unwrap().items.len(), 1);
    }
}
