//! The envelope of every answer about a cluster.
//!
//! A status says what the data is worth, the evidence says how it was come by
//! and what is missing. An empty list, a part of a list and no list at all are
//! three different statuses; nothing missing is ever shown as zero.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{Array, KnownFormat, Object, OneOf, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::error_code::{ErrorCode, ExitClass};

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// Complete.
    Ok,
    /// Complete, and there is nothing.
    Empty,
    /// A part is missing; the evidence says which.
    Partial,
    /// The cluster could not be asked.
    Unavailable,
    /// The cluster cannot answer this.
    Unsupported,
    /// The cluster has access control switched off, so there is nothing to ask.
    SecurityDisabled,
    /// The cluster said no.
    Refused,
    /// A change was sent once and no answer came.
    OutcomeUnknown,
    /// A change was accepted, and reading back does not prove it yet.
    ReconciliationPending,
}

impl Status {
    /// All statuses.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Empty,
        Self::Partial,
        Self::Unavailable,
        Self::Unsupported,
        Self::SecurityDisabled,
        Self::Refused,
        Self::OutcomeUnknown,
        Self::ReconciliationPending,
    ];

    /// Returns the status as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Empty => "empty",
            Self::Partial => "partial",
            Self::Unavailable => "unavailable",
            Self::Unsupported => "unsupported",
            Self::SecurityDisabled => "security_disabled",
            Self::Refused => "refused",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::ReconciliationPending => "reconciliation_pending",
        }
    }

    /// Returns how a command ends whose answer has this status.
    pub const fn exit_class(self) -> ExitClass {
        match self {
            Self::Ok | Self::Empty => ExitClass::Success,
            Self::Partial | Self::OutcomeUnknown | Self::ReconciliationPending => ExitClass::Partial,
            Self::Unavailable => ExitClass::Unavailable,
            Self::Refused => ExitClass::Refused,
            Self::Unsupported | Self::SecurityDisabled => ExitClass::Unsupported,
        }
    }

    /// Returns the status of an answer that failed with `code`, or nothing when
    /// such a failure is a problem with the question and no answer at all.
    pub const fn of_failure(code: ErrorCode) -> Option<Self> {
        match code.exit_class() {
            ExitClass::Success | ExitClass::Internal | ExitClass::Usage | ExitClass::NotFound => None,
            ExitClass::Partial => Some(Self::Partial),
            ExitClass::Unavailable => Some(Self::Unavailable),
            ExitClass::Refused => Some(Self::Refused),
            ExitClass::Unsupported => match code {
                ErrorCode::SecurityDisabled => Some(Self::SecurityDisabled),
                _ => Some(Self::Unsupported),
            },
        }
    }
}

/// How one piece of evidence turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceState {
    /// It was done and worked.
    Ok,
    /// It was done and failed.
    Failed,
    /// It was not done.
    Skipped,
}

impl EvidenceState {
    /// Returns the state as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One thing that was tried for an answer, and how it turned out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    /// What was tried, as `read_bucket` or `negotiation`.
    #[schema(value_type = String)]
    pub check: Cow<'static, str>,
    /// What it concerns: an address, a table, a bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How it turned out.
    pub state: EvidenceState,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// What was seen, in a few words.
    pub message: String,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Time it took in milliseconds, absent when it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Whether data was read for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// It was.
    Live,
    /// It was read before, at the answer's `observed_at`.
    Cache,
}

/// Who answered and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Source {
    /// The cluster that was asked: its slug, or the bootstrap addresses of one that is not registered.
    pub cluster: String,
    /// Whether the data was read for this answer.
    pub kind: SourceKind,
    /// How old the data was when this answer was given, in milliseconds; 0 for one that was read for it.
    pub age_ms: u64,
    /// Servers that answered at least one request of this execution, with what they answered. None
    /// are told to someone who may not see servers.
    pub servers: Vec<ServerShare>,
    /// Time from the question to the finished answer, in milliseconds.
    pub duration_ms: u64,
}

/// One server's share in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerShare {
    /// Address as `host:port`.
    pub address: String,
    /// Requests it answered, as Fluss names them, sorted, each once.
    #[schema(value_type = Vec<String>)]
    pub answered: Vec<Cow<'static, str>>,
    /// How many requests it answered.
    pub answer_count: u64,
}

