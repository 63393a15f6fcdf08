//! Notices on their way, with instances that die and targets that answer late.

use std::time::Duration;

use pegel_core::clock::Clock as _;
use pegel_core::monitor::delivery::lane::{Attempt, Placing, Progress};
use pegel_core::monitor::delivery::{ChannelKind, key};
use pegel_core::monitor::span::later;
use pegel_core::monitor::verdict::{Ending, FiringId, Notice};
use pegel_store::outbox::{self, Claimed, Outcome, Queued};
use serde_json::json;
use uuid::Uuid;

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    a_lane_goes_out_in_order_and_lanes_do_not_wait_for_each_other,
    a_notice_is_sent_by_one_instance_and_by_another_when_that_died,
    a_trigger_that_was_never_sent_takes_its_resolve_with_it,
    a_trigger_of_unknown_fate_is_resolved_and_not_tried_again,
    a_resolve_waits_for_a_trigger_that_is_being_sent,
    what_waits_behind_others_is_not_in_the_way_of_what_can_go,
    what_has_ended_is_removed_with_its_whole_lane_only,
    instances_that_claim_at_the_same_time_share,
);

const RESOLVE: Notice = Notice::Resolve(Ending::Recovered);

fn queued(store: &Store, kind: ChannelKind, firing: u128, notice: Notice) -> Queued {
    let (channel_id, firing_id) = (Uuid::from_u128(1), FiringId(Uuid::from_u128(firing)));
    Queued {
        channel_id,
        channel_kind: kind,
        firing_id,
        monitor_id: Uuid::from_u128(2),
        delivery_key: key(Uuid::from_u128(3), firing_id, channel_id),
        notice,
        payload: json!({ "summary": "down" }),
        merge_group: String::new(),
        next_at: store.clock.now(),
    }
}

async fn place(store: &Store, kind: ChannelKind, firing: u128, notice: Notice) -> Placing {
    let queued = queued(store, kind, firing, notice);
    write!(store, [queued], |tx| outbox::place(tx, &queued).await).unwrap()
}

async fn claim(store: &Store, owner: &'static str) -> Vec<Claimed> {
    let until = later(store.clock.now(), 30_000);
    let claimed = write!(store, [], |tx| {
        let mut claimed = Vec::new();
        for channel_id in outbox::due_channels(tx, 10).await? {
            claimed.extend(outbox::claim(tx, channel_id, owner, until, 10, false).await?);
        }
        Ok(claimed)
    });
    claimed.unwrap()
}

async fn finish(store: &Store, claimed: &Claimed, owner: &'static str, attempt: Attempt) -> bool {
    let outcome =
        Outcome { attempt, next_at: later(store.clock.now(), 1_000), error: Some("x".repeat(5_000)) };
    let id = claimed.id;
    write!(store, [outcome], |tx| outbox::finish(tx, id, owner, &outcome).await).unwrap()
}

async fn progress(store: &Store, firing: u128) -> Vec<Progress> {
    let firing_id = FiringId(Uuid::from_u128(firing));
    let lane =
        store.db.read(move |tx| Box::pin(outbox::lane(tx, Uuid::from_u128(1), firing_id))).await.unwrap();
    lane.iter().map(|entry| entry.progress).collect()
}

fn told(claimed: &[Claimed]) -> Vec<(u128, Notice, u32)> {
    claimed.iter().map(|one| (one.firing_id.0.as_u128(), one.notice, one.attempt)).collect()
}

async fn a_lane_goes_out_in_order_and_lanes_do_not_wait_for_each_other(store: Store) {
    // All within one millisecond of a clock that stands still.
    for firing in [7, 8] {
        assert_eq!(place(&store, ChannelKind::Slack, firing, Notice::Trigger).await, Placing::Append);
        assert_eq!(place(&store, ChannelKind::Slack, firing, Notice::Acknowledge).await, Placing::Append);
    }
    let first = claim(&store, "a").await;
    let mut order = told(&first);
    order.sort_by_key(|(firing, ..)| *firing);
    assert_eq!(order, [(7, Notice::Trigger, 1), (8, Notice::Trigger, 1)]);
    assert_eq!(claim(&store, "a").await, [], "nothing overtakes what is being sent");
    let of_seven = first.iter().find(|one| one.firing_id.0.as_u128() == 7).unwrap();
    assert_eq!((of_seven.delivery_key.len(), &of_seven.payload), (104, &json!({ "summary": "down" })));
    assert!(finish(&store, of_seven, "a", Attempt::Arrived).await);
    assert_eq!(told(&claim(&store, "a").await), [(7, Notice::Acknowledge, 1)]);
}

async fn a_notice_is_sent_by_one_instance_and_by_another_when_that_died(store: Store) {
    place(&store, ChannelKind::Pagerduty, 7, Notice::Trigger).await;
    let mine = claim(&store, "a").await;
    assert_eq!((mine.len(), claim(&store, "b").await.len()), (1, 0));
    let due = store.db.read(|tx| Box::pin(outbox::next_due(tx))).await.unwrap();
    assert_eq!(due, Some(later(store.clock.now(), 30_000)));
    store.clock.advance(Duration::from_secs(30));
    let theirs = claim(&store, "b").await;
    assert_eq!(told(&theirs), [(7, Notice::Trigger, 2)]);
    assert_eq!((theirs[0].id, &theirs[0].delivery_key), (mine[0].id, &mine[0].delivery_key));
    assert!(
        !finish(&store, &mine[0], "a", Attempt::NotArrived).await,
        "the first has nothing to say any more"
    );
    assert!(finish(&store, &theirs[0], "b", Attempt::NotArrived).await);
    assert_eq!(progress(&store, 7).await, [Progress::Ambiguous], "the first may have sent it");
    assert_eq!(claim(&store, "b").await, [], "not before it is due again");
    store.clock.advance(Duration::from_secs(1));
    assert_eq!(told(&claim(&store, "b").await), [(7, Notice::Trigger, 3)]);
}

