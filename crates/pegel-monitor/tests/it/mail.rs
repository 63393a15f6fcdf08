//! Mail, taken by a real server: aiosmtpd of Python. Skipped with a word why where that is not installed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use fluss_testkit::ports::FreePorts;
use fluss_testkit::process::{Guarded, ProcessSpec};
use pegel_core::monitor::delivery::ChannelKind;
use pegel_store::channels;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;

use crate::target::{ILL, Target, WELL};
use crate::world::{World, rule, write};

/// Takes all mail but that to one recipient, and writes it to standard output.
const SERVE: &str = r#"
import asyncio, sys
from aiosmtpd.controller import Controller
class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"
    async def handle_DATA(self, server, session, envelope):
        print("TO", ",".join(envelope.rcpt_tos), flush=True)
        print(envelope.content.decode(), flush=True)
        print("END", flush=True)
        return "250 OK"
Controller(Handler(), hostname="127.0.0.1", port=int(sys.argv[1])).start()
asyncio.new_event_loop().run_forever()
"#;

struct Server {
    address: SocketAddr,
    log: PathBuf,
    _process: Guarded,
    _ports: FreePorts,
    _folder: TempDir,
}

impl Server {
    async fn start() -> Option<Self> {
        let probe = std::process::Command::new("python3").args(["-c", "import aiosmtpd.controller"]).output();
        if !probe.is_ok_and(|output| output.status.success()) {
            let required = std::env::var("PEGEL_TEST_REQUIRE").unwrap_or_default();
            assert!(
                !required.split(',').any(|word| word.trim() == "smtp"),
                "aiosmtpd is required and absent"
            );
            eprintln!("skipped: python3 has no aiosmtpd");
            return None;
        }
        let ports = FreePorts::claim(1).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], ports.ports()[0]));
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("mail.log");
        let spec = ProcessSpec {
            name: "aiosmtpd".to_owned(),
            program: "python3".into(),
            arguments: ["-c".into(), SERVE.into(), address.port().to_string().into()].into(),
            folder: folder.path().to_owned(),
            log: log.clone(),
            grace: Duration::from_secs(2),
            pid_file: None,
        };
        let mut process = Guarded::spawn(spec).await.unwrap();
        while TcpStream::connect(address).await.is_err() {
            let ended = process.wait(Duration::from_millis(100)).await.unwrap();
            assert!(ended.is_none(), "{}", process.last_lines(20));
        }
        Some(Self { address, log, _process: process, _ports: ports, _folder: folder })
    }

    fn mails(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.log).unwrap().replace('\r', "");
        text.split("END\n").filter(|mail| mail.contains("TO ")).map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn a_mail_server_takes_trigger_and_resolve_and_one_unknown_recipient_keeps_nobody_else_from_it() {
    let Some(server) = Server::start().await else { return };
    let (world, target) = (World::sqlite().await, Target::start(ILL).await);
    let settings = json!({ "host": "127.0.0.1", "port": server.address.port(), "security": "none",
        "from": "Pegel <pegel@example.com>", "to": ["nobody@example.com", "ann@example.com"] });
    pegel_monitor::channel::check(ChannelKind::Smtp, &settings).unwrap();
    let made = write!(world.db, [settings], |tx| {
        let settings = channels::Settings { name: "mail".to_owned(), settings, is_enabled: true };
        channels::create(tx, ChannelKind::Smtp, &settings).await
    });
    world.route(&[made.unwrap().id]).await;
    world.http("Küche", &target.url(), rule(1)).await;
    world.settle().await;
    target.is(WELL);
    world.rounds(2).await;
    let mails = server.mails();
    assert_eq!(mails.len(), 2, "{mails:?}");
    assert!(mails.iter().all(|mail| mail.contains("TO ann@example.com\n")), "{mails:?}");
    assert!(mails[0].contains("status 503 is not expected"), "{}", mails[0]);
    let answered = mails[1].lines().find(|line| line.starts_with("In-Reply-To:")).unwrap();
    let thread = mails[0].lines().find(|line| line.starts_with("References:")).unwrap();
    assert_eq!(answered.split_once(' ').unwrap().1, thread.split_once(' ').unwrap().1);
}

#[tokio::test]
async fn a_mail_server_that_never_greets_is_given_up_and_tried_again_a37() {
    let target = Target::start(ILL).await;
    // Accepts and never greets.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let world = World::sqlite().await;
    let settings = json!({ "host": "127.0.0.1", "port": port, "security": "none",
        "from": "pegel@example.com", "to": ["ann@example.com"] });
    let made = write!(world.db, [settings], |tx| {
        let settings = channels::Settings { name: "mail".to_owned(), settings, is_enabled: true };
        channels::create(tx, ChannelKind::Smtp, &settings).await
    });
    let id = made.unwrap().id;
    world.route(&[id]).await;
    world.http("coordinator", &target.url(), rule(1)).await;
    world.engine.tick().await.unwrap();
    world.engine.settle().await;
    world.delivery.tick().await.unwrap();
    world.delivery.settle().await;
    let channel = crate::world::read!(world.db, [], |tx| channels::get(tx, id).await);
    assert!(channel.failing_since.is_some() && channel.broken.is_none(), "{channel:?}");
}
