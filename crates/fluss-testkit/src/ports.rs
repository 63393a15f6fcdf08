//! Ports on loopback: free ones for tests, fixed ones for people.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::Error;
use crate::paths;
use crate::random;

/// The first port that is handed out; all stay below the range that systems use for outgoing connections.
const FIRST: u16 = 20_000;

/// How many ports one block spans.
const BLOCK: u16 = 64;

/// How many blocks there are (20000 to 29983).
const BLOCKS: u16 = 156;

/// A run of free ports that no other user of this crate takes while it is held.
///
/// A block is claimed with a file lock in the user's cache, which the system drops with the process; the
/// single ports are then tried, since other programs know nothing of the lock.
#[derive(Debug)]
pub struct FreePorts {
    ports: Vec<u16>,
    _claim: File,
}

impl FreePorts {
    /// Claims `count` free ports (at most 64).
    ///
    /// # Errors
    /// `no_free_ports`, `no_cache_folder`, `io_failed`, `randomness_unavailable`.
    pub fn claim(count: usize) -> Result<Self, Error> {
        let folder = paths::cache()?.join("ports");
        paths::make_folder(&folder)?;
        Self::claim_from(random::below(BLOCKS)?, count, &folder)
    }

    /// Claims the first suitable block from `start` on, going round; lock files are in `folder`.
    fn claim_from(start: u16, count: usize, folder: &Path) -> Result<Self, Error> {
        for step in 0..BLOCKS {
            let block = (start + step) % BLOCKS;
            let path = folder.join(format!("{block}.lock"));
            let claim = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(|source| Error::io("open", &path, source))?;
            if claim.try_lock().is_err() {
                continue;
            }
            let first = FIRST + block * BLOCK;
            let ports: Vec<u16> = (first..first + BLOCK).filter(|port| is_free(*port)).take(count).collect();
            if ports.len() == count {
                return Ok(Self { ports, _claim: claim });
            }
        }
        Err(Error::NoFreePorts { count })
    }

    /// Returns the ports, ascending.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }
}

/// Returns the loopback address of a port.
pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// How often, and how far apart, a taken port is tried before it counts as taken.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Tells whether a port can be listened on: nobody listens on it, on loopback or on all addresses.
pub fn is_free(port: u16) -> bool {
    TcpListener::bind(loopback(port)).is_ok()
}

/// Checks that a fixed port can be listened on. Blocks for a tenth of a second if it cannot.
///
/// # Errors
/// `port_taken`, naming the port, what it is for, who holds it and the option that moves it.
pub fn check_free(port: u16, role: &str, option: &'static str) -> Result<(), Error> {
    for _ in 0..TRIES {
        if is_free(port) {
            return Ok(());
        }
        // A process being started holds copies of this one's sockets for a moment, closed ones too.
        std::thread::sleep(BETWEEN_TRIES);
    }
    Err(Error::PortTaken { port, role: role.to_owned(), option, holder: holder(port) })
}

/// Returns who listens on a port, as far as the system tells this user.
fn holder(port: u16) -> Option<String> {
    let output = Command::new("ss")
        .args(["-H", "-l", "-t", "-n", "-p", &format!("sport = :{port}")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    holder_in(&String::from_utf8_lossy(&output.stdout))
}

/// Reads program and process id from a line of `ss`: `users:(("java",pid=42,fd=7))`.
fn holder_in(text: &str) -> Option<String> {
    let (_, users) = text.split_once("users:((\"")?;
    let (program, rest) = users.split_once('"')?;
    let (_, pid) = rest.split_once("pid=")?;
    let pid: String = pid.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{program} (pid {pid})"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::{FreePorts, check_free, holder_in, loopback};

    #[test]
    fn two_claims_from_the_same_place_share_no_port() {
        let folder = tempfile::tempdir().unwrap();
        let first = FreePorts::claim_from(7, 20, folder.path()).unwrap();
        let second = FreePorts::claim_from(7, 20, folder.path()).unwrap();
        assert_eq!((first.ports().len(), second.ports().len()), (20, 20));
        assert!(first.ports().iter().all(|port| !second.ports().contains(port)));
    }

    #[test]
    fn more_ports_than_a_block_has_are_refused() {
        assert_eq!(FreePorts::claim(65).unwrap_err().code(), "no_free_ports");
    }

    #[test]
    fn a_taken_port_is_named_with_its_role_and_the_option_that_moves_it() {
        let taken = TcpListener::bind(loopback(0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = check_free(port, "coordinator", "--port-base").unwrap_err();
        assert_eq!(error.code(), "port_taken");
        let message = error.to_string();
        assert!(message.contains(&format!("port {port} for coordinator is taken")), "{message}");
        assert!(message.contains("choose other ports with --port-base"), "{message}");
        drop(taken);
        check_free(port, "coordinator", "--port-base").unwrap();
    }

    #[test]
    fn the_holder_is_read_from_what_ss_prints() {
        let line = "LISTEN 0 128 127.0.0.1:9123 0.0.0.0:* users:((\"java\",pid=4242,fd=7))\n";
        assert_eq!(holder_in(line).as_deref(), Some("java (pid 4242)"));
        assert_eq!(holder_in("LISTEN 0 128 127.0.0.1:9123 0.0.0.0:*\n"), None);
    }
}