/// An answer about a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// What the data is worth.
    pub status: Status,
    /// Id of this execution, for logs and audit.
    pub execution_id: Uuid,
    /// When the data was read: when the answer was complete, or earlier for data from a cache.
    pub observed_at: Timestamp,
    /// Who answered and how.
    pub source: Source,
    /// The answer itself; absent when there is none.
    pub data: Option<T>,
    /// What was tried and failed, and what was seen on the way.
    pub evidence: Vec<Evidence>,
    /// What to keep in mind when reading the data.
    pub warnings: Vec<String>,
}

// By hand, as what is derived for a generic type loses that `data` may be null.
impl<T: ToSchema> PartialSchema for Envelope<T> {
    fn schema() -> RefOr<Schema> {
        let reference = |name: Cow<'_, str>| Ref::from_schema_name(name);
        let nothing = Object::builder().schema_type(Type::Null);
        let text = |format| {
            let format = SchemaFormat::KnownFormat(format);
            Object::builder().schema_type(Type::String).format(Some(format))
        };
        Object::builder()
            .description(Some("An answer about a cluster; `data` is null when there is none."))
            .property("status", reference(Status::name()))
            .property("execution_id", text(KnownFormat::Uuid))
            .property("observed_at", text(KnownFormat::DateTime))
            .property("source", reference(Source::name()))
            .property("data", OneOf::builder().item(reference(T::name())).item(nothing))
            .property("evidence", Array::new(reference(Evidence::name())))
            .property("warnings", Vec::<String>::schema())
            .required("status")
            .required("execution_id")
            .required("observed_at")
            .required("source")
            .required("data")
            .required("evidence")
            .required("warnings")
            .into()
    }
}

impl<T: ToSchema> ToSchema for Envelope<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("Envelope_{}", T::name()))
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Status::name().into_owned(), Status::schema()));
        schemas.push((Source::name().into_owned(), Source::schema()));
        schemas.push((Evidence::name().into_owned(), Evidence::schema()));
        schemas.push((T::name().into_owned(), T::schema()));
        Source::schemas(schemas);
        Evidence::schemas(schemas);
        T::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_written_as_their_names() {
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        for state in [EvidenceState::Ok, EvidenceState::Failed, EvidenceState::Skipped] {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
    }

    #[test]
    fn empty_is_success_and_differs_from_partial_and_unavailable() {
        let exit = |status: Status| status.exit_class().exit_code();
        assert_eq!([Status::Ok, Status::Empty, Status::Partial, Status::Unavailable].map(exit), [0, 0, 3, 4]);
        assert_eq!([Status::Refused, Status::SecurityDisabled, Status::Unsupported].map(exit), [5, 7, 7]);
    }

    #[test]
    fn failures_of_the_question_have_no_status() {
        for code in ErrorCode::ALL {
            let class = code.exit_class();
            let is_problem = matches!(class, ExitClass::Internal | ExitClass::Usage | ExitClass::NotFound);
            assert_eq!(Status::of_failure(*code).is_none(), is_problem, "{code}");
            if let Some(status) = Status::of_failure(*code) {
                assert_eq!(status.exit_class(), class, "{code}");
            }
        }
        assert_eq!(Status::of_failure(ErrorCode::SecurityDisabled), Some(Status::SecurityDisabled));
        assert_eq!(Status::of_failure(ErrorCode::AuthorizationFailed), Some(Status::Refused));
    }

    #[test]
    fn envelope_has_a_fixed_shape() {
        let envelope = Envelope {
            status: Status::Partial,
            execution_id: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001),
            observed_at: Timestamp::from_second(1_767_225_600).unwrap(),
            source: Source {
                cluster: "a:1".to_owned(),
                kind: SourceKind::Live,
                age_ms: 0,
                servers: vec![ServerShare {
                    address: "a:1".to_owned(),
                    answered: vec!["GET_METADATA".into()],
                    answer_count: 2,
                }],
                duration_ms: 7,
            },
            data: Some(3),
            evidence: vec![Evidence {
                check: "read_bucket".into(),
                subject: Some("shop.orders bucket 1".to_owned()),
                state: EvidenceState::Failed,
                code: Some(ErrorCode::ConnectFailed),
                message: "cannot connect to a:2".to_owned(),
                hint: None,
                duration_ms: None,
            }],
            warnings: vec!["may be filtered".to_owned()],
        };
        let json = serde_json::to_string_pretty(&envelope).unwrap();
        assert_eq!(serde_json::from_str::<Envelope<i32>>(&json).unwrap(), envelope);
        insta::assert_snapshot!(json);
    }
}
