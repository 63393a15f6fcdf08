//! The first start.

use secrecy::ExposeSecret;
use uuid::Uuid;

use crate::house::{House, code};
use crate::on_both;

on_both!(the_first_start_makes_one_admin_once, of_two_starts_at_once_one_makes_the_admin);

async fn the_first_start_makes_one_admin_once(house: House) {
    let admin = house.people.ensure_admin(Uuid::from_u128(1)).await.unwrap().unwrap();
    assert!(admin.password.expose_secret().len() >= 20);
    assert!(!format!("{admin:?}").contains(admin.password.expose_secret()));
    assert!(house.people.ensure_admin(Uuid::from_u128(2)).await.unwrap().is_none());
    let rows = house.audit().await;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].entry.action.as_str(), rows[0].entry.principal_name.as_str()),
        ("users.create", "pegel")
    );
    assert!(!format!("{rows:?}").contains(admin.password.expose_secret()));
    let session = house.login("admin", admin.password.expose_secret()).await.unwrap();
    assert!(session.user.must_change_password);
    assert_eq!(code(house.login("admin", "admin").await), "login_failed");
}

async fn of_two_starts_at_once_one_makes_the_admin(house: House) {
    let other = house.another_instance().await;
    let (one, two) =
        tokio::join!(house.people.ensure_admin(Uuid::from_u128(1)), other.ensure_admin(Uuid::from_u128(2)));
    let made: Vec<_> = [one.unwrap(), two.unwrap()].into_iter().flatten().collect();
    assert_eq!(made.len(), 1);
    house.login("admin", made[0].password.expose_secret()).await.unwrap();
    let created = house.audit().await.into_iter().filter(|row| row.entry.action == "users.create");
    assert_eq!(created.count(), 1);
}
