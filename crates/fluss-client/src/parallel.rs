//! Does the same for many things, a few at a time.

use std::future::Future;

use tokio::task::JoinSet;

/// Runs `task` for every item, at most `limit` at once, and returns the results in the order of the items.
///
/// When the returned future is dropped, tasks under way are aborted.
pub async fn in_parallel<I, T, F>(items: Vec<I>, limit: usize, task: impl Fn(I) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut waiting = items.into_iter().enumerate();
    let mut running = JoinSet::new();
    let mut done = Vec::new();
    loop {
        while running.len() < limit.max(1)
            && let Some((position, item)) = waiting.next()
        {
            let work = task(item);
            running.spawn(async move { (position, work.await) });
        }
        match running.join_next().await {
            Some(Ok(result)) => done.push(result),
            // Tasks are only aborted together with this future, so a failed one has panicked.
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            None => break,
        }
    }
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn results_keep_the_order_and_no_more_than_the_limit_run() {
        let running = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let results = in_parallel((0..50).collect(), 4, |number: usize| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..(50 - number) {
                    tokio::task::yield_now().await;
                }
                running.fetch_sub(1, Ordering::SeqCst);
                number * 2
            }
        })
        .await;
        assert_eq!(results, (0..50).map(|number| number * 2).collect::<Vec<_>>());
        assert_eq!(most.load(Ordering::SeqCst), 4);
    }
}
