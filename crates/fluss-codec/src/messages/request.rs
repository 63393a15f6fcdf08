//! Which request message belongs to which API key, and which response answers it.

use bytes::Bytes;
use prost::Message as _;

use super::generated::*;
use super::wire::{DecodeError, MessageLayout, Wire, decode};
use crate::api_key::ApiKey;

/// A message that a client sends as the body of a request frame.
pub trait Request: Wire {
    /// API key that goes in the frame header.
    const KEY: ApiKey;
    /// Message that answers the request.
    type Response: Wire;
}

macro_rules! requests {
    ($($key:ident: $request:ident => $response:ident,)*) => {
        $(impl Request for $request {
            const KEY: ApiKey = ApiKey::$key;
            type Response = $response;
        })*

        /// Returns the layout of the request message of a key.
        pub fn request_layout(key: ApiKey) -> &'static MessageLayout {
            match key {
                $(ApiKey::$key => $request::layout(),)*
            }
        }

        /// Returns the layout of the response message of a key.
        pub fn response_layout(key: ApiKey) -> &'static MessageLayout {
            match key {
                $(ApiKey::$key => $response::layout(),)*
            }
        }

        /// Decodes a request body known only by its key and encodes it again in field order.
        ///
        /// # Errors
        /// [`DecodeError`] names the message and the field at fault.
        pub fn normalize_request(key: ApiKey, body: Bytes) -> Result<Bytes, DecodeError> {
            Ok(match key {
                $(ApiKey::$key => Bytes::from(decode::<$request>(body)?.encode_to_vec()),)*
            })
        }

        /// Decodes a response body known only by its key and encodes it again in field order.
        ///
        /// # Errors
        /// [`DecodeError`] names the message and the field at fault.
        pub fn normalize_response(key: ApiKey, body: Bytes) -> Result<Bytes, DecodeError> {
            Ok(match key {
                $(ApiKey::$key => Bytes::from(decode::<$response>(body)?.encode_to_vec()),)*
            })
        }
    };
}

