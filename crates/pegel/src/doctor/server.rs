//! The server of the login: whether it answers, knows who asks, and reaches its clusters.

use http::Method;
use pegel_api_types::clusters::ClusterView;
use pegel_api_types::operations::connection_test::{ConnectionTest, Verdict};
use pegel_api_types::people::SessionInfo;
use pegel_core::envelope::Envelope;
use pegel_core::error_code::ErrorCode;

use crate::cli::ServerArgs;
use crate::doctor::{Finding, State};
use crate::remote::Server;
use crate::remote::cluster::why_unanswered;
use crate::server_choice;

/// Looks at the server that is named or was last signed in at, and at its clusters.
pub(super) async fn look(args: &ServerArgs) -> Vec<Finding> {
    if !server_choice::is_server_meant(args) {
        let finding = Finding::new("server", State::Skipped, "nobody has signed in at a server from here");
        return vec![
            finding.with_hint("sign in with `pegel login` to have the server and its clusters looked at"),
        ];
    }
    let server = match server_choice::signed_in(args) {
        Ok(server) => server,
        Err(failure) => return vec![Finding::failed("server", &failure)],
    };
    let who: SessionInfo = match server.get("/session").await {
        Ok(who) => who,
        Err(failure) => return vec![Finding::failed("server", &failure)],
    };
    let message = format!("{} answers, and knows {} ({})", server.url(), who.name, who.role.as_str());
    let mut findings = vec![Finding::new("server", State::Ok, message)];
    match server_choice::all::<ClusterView>(&server, "/clusters").await {
        Ok(clusters) if clusters.is_empty() => {
            findings.push(Finding::new(
                "clusters",
                State::Ok,
                "no cluster is registered, or none that you may see",
            ));
        }
        Ok(clusters) => {
            for cluster in &clusters {
                findings.push(test(&server, cluster).await);
            }
        }
        Err(failure) => findings.push(Finding::failed("clusters", &failure)),
    }
    findings
}

async fn test(server: &Server, cluster: &ClusterView) -> Finding {
    const CHECK: &str = "cluster";
    let path = format!("/clusters/{}/test", cluster.slug);
    let named = |message: String| format!("{}: {message}", cluster.slug);
    let answer = server.call::<Envelope<ConnectionTest>>(Method::POST, &path, None::<&()>).await;
    let envelope = match answer {
        Ok(reply) => reply.body,
        Err(failure) if failure.code == ErrorCode::PermissionDenied => {
            return Finding::new(CHECK, State::Skipped, named("you may not have it tested".to_owned()));
        }
        Err(failure) => {
            let finding = Finding::failed(CHECK, &failure);
            return Finding { message: named(finding.message), ..finding };
        }
    };
    let hint = format!("see each step with: pegel cluster test {}", cluster.slug);
    match envelope.data.as_ref().map(|test| test.verdict) {
        Some(Verdict::Passed) => {
            Finding::new(CHECK, State::Ok, named("the connection test passes".to_owned()))
        }
        Some(Verdict::Degraded) => {
            let message = named("an address or a tablet server does not answer".to_owned());
            Finding::new(CHECK, State::Warning, message).with_hint(hint)
        }
        Some(Verdict::Failed) => {
            let message = named("the cluster cannot be reached".to_owned());
            Finding::new(CHECK, State::Failed, message).with_hint(hint)
        }
        None => {
            let why = why_unanswered(&envelope)
                .map_or_else(|| "no answer".to_owned(), |failure| failure.one_line());
            Finding::new(CHECK, State::Failed, named(why)).with_hint(hint)
        }
    }
}
