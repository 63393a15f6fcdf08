//! Looking up names, once for each exchange.
//!
//! There is no cache: a probe asks each time what a user would be told. The addresses an exchange was told
//! are the only ones it connects to, so a name that changes meanwhile changes nothing.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Semaphore;

/// The most addresses of one name that are looked at.
pub const MAX_ADDRESSES: usize = 16;

/// The most names the system is asked for at the same time. A lookup that hangs cannot be stopped, so those
/// that hang must not become ever more.
pub const MAX_LOOKUPS: usize = 64;

/// A future on the heap, as resolvers return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a name has no addresses.
#[derive(Debug)]
pub enum ResolveError {
    /// The name does not exist, or has no address.
    NotFound(Option<io::Error>),
    /// Nobody answered.
    Unavailable(Option<io::Error>),
}

/// Looks up names.
pub trait Resolve: Send + Sync {
    /// Returns the addresses of a host, the preferred first. Dropping the future gives up waiting.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>>;
}

/// Asks the system, as every other program does.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, ResolveError>> {
        Box::pin(async move {
            let permit = Arc::clone(&self.lookups).acquire_owned().await;
            let permit = permit.map_err(|_| ResolveError::Unavailable(None))?;
            let host = host.to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                // Held until the system has answered, also when nobody waits for it any more.
                let _permit = permit;
                (host.as_str(), 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
            });
            match lookup.await {
                Ok(Ok(addresses)) => Ok(addresses),
                Ok(Err(error)) if is_temporary(&error) => Err(ResolveError::Unavailable(Some(error))),
                Ok(Err(error)) => Err(ResolveError::NotFound(Some(error))),
                Err(_) => Err(ResolveError::Unavailable(None)),
            }
        })
    }
}

/// The system's code is lost in its text; `EAI_AGAIN` reads the same in every C library in use.
fn is_temporary(error: &io::Error) -> bool {
    let text = error.to_string().to_ascii_lowercase();
    text.contains("temporary failure") || text.contains("try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_server_that_is_silent_is_told_from_a_name_that_is_not_there() {
        let text = |message: &str| io::Error::other(message.to_owned());
        assert!(is_temporary(&text(
            "failed to lookup address information: Temporary failure in name resolution"
        )));
        assert!(is_temporary(&text("failed to lookup address information: Try again")));
        assert!(!is_temporary(&text("failed to lookup address information: Name or service not known")));
    }

    #[tokio::test]
    async fn the_system_knows_addresses_as_names() {
        let found = SystemResolver::default().resolve("127.0.0.1").await.unwrap();
        assert_eq!(found, ["127.0.0.1".parse::<IpAddr>().unwrap()]);
    }
}
