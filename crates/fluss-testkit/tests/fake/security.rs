//! Authentication, visibility by user, and access rules.

use bytes::Bytes;
use fluss_codec::api_key::ApiKey;
use fluss_codec::messages::{
    AuthenticateRequest, ListAclsRequest, ListDatabasesRequest, ListTablesRequest, PbAclFilter, PbAclInfo,
};
use fluss_testkit::fake_server::{FakeCluster, NewTable, Script, Visibility};

use super::Peer;

fn login(protocol: &str, token: &[u8]) -> AuthenticateRequest {
    AuthenticateRequest { protocol: protocol.to_owned(), token: Bytes::copy_from_slice(token) }
}

fn guarded() -> FakeCluster {
    let alice = Visibility::Only(vec!["alice".to_owned()]);
    FakeCluster::builder()
        .user("alice", "wonder")
        .user("bob", "builder")
        .table(NewTable::log("shop", "for_alice").visible_to(alice))
        .table(NewTable::log("shop", "for_all"))
        .start()
        .unwrap()
}

#[tokio::test]
async fn requests_before_authentication_are_refused_and_the_connection_stays() {
    let cluster = guarded();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    peer.versions().await;
    let (code, message) = peer.ask(&ListDatabasesRequest::default()).await.unwrap_err();
    assert_eq!(code, 46);
    assert!(message.contains("client.security.protocol"), "{message}");
    for (protocol, token, code) in [
        ("sasl", &b"\0alice\0wonder"[..], 46),
        ("plain", b"\0alice\0wonder", -1),
        ("PLAIN", b"\0alice\0wrong", 46),
        ("PLAIN", b"bob\0alice\0wonder", 46),
    ] {
        assert_eq!(peer.ask(&login(protocol, token)).await.unwrap_err().0, code, "{protocol}");
    }
    let accepted = peer.ask(&login("PLAIN", b"\0alice\0wonder")).await.unwrap();
    assert_eq!(accepted.challenge, Some(Bytes::new()), "present but empty");
    peer.ask(&ListDatabasesRequest::default()).await.unwrap();
    assert_eq!(peer.ask(&login("PLAIN", b"whatever")).await.unwrap().challenge, None);
}

#[tokio::test]
async fn plaintext_listener_takes_only_its_own_protocol() {
    let cluster = FakeCluster::builder().start().unwrap();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    assert_eq!(peer.ask(&login("PLAINTEXT", b"")).await.unwrap().challenge, None);
    assert_eq!(peer.ask(&login("PLAIN", b"\0a\0b")).await.unwrap_err().0, 46);
    peer.ask(&ListDatabasesRequest::default()).await.unwrap();
}

#[tokio::test]
async fn server_can_ask_to_start_the_authentication_over() {
    let cluster = guarded();
    cluster.coordinator().on(ApiKey::Authenticate, Script::error(51, "busy").times(2));
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    for _ in 0..2 {
        assert_eq!(peer.ask(&login("PLAIN", b"\0bob\0builder")).await.unwrap_err().0, 51);
    }
    peer.ask(&login("PLAIN", b"\0bob\0builder")).await.unwrap();
}

#[tokio::test]
async fn users_see_what_they_may_see() {
    let cluster = guarded();
    for (token, expected) in
        [(&b"\0alice\0wonder"[..], vec!["for_alice", "for_all"]), (b"\0bob\0builder", vec!["for_all"])]
    {
        let mut peer = Peer::connect(cluster.coordinator().address()).await;
        peer.ask(&login("PLAIN", token)).await.unwrap();
        let request = ListTablesRequest { database_name: "shop".to_owned() };
        assert_eq!(peer.ask(&request).await.unwrap().table_name, expected);
    }
}

#[tokio::test]
async fn access_rules_are_listed_only_with_an_authorizer() {
    let cluster = FakeCluster::builder().start().unwrap();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let filter =
        PbAclFilter { resource_type: 1, operation_type: 1, permission_type: 1, ..PbAclFilter::default() };
    let request = ListAclsRequest { acl_filter: filter };
    assert_eq!(peer.ask(&request).await.unwrap_err().0, 47);
    cluster.change(|model| {
        model.has_authorizer = true;
        for user in ["alice", "bob"] {
            model.acls.push(PbAclInfo {
                resource_name: "shop".to_owned(),
                resource_type: 3,
                principal_name: user.to_owned(),
                principal_type: "User".to_owned(),
                host: "*".to_owned(),
                operation_type: 3,
                permission_type: 2,
            });
        }
    });
    assert_eq!(peer.ask(&request).await.unwrap().acl.len(), 2);
    let mut of_bob = request.clone();
    of_bob.acl_filter.principal_name = Some("bob".to_owned());
    assert_eq!(peer.ask(&of_bob).await.unwrap().acl.len(), 2, "half a principal is ignored");
    of_bob.acl_filter.principal_type = Some("User".to_owned());
    assert_eq!(peer.ask(&of_bob).await.unwrap().acl.len(), 1);
}
