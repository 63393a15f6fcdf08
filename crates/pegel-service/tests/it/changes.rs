//! The change feed as many followers read it.

use pegel_core::access::Role;
use pegel_core::access::scope::Scope;
use pegel_service::changes::{Change, ChangeFeed, Changes};

use crate::house::House;
use crate::on_both;

on_both!(
    what_one_follower_has_read_the_others_get_without_the_store,
    a_follower_from_before_the_start_gets_all,
    a_number_that_was_never_given_begins_anew,
);

fn page(changes: Changes) -> Vec<Change> {
    match changes {
        Changes::Page(page) => page,
        Changes::Resync { head } => panic!("to begin anew at {head}"),
    }
}

async fn what_one_follower_has_read_the_others_get_without_the_store(house: House) {
    let admin = house.admin().await;
    let feed = ChangeFeed::new(house.db.clone());
    let start = *feed.watch().borrow();
    assert!(page(feed.after(start).await.unwrap()).is_empty());
    house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let read = page(feed.after(start).await.unwrap());
    let kept = house.db.changes_after(start, 1_000).await.unwrap();
    assert_eq!(read, page(kept));
    assert!(read.len() > 2);

    house.db.close().await;
    assert_eq!(page(feed.after(start).await.unwrap()), read);
    assert_eq!(page(feed.after(read[0].seq).await.unwrap()), read[1..]);
    assert!(page(feed.after(read.last().unwrap().seq).await.unwrap()).is_empty());
    assert_eq!(feed.after(start - 1).await.unwrap_err().code().as_str(), "store_closed");
}

async fn a_follower_from_before_the_start_gets_all(house: House) {
    let admin = house.admin().await;
    let before = *house.db.watch().borrow();
    house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let feed = ChangeFeed::new(house.db.clone());
    let all = page(feed.after(before).await.unwrap());
    assert_eq!(all, page(house.db.changes_after(before, 1_000).await.unwrap()));
    assert!(!all.is_empty());
}

async fn a_number_that_was_never_given_begins_anew(house: House) {
    house.admin().await;
    let feed = ChangeFeed::new(house.db.clone());
    let head = *feed.watch().borrow();
    for seq in [head + 1, i64::MAX, -1] {
        assert_eq!(feed.after(seq).await.unwrap(), Changes::Resync { head });
    }
}
