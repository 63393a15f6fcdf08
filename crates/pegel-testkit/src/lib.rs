//! What the tests of several crates share: a private PostgreSQL server, and the service on either store.
//!
//! Only tests use it, so it panics where they would.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and nothing else calls this"
)]

pub mod postgres;
pub mod service;

/// Makes a test of each case for each database. The cases take a value of the named type, which `sqlite` makes of nothing
/// and `postgres` only where there is a PostgreSQL.
#[macro_export]
macro_rules! on_each_database {
    ($place:ty; $($case:ident),*) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $case() {
                    super::$case(<$place>::sqlite().await).await;
                }
            )*
        }
        mod on_postgres {
            $(
                #[tokio::test]
                async fn $case() {
                    if let Some(place) = <$place>::postgres().await {
                        super::$case(place).await;
                    }
                }
            )*
        }
    };
}
