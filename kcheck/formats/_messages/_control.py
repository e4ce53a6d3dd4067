"""The schemas of what control records of KRaft hold, Kafka 4.3.1: written by `python -m tests.oracle.messages`."""

TABLE = """
KRaftVersionRecord - 0 0+
 version int16 0+
 kRaftVersion int16 0+
LeaderChangeMessage - 0-1 0+
 version int16 0+
 leaderId int32 0+
 voters []struct 0+
  voterId int32 0+
  voterDirectoryId uuid 1+
 grantingVoters []struct 0+
  voterId int32 0+
  voterDirectoryId uuid 1+
SnapshotFooterRecord - 0 0+
 version int16 0+
SnapshotHeaderRecord - 0 0+
 version int16 0+
 lastContainedLogTimestamp int64 0+
VotersRecord - 0 0+
 version int16 0+
 voters []struct 0+
  voterId int32 0+
  voterDirectoryId uuid 0+
  endpoints []struct 0+
   name string 0+
   host string 0+
   port uint16 0+
  kRaftVersionFeature struct 0+
   minSupportedVersion int16 0+
   maxSupportedVersion int16 0+
"""
