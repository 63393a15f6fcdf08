//! Jobs whose types are forgotten, so that one line can hold them all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time;

use crate::change;
use crate::error::Error;
use crate::tx::{BoxFuture, Tx};

/// How long a job may hold its transaction.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// A job in line with the caller who waits for it.
pub(super) trait Queued: Send {
    /// Runs the job; its value is kept for [`Queued::answer`]. May be called again after a rollback.
    ///
    /// Returns the `seq` of the newest change it announced, 0 if it announced none.
    fn run<'t>(&'t mut self, tx: &'t mut Tx<'_>) -> BoxFuture<'t, Result<i64, Error>>;

    /// Returns whether the job may change anything.
    fn is_write(&self) -> bool;

    /// Tells the caller how it ended. Nobody may be waiting any more.
    fn answer(self: Box<Self>, outcome: Result<(), Error>);
}

/// A job, its value once it has run, and where to send it.
pub(super) struct Entry<T, F> {
    job: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, Error>>,
    is_write: bool,
}

impl<T, F> Entry<T, F> {
    pub(super) fn new(job: F, reply: oneshot::Sender<Result<T, Error>>, is_write: bool) -> Self {
        Self { job, value: None, reply, is_write }
    }
}

impl<T, F> Queued for Entry<T, F>
where
    T: Send + 'static,
    F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>> + Send + Sync,
{
    fn run<'t>(&'t mut self, tx: &'t mut Tx<'_>) -> BoxFuture<'t, Result<i64, Error>> {
        Box::pin(async move {
            self.value = None;
            // What an earlier run left unannounced belongs to a transaction that was rolled back.
            tx.take_announced();
            self.value = Some(bounded(&self.job, tx).await?);
            if self.is_write { change::record(tx).await } else { Ok(0) }
        })
    }

    fn is_write(&self) -> bool {
        self.is_write
    }

    fn answer(self: Box<Self>, outcome: Result<(), Error>) {
        let Self { value, reply, .. } = *self;
        let answer = outcome.and_then(|()| value.ok_or(Error::Closed));
        // Whoever asked may have gone away; the job is done all the same.
        let _ = reply.send(answer);
    }
}

/// Runs a job within its time; a panic becomes an error.
///
/// # Errors
/// The job's own, `store_busy` when its time is over, `internal` when it panicked.
pub(super) async fn bounded<T, F>(job: &F, tx: &mut Tx<'_>) -> Result<T, Error>
where
    F: for<'t> Fn(&'t mut Tx<'_>) -> BoxFuture<'t, Result<T, Error>>,
{
    // The call is inside the future, so that its panics are caught too; the transaction is rolled back
    // after one, so nothing half-done is seen.
    let mut future = Box::pin(async move { job(tx).await });
    let guarded = std::future::poll_fn(move |context| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(_) => Poll::Ready(Err(Error::JobPanicked)),
        }
    });
    time::timeout(TIME_LIMIT, guarded).await.unwrap_or(Err(Error::Busy { source: None }))
}