requests! {
    ApiVersions: ApiVersionsRequest => ApiVersionsResponse,
    CreateDatabase: CreateDatabaseRequest => CreateDatabaseResponse,
    DropDatabase: DropDatabaseRequest => DropDatabaseResponse,
    ListDatabases: ListDatabasesRequest => ListDatabasesResponse,
    DatabaseExists: DatabaseExistsRequest => DatabaseExistsResponse,
    CreateTable: CreateTableRequest => CreateTableResponse,
    DropTable: DropTableRequest => DropTableResponse,
    GetTableInfo: GetTableInfoRequest => GetTableInfoResponse,
    ListTables: ListTablesRequest => ListTablesResponse,
    ListPartitionInfos: ListPartitionInfosRequest => ListPartitionInfosResponse,
    TableExists: TableExistsRequest => TableExistsResponse,
    GetTableSchema: GetTableSchemaRequest => GetTableSchemaResponse,
    GetMetadata: MetadataRequest => MetadataResponse,
    UpdateMetadata: UpdateMetadataRequest => UpdateMetadataResponse,
    ProduceLog: ProduceLogRequest => ProduceLogResponse,
    FetchLog: FetchLogRequest => FetchLogResponse,
    PutKv: PutKvRequest => PutKvResponse,
    Lookup: LookupRequest => LookupResponse,
    NotifyLeaderAndIsr: NotifyLeaderAndIsrRequest => NotifyLeaderAndIsrResponse,
    StopReplica: StopReplicaRequest => StopReplicaResponse,
    AdjustIsr: AdjustIsrRequest => AdjustIsrResponse,
    ListOffsets: ListOffsetsRequest => ListOffsetsResponse,
    CommitKvSnapshot: CommitKvSnapshotRequest => CommitKvSnapshotResponse,
    GetLatestKvSnapshots: GetLatestKvSnapshotsRequest => GetLatestKvSnapshotsResponse,
    GetKvSnapshotMetadata: GetKvSnapshotMetadataRequest => GetKvSnapshotMetadataResponse,
    GetFilesystemSecurityToken: GetFileSystemSecurityTokenRequest => GetFileSystemSecurityTokenResponse,
    InitWriter: InitWriterRequest => InitWriterResponse,
    CommitRemoteLogManifest: CommitRemoteLogManifestRequest => CommitRemoteLogManifestResponse,
    NotifyRemoteLogOffsets: NotifyRemoteLogOffsetsRequest => NotifyRemoteLogOffsetsResponse,
    NotifyKvSnapshotOffset: NotifyKvSnapshotOffsetRequest => NotifyKvSnapshotOffsetResponse,
    CommitLakeTableSnapshot: CommitLakeTableSnapshotRequest => CommitLakeTableSnapshotResponse,
    NotifyLakeTableOffset: NotifyLakeTableOffsetRequest => NotifyLakeTableOffsetResponse,
    GetLakeSnapshot: GetLakeSnapshotRequest => GetLakeSnapshotResponse,
    LimitScan: LimitScanRequest => LimitScanResponse,
    PrefixLookup: PrefixLookupRequest => PrefixLookupResponse,
    GetDatabaseInfo: GetDatabaseInfoRequest => GetDatabaseInfoResponse,
    CreatePartition: CreatePartitionRequest => CreatePartitionResponse,
    DropPartition: DropPartitionRequest => DropPartitionResponse,
    Authenticate: AuthenticateRequest => AuthenticateResponse,
    CreateAcls: CreateAclsRequest => CreateAclsResponse,
    ListAcls: ListAclsRequest => ListAclsResponse,
    DropAcls: DropAclsRequest => DropAclsResponse,
    LakeTieringHeartbeat: LakeTieringHeartbeatRequest => LakeTieringHeartbeatResponse,
    ControlledShutdown: ControlledShutdownRequest => ControlledShutdownResponse,
    AlterTable: AlterTableRequest => AlterTableResponse,
    DescribeClusterConfigs: DescribeClusterConfigsRequest => DescribeClusterConfigsResponse,
    AlterClusterConfigs: AlterClusterConfigsRequest => AlterClusterConfigsResponse,
    AddServerTag: AddServerTagRequest => AddServerTagResponse,
    RemoveServerTag: RemoveServerTagRequest => RemoveServerTagResponse,
    Rebalance: RebalanceRequest => RebalanceResponse,
    ListRebalanceProgress: ListRebalanceProgressRequest => ListRebalanceProgressResponse,
    CancelRebalance: CancelRebalanceRequest => CancelRebalanceResponse,
    PrepareLakeTableSnapshot: PrepareLakeTableSnapshotRequest => PrepareLakeTableSnapshotResponse,
    RegisterProducerOffsets: RegisterProducerOffsetsRequest => RegisterProducerOffsetsResponse,
    GetProducerOffsets: GetProducerOffsetsRequest => GetProducerOffsetsResponse,
    DeleteProducerOffsets: DeleteProducerOffsetsRequest => DeleteProducerOffsetsResponse,
    AcquireKvSnapshotLease: AcquireKvSnapshotLeaseRequest => AcquireKvSnapshotLeaseResponse,
    ReleaseKvSnapshotLease: ReleaseKvSnapshotLeaseRequest => ReleaseKvSnapshotLeaseResponse,
    DropKvSnapshotLease: DropKvSnapshotLeaseRequest => DropKvSnapshotLeaseResponse,
    GetTableStats: GetTableStatsRequest => GetTableStatsResponse,
    AlterDatabase: AlterDatabaseRequest => AlterDatabaseResponse,
    ScanKv: ScanKvRequest => ScanKvResponse,
    GetClusterHealth: GetClusterHealthRequest => GetClusterHealthResponse,
    ListRemoteLogManifests: ListRemoteLogManifestsRequest => ListRemoteLogManifestsResponse,
    ListKvSnapshots: ListKvSnapshotsRequest => ListKvSnapshotsResponse,
}
