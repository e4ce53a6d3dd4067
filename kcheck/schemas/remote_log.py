"""The schemas of the records of __remote_log_metadata, Kafka 4.3.1, by `python -m tests.oracle.messages`."""

TABLE = """
RemoteLogSegmentMetadataRecord 0 0 0+
 remoteLogSegmentId struct 0+
  topicIdPartition struct 0+
   name string 0+
   id uuid 0+
   partition int32 0+
  id uuid 0+
 startOffset int64 0+
 endOffset int64 0+
 brokerId int32 0+
 maxTimestampMs int64 0+
 eventTimestampMs int64 0+
 segmentLeaderEpochs []struct 0+
  leaderEpoch int32 0+
  offset int64 0+
 segmentSizeInBytes int32 0+
 customMetadata bytes 0+ null=0+ default=null
 remoteLogSegmentState int8 0+
 txnIndexEmpty bool 0+ tag=0
RemoteLogSegmentMetadataUpdateRecord 1 0 0+
 remoteLogSegmentId struct 0+
  topicIdPartition struct 0+
   name string 0+
   id uuid 0+
   partition int32 0+
  id uuid 0+
 brokerId int32 0+
 eventTimestampMs int64 0+
 customMetadata bytes 0+ null=0+ default=null
 remoteLogSegmentState int8 0+
RemotePartitionDeleteMetadataRecord 2 0 0+
 topicIdPartition struct 0+
  name string 0+
  id uuid 0+
  partition int32 0+
 brokerId int32 0+
 eventTimestampMs int64 0+
 remotePartitionDeleteState int8 0+
RemoteLogSegmentMetadataSnapshotRecord 3 0 0+
 segmentId uuid 0+
 startOffset int64 0+
 endOffset int64 0+
 brokerId int32 0+
 maxTimestampMs int64 0+
 eventTimestampMs int64 0+
 segmentLeaderEpochs []struct 0+
  leaderEpoch int32 0+
  offset int64 0+
 segmentSizeInBytes int32 0+
 customMetadata bytes 0+ null=0+ default=null
 remoteLogSegmentState int8 0+
 txnIndexEmpty bool 0+ tag=0
"""
