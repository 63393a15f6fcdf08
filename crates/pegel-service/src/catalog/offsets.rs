//! Offsets of every bucket of a table, or of its partitions.

use fluss_client::bucket_read::{BucketAnswer, BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::error::Error as ClientError;
use fluss_client::parallel::in_parallel;
use jiff::Timestamp;
use pegel_api_types::operations::buckets::Coverage;
use pegel_api_types::operations::offsets::{
    GetTableOffsets, GetTableOffsetsInput, Offsets, PartitionOffsets, StartKind,
};
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::ExactInt;

use crate::catalog::buckets::{Failures, join_offsets};
use crate::catalog::targets::{self, PARALLEL_PARTS, Part, Targets};
use crate::catalog::{Execute, names};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

/// Both offsets of every bucket of one part, as the client read them.
type PartAnswer = Result<(Vec<BucketAnswer<i64>>, Vec<BucketAnswer<i64>>), ClientError>;

impl Execute for GetTableOffsets {
    type Permit = CatalogRead;

    /// Reads the offsets of a table or of those of its partitions that match.
    ///
    /// # Errors
    /// `table_not_found`, `partition_not_found`, and `time_in_future` for a time that has not come.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<CatalogRead>,
        input: GetTableOffsetsInput,
    ) -> Result<Answer<Offsets>, Failure> {
        let path = names::table_path(&input.database, &input.table)?;
        if let Some(at) = input.timestamp.filter(|at| *at > execution.now()) {
            let message = format!("{at} lies in the future, and nothing is stored there");
            let failure = Failure::new(ErrorCode::TimeInFuture, message).at("/timestamp");
            return Err(failure.with_hint("give a time in the past"));
        }
        let targets = targets::find(execution, &path, input.partition_spec_json.as_ref()).await?;
        let start =
            input.timestamp.map_or(OffsetSpec::Earliest, |at| OffsetSpec::Timestamp(at.as_millisecond()));
        let answers = in_parallel(targets.parts.clone(), PARALLEL_PARTS, |part: Part| {
            read_part(execution.client.clone(), targets.buckets_of(&part), start)
        })
        .await;
        judge(&targets, input.timestamp, answers, execution.sight)
    }
}

/// Reads both offsets of every bucket of one part.
pub(super) async fn read_part(client: FlussClient, buckets: BucketTarget, start: OffsetSpec) -> PartAnswer {
    // One after the other: the first read learns the leaders, the second uses them. Both are
    // held against the ids in `buckets`, so that two tables of one name cannot be mixed.
    let start = client.offsets(&buckets, start).await?;
    let latest = client.offsets(&buckets, OffsetSpec::Latest).await?;
    Ok((start, latest))
}

fn judge(
    targets: &Targets,
    at: Option<Timestamp>,
    answers: Vec<PartAnswer>,
    sight: Sight,
) -> Result<Answer<Offsets>, Failure> {
    let mut failures = Failures::default();
    let partitions: Vec<PartitionOffsets> = targets
        .parts
        .iter()
        .zip(answers)
        .map(|(part, answer)| view(part, answer, sight, &mut failures))
        .collect();
    let buckets = || partitions.iter().flat_map(|partition| &partition.buckets);
    let lost = partitions.iter().filter(|partition| partition.failure.is_some()).count();
    let (bucket_count, answered) = (buckets().count(), buckets().filter(|b| b.state == Coverage::Ok).count());
    if answered == 0 {
        // Latest offsets are there even for a time in the future, and do not answer the question.
        failures.wrong_question()?;
    }
    let some_answered = buckets().filter(|bucket| bucket.state != Coverage::Unavailable).count();
    let status = failures.status(some_answered, bucket_count + lost)?;
    let mut answer = Answer::new(
        status,
        Offsets {
            table: targets.info.path.to_string(),
            table_id: ExactInt(targets.info.table_id),
            start_kind: if at.is_some() { StartKind::AtTime } else { StartKind::Earliest },
            at,
            partition_count: targets.partition_count,
            bucket_count,
            answered_bucket_count: answered,
            span: ExactInt::sum(buckets().filter_map(|bucket| bucket.span)),
            is_complete: answered == bucket_count && lost == 0 && !targets.is_cut(),
            partitions,
        },
    );
    answer.evidence = failures.into_evidence("list_offsets", sight);
    answer.warnings.extend(targets.cut_warning());
    Ok(answer)
}