async fn a_trigger_that_was_never_sent_takes_its_resolve_with_it(store: Store) {
    for (firing, kind, expected) in
        [(7, ChannelKind::Pagerduty, Placing::Drop), (8, ChannelKind::Slack, Placing::Combine)]
    {
        place(&store, kind, firing, Notice::Trigger).await;
        place(&store, kind, firing, Notice::Reminder).await;
        assert_eq!(place(&store, kind, firing, RESOLVE).await, expected);
    }
    assert_eq!(told(&claim(&store, "a").await), [(8, RESOLVE, 1)]);
    assert_eq!(place(&store, ChannelKind::Slack, 9, RESOLVE).await, Placing::Drop);
}

async fn a_trigger_of_unknown_fate_is_resolved_and_not_tried_again(store: Store) {
    place(&store, ChannelKind::Pagerduty, 7, Notice::Trigger).await;
    let trigger = claim(&store, "a").await;
    assert!(finish(&store, &trigger[0], "a", Attempt::Unknown).await);
    assert_eq!(place(&store, ChannelKind::Pagerduty, 7, RESOLVE).await, Placing::Append);
    store.clock.advance(Duration::from_secs(60));
    let resolve = claim(&store, "a").await;
    assert_eq!(told(&resolve), [(7, RESOLVE, 1)]);
    assert!(finish(&store, &resolve[0], "a", Attempt::Arrived).await);
    assert_eq!(claim(&store, "a").await, []);
    assert_eq!(store.db.read(|tx| Box::pin(outbox::next_due(tx))).await.unwrap(), None);
}

async fn a_resolve_waits_for_a_trigger_that_is_being_sent(store: Store) {
    place(&store, ChannelKind::Slack, 7, Notice::Trigger).await;
    let trigger = claim(&store, "a").await;
    assert_eq!(place(&store, ChannelKind::Slack, 7, RESOLVE).await, Placing::Wait);
    assert!(finish(&store, &trigger[0], "a", Attempt::Arrived).await);
    assert_eq!(place(&store, ChannelKind::Slack, 7, RESOLVE).await, Placing::Append);
    assert_eq!(place(&store, ChannelKind::Slack, 7, RESOLVE).await, Placing::Drop);
    assert_eq!(progress(&store, 7).await, [Progress::Delivered, Progress::NeverSent]);
}

async fn what_waits_behind_others_is_not_in_the_way_of_what_can_go(store: Store) {
    // More lanes than one call claims, each with a trigger that waits and a notice behind it that is due.
    for firing in 100..130 {
        place(&store, ChannelKind::Slack, firing, Notice::Trigger).await;
        place(&store, ChannelKind::Slack, firing, Notice::Acknowledge).await;
    }
    loop {
        let claimed = claim(&store, "a").await;
        if claimed.is_empty() {
            break;
        }
        for one in &claimed {
            let next_at = later(store.clock.now(), 3_600_000);
            let outcome = Outcome { attempt: Attempt::NotArrived, next_at, error: None };
            let id = one.id;
            write!(store, [outcome], |tx| outbox::finish(tx, id, "a", &outcome).await).unwrap();
        }
    }
    store.clock.advance(Duration::from_secs(1));
    place(&store, ChannelKind::Slack, 7, Notice::Trigger).await;
    assert_eq!(told(&claim(&store, "a").await), [(7, Notice::Trigger, 1)]);
}

async fn what_has_ended_is_removed_with_its_whole_lane_only(store: Store) {
    for firing in [7, 8] {
        place(&store, ChannelKind::Slack, firing, Notice::Trigger).await;
    }
    for one in claim(&store, "a").await {
        finish(&store, &one, "a", Attempt::Arrived).await;
    }
    place(&store, ChannelKind::Slack, 7, RESOLVE).await;
    store.clock.advance(Duration::from_secs(1));
    let before = store.clock.now();
    assert_eq!(write!(store, [], |tx| outbox::trim(tx, before, 10).await).unwrap(), 1);
    assert_eq!((progress(&store, 7).await.len(), progress(&store, 8).await.len()), (2, 0));
}

async fn instances_that_claim_at_the_same_time_share(store: Store) {
    for firing in 1..=8 {
        place(&store, ChannelKind::Slack, firing, Notice::Trigger).await;
    }
    let other = store.again().await;
    let until = later(store.clock.now(), 30_000);
    let (one, two) = tokio::join!(
        store.db.write(move |tx| Box::pin(outbox::claim(tx, Uuid::from_u128(1), "a", until, 10, false))),
        other.write(move |tx| Box::pin(outbox::claim(tx, Uuid::from_u128(1), "b", until, 10, false))),
    );
    let claimed: Vec<Claimed> = one.unwrap().into_iter().chain(two.unwrap()).collect();
    let mut ids: Vec<Uuid> = claimed.iter().map(|claimed| claimed.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((claimed.len(), ids.len()), (8, 8), "each by one of them");
}
