//! Row counts of every bucket of a table, or of its partitions.

use fluss_client::bucket_read::BucketAnswer;
use fluss_client::error::Error as ClientError;
use fluss_client::parallel::in_parallel;
use fluss_codec::table::TableKind;
use pegel_api_types::operations::buckets::Coverage;
use pegel_api_types::operations::stats::{
    BucketStats, GetTableStats, GetTableStatsInput, PartitionStats, Stats,
};
use pegel_core::exact::ExactInt;

use crate::catalog::buckets::Failures;
use crate::catalog::table::kind_of;
use crate::catalog::targets::{self, PARALLEL_PARTS, Part, Targets};
use crate::catalog::{Execute, names};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

type PartAnswer = Result<Vec<BucketAnswer<i64>>, ClientError>;

impl Execute for GetTableStats {
    type Permit = CatalogRead;

    /// Reads the row counts of a table or of those of its partitions that match.
    ///
    /// # Errors
    /// `table_not_found`, `partition_not_found`.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<CatalogRead>,
        input: GetTableStatsInput,
    ) -> Result<Answer<Stats>, Failure> {
        let path = names::table_path(&input.database, &input.table)?;
        let targets = targets::find(execution, &path, input.partition_spec_json.as_ref()).await?;
        let answers = in_parallel(targets.parts.clone(), PARALLEL_PARTS, |part: Part| {
            let (client, buckets) = (execution.client.clone(), targets.buckets_of(&part));
            async move { client.row_counts(&buckets).await }
        })
        .await;
        judge(&targets, answers, execution.sight)
    }
}

fn judge(targets: &Targets, answers: Vec<PartAnswer>, sight: Sight) -> Result<Answer<Stats>, Failure> {
    let mut failures = Failures::default();
    let partitions: Vec<PartitionStats> = targets
        .parts
        .iter()
        .zip(answers)
        .map(|(part, answer)| view(part, answer, sight, &mut failures))
        .collect();
    let buckets = || partitions.iter().flat_map(|partition| &partition.buckets);
    let lost = partitions.iter().filter(|partition| partition.failure.is_some()).count();
    let (bucket_count, answered) = (buckets().count(), buckets().filter(|b| b.row_count.is_some()).count());
    let status = failures.status(answered, bucket_count + lost)?;
    let mut answer = Answer::new(
        status,
        Stats {
            table: targets.info.path.to_string(),
            table_id: ExactInt(targets.info.table_id),
            kind: kind_of(targets.info.descriptor.kind()),
            partition_count: targets.partition_count,
            bucket_count,
            answered_bucket_count: answered,
            row_count: ExactInt::sum(buckets().filter_map(|bucket| bucket.row_count)),
            is_complete: answered == bucket_count && lost == 0 && !targets.is_cut(),
            partitions,
        },
    );
    answer.evidence = failures.into_evidence("table_stats", sight);
    answer.warnings.extend(targets.cut_warning());
    if targets.info.descriptor.kind() == TableKind::Log && answered > 0 {
        answer.warnings.push("of a log table, rows are counted as latest minus earliest offset".to_owned());
    }
    Ok(answer)
}

fn view(part: &Part, answer: PartAnswer, sight: Sight, failures: &mut Failures) -> PartitionStats {
    let (buckets, failure) = match answer {
        Ok(answers) => {
            let bucket = |answer| view_bucket(answer, part.name.as_deref(), sight, failures);
            (answers.into_iter().map(bucket).collect(), None)
        }
        Err(error) => {
            let failure = Failure::from(&error);
            failures.note_whole(part.name.clone().unwrap_or_else(|| "the table".to_owned()), &failure);
            (Vec::new(), Some(failure.part(sight)))
        }
    };
    let answered = buckets.iter().filter(|bucket: &&BucketStats| bucket.row_count.is_some()).count();
    let is_lost = failure.is_some();
    PartitionStats {
        partition: part.name.clone(),
        partition_id: part.partition_id.map(ExactInt),
        state: if is_lost { Coverage::Unavailable } else { Coverage::of(answered, buckets.len()) },
        row_count: ExactInt::sum(buckets.iter().filter_map(|bucket| bucket.row_count)),
        buckets,
        failure,
    }
}

fn view_bucket(
    answer: BucketAnswer<i64>,
    place: Option<&str>,
    sight: Sight,
    failures: &mut Failures,
) -> BucketStats {
    let failure = answer.result.as_ref().err().map(Failure::from);
    if let Some(failure) = &failure {
        failures.note_bucket(place, answer.bucket, answer.leader, failure);
    }
    BucketStats {
        bucket: answer.bucket,
        leader: answer.leader,
        state: if failure.is_none() { Coverage::Ok } else { Coverage::Unavailable },
        row_count: answer.result.ok().map(ExactInt),
        failure: failure.map(|failure| failure.part(sight)),
    }
}

#[cfg(test)]
mod tests {
    use pegel_core::envelope::Status;

    use super::*;
    use crate::catalog::buckets::tests::{answered, refused, silent};
    use crate::catalog::table::tests::orders;

    fn of(answers: Vec<BucketAnswer<i64>>) -> Answer<Stats> {
        let parts = vec![Part { name: None, partition_id: None }];
        let targets = Targets { info: orders(), parts, partition_count: None };
        judge(&targets, vec![Ok(answers)], Sight::Everything).unwrap()
    }

    /// A table of three buckets, one of which is led by a silent server.
    fn one_bucket_silent() -> Answer<Stats> {
        of(vec![answered(0, 12), answered(1, 30), silent(2)])
    }

    #[test]
    fn missing_count_is_absent_and_not_zero() {
        let answer = one_bucket_silent();
        assert_eq!(answer.status, Status::Partial);
        let stats = answer.data.unwrap();
        assert_eq!((stats.row_count, stats.is_complete), (Some(ExactInt(42)), false));
        assert_eq!(stats.partitions[0].buckets[2].row_count, None);
        assert_eq!(stats.partitions[0].state, Coverage::Partial);
    }

    #[test]
    fn table_that_keeps_no_count_is_unsupported_and_a_silent_one_unavailable() {
        let answer = of(vec![refused(0, 15), refused(1, 15)]);
        assert_eq!(answer.status, Status::Unsupported);
        assert_eq!(answer.data.unwrap().row_count, None);
        assert_eq!(of(vec![silent(0), silent(1)]).status, Status::Unavailable);
    }
}