fn view(part: &Part, answer: PartAnswer, sight: Sight, failures: &mut Failures) -> PartitionOffsets {
    let (buckets, failure) = match answer {
        Ok((start, latest)) => (join_offsets(start, latest, part.name.as_deref(), sight, failures), None),
        Err(error) => {
            let failure = Failure::from(&error);
            failures.note_whole(part.name.clone().unwrap_or_else(|| "the table".to_owned()), &failure);
            (Vec::new(), Some(failure.part(sight)))
        }
    };
    let answered = buckets.iter().filter(|bucket| bucket.state == Coverage::Ok).count();
    let some = buckets.iter().any(|bucket| bucket.state != Coverage::Unavailable);
    let state = match (&failure, Coverage::of(answered, buckets.len())) {
        (Some(_), _) => Coverage::Unavailable,
        (None, Coverage::Unavailable) if some => Coverage::Partial,
        (None, coverage) => coverage,
    };
    PartitionOffsets {
        partition: part.name.clone(),
        partition_id: part.partition_id.map(ExactInt),
        state,
        span: ExactInt::sum(buckets.iter().filter_map(|bucket| bucket.span)),
        buckets,
        failure,
    }
}

#[cfg(test)]
mod tests {
    use pegel_core::envelope::Status;

    use super::*;
    use crate::catalog::buckets::tests::{answered, refused, silent};
    use crate::catalog::table::tests::orders;

    /// A table of three buckets, one of which is led by a silent server.
    fn one_bucket_silent() -> Answer<Offsets> {
        let parts = vec![Part { name: None, partition_id: None }];
        let targets = Targets { info: orders(), parts, partition_count: None };
        let start = vec![answered(0, 0), answered(1, 100), silent(2)];
        let latest = vec![answered(0, i64::MAX), answered(1, 250), silent(2)];
        judge(&targets, None, vec![Ok((start, latest))], Sight::Everything).unwrap()
    }

    /// Two partitions of which one is gone, out of more than are read.
    fn partition_gone() -> Answer<Offsets> {
        let part = |name: &str, id| Part { name: Some(name.to_owned()), partition_id: Some(id) };
        let parts = vec![part("2026$eu", 7), part("2026$us", 8)];
        let targets = Targets { info: orders(), parts, partition_count: Some(300) };
        let gone = ClientError::PartitionNotFound {
            path: targets.info.path.clone(),
            partition: "2026$us".to_owned(),
        };
        let at = Some(Timestamp::from_second(1_767_225_600).unwrap());
        let eu = (vec![answered(0, 10)], vec![answered(0, 12)]);
        judge(&targets, at, vec![Ok(eu), Err(gone)], Sight::Everything).unwrap()
    }

    #[test]
    fn sum_covers_what_answered_and_says_that_it_is_incomplete() {
        let answer = one_bucket_silent();
        assert_eq!(answer.status, Status::Partial);
        let offsets = answer.data.unwrap();
        assert_eq!((offsets.answered_bucket_count, offsets.bucket_count), (2, 3));
        // The sum of i64::MAX and 150 does not fit, so there is none rather than a wrong one.
        assert_eq!((offsets.span, offsets.is_complete), (None, false));
        assert!(answer.evidence[0].subject.as_ref().unwrap().contains("tablet server 2: bucket 2"));
    }

    #[test]
    fn partition_that_is_gone_makes_the_answer_partial() {
        let answer = partition_gone();
        assert_eq!(answer.status, Status::Partial);
        assert!(answer.warnings[0].contains("first 2 of 300 partitions"));
        let offsets = answer.data.unwrap();
        assert_eq!(offsets.span, Some(ExactInt(2)));
        assert!(!offsets.is_complete);
        assert_eq!(offsets.partitions[1].state, Coverage::Unavailable);
    }

    #[test]
    fn all_buckets_silent_is_unavailable_and_future_times_are_the_askers_fault() {
        let judge_all = |answer: fn(i32) -> BucketAnswer<i64>| {
            let parts = vec![Part { name: None, partition_id: None }];
            let targets = Targets { info: orders(), parts, partition_count: None };
            let both = (vec![answer(0), answer(1)], vec![answer(0), answer(1)]);
            judge(&targets, None, vec![Ok(both)], Sight::Everything).map(|answer| answer.status)
        };
        assert_eq!(judge_all(silent), Ok(Status::Unavailable));
        assert_eq!(judge_all(|bucket| refused(bucket, 48)), Ok(Status::Refused));
        assert_eq!(judge_all(|bucket| refused(bucket, 38)).unwrap_err().code, ErrorCode::TimeInFuture);
    }

    #[test]
    fn table_without_any_partition_is_empty() {
        let targets = Targets { info: orders(), parts: Vec::new(), partition_count: Some(0) };
        let answer = judge(&targets, None, Vec::new(), Sight::Everything).unwrap();
        assert_eq!(answer.status, Status::Empty);
        assert_eq!(answer.data.unwrap().span, None);
    }
}
