"""The schemas of the records of __cluster_metadata, Kafka 4.3.1, by `python -m tests.oracle.messages`."""

TABLE = """
RegisterBrokerRecord 0 0-4 0+
 brokerId int32 0+
 isMigratingZkBroker bool 2+
 incarnationId uuid 0+
 brokerEpoch int64 0+
 endPoints []struct 0+
  name string 0+
  host string 0+
  port uint16 0+
  securityProtocol int16 0+
 features []struct 0+
  name string 0+
  minSupportedVersion int16 0+
  maxSupportedVersion int16 0+
 rack string 0+ null=0+
 fenced bool 0+ default=true
 inControlledShutdown bool 1+
 logDirs []uuid 3+ tag=0
 cordonedLogDirs []uuid 4+ null=4+ tag=1 default=null
UnregisterBrokerRecord 1 0 0+
 brokerId int32 0+
 brokerEpoch int64 0+
TopicRecord 2 0 0+
 name string 0+
 topicId uuid 0+
PartitionRecord 3 0-2 0+
 partitionId int32 0+ default=-1
 topicId uuid 0+
 replicas []int32 0+
 isr []int32 0+
 removingReplicas []int32 0+
 addingReplicas []int32 0+
 leader int32 0+ default=-1
 leaderRecoveryState int8 0+ tag=0
 leaderEpoch int32 0+ default=-1
 partitionEpoch int32 0+ default=-1
 directories []uuid 1+
 eligibleLeaderReplicas []int32 2+ null=2+ tag=1 default=null
 lastKnownElr []int32 2+ null=2+ tag=2 default=null
ConfigRecord 4 0 0+
 resourceType int8 0+
 resourceName string 0+
 name string 0+
 value string 0+ null=0+
PartitionChangeRecord 5 0-2 0+
 partitionId int32 0+ default=-1
 topicId uuid 0+
 isr []int32 0+ null=0+ tag=0 default=null
 leader int32 0+ tag=1 default=-2
 replicas []int32 0+ null=0+ tag=2 default=null
 removingReplicas []int32 0+ null=0+ tag=3 default=null
 addingReplicas []int32 0+ null=0+ tag=4 default=null
 leaderRecoveryState int8 0+ tag=5 default=-1
 directories []uuid 1+ null=1+ tag=8 default=null
 eligibleLeaderReplicas []int32 2+ null=2+ tag=6 default=null
 lastKnownElr []int32 2+ null=2+ tag=7 default=null
FenceBrokerRecord 7 0 0+
 id int32 0+
 epoch int64 0+
UnfenceBrokerRecord 8 0 0+
 id int32 0+
 epoch int64 0+
RemoveTopicRecord 9 0 0+
 topicId uuid 0+
DelegationTokenRecord 10 0 0+
 owner string 0+
 requester string 0+
 renewers []string 0+
 issueTimestamp int64 0+
 maxTimestamp int64 0+
 expirationTimestamp int64 0+
 tokenId string 0+
UserScramCredentialRecord 11 0 0+
 name string 0+
 mechanism int8 0+
 salt bytes 0+
 storedKey bytes 0+
 serverKey bytes 0+
 iterations int32 0+
FeatureLevelRecord 12 0 0+
 name string 0+
 featureLevel int16 0+
ClientQuotaRecord 14 0 0+
 entity []struct 0+
  entityType string 0+
  entityName string 0+ null=0+
 key string 0+
 value float64 0+
 remove bool 0+
ProducerIdsRecord 15 0 0+
 brokerId int32 0+
 brokerEpoch int64 0+ default=-1
 nextProducerId int64 0+
BrokerRegistrationChangeRecord 17 0-3 0+
 brokerId int32 0+
 brokerEpoch int64 0+
 fenced int8 0+ tag=0
 inControlledShutdown int8 1+ tag=1
 logDirs []uuid 2+ tag=2
 cordonedLogDirs []uuid 3+ null=3+ tag=3 default=null
AccessControlEntryRecord 18 0 0+
 id uuid 0+
 resourceType int8 0+
 resourceName string 0+
 patternType int8 0+
 principal string 0+
 host string 0+
 operation int8 0+
 permissionType int8 0+
RemoveAccessControlEntryRecord 19 0 0+
 id uuid 0+
NoOpRecord 20 0 0+
ZkMigrationStateRecord 21 0 0+
 zkMigrationState int8 0+
RemoveUserScramCredentialRecord 22 0 0+
 name string 0+
 mechanism int8 0+
BeginTransactionRecord 23 0 0+
 name string 0+ null=0+ tag=0 default=null
EndTransactionRecord 24 0 0+
AbortTransactionRecord 25 0 0+
 reason string 0+ null=0+ tag=0 default=null
RemoveDelegationTokenRecord 26 0 0+
 tokenId string 0+
RegisterControllerRecord 27 0 0+
 controllerId int32 0+
 incarnationId uuid 0+
 zkMigrationReady bool 0+
 endPoints []struct 0+
  name string 0+
  host string 0+
  port uint16 0+
  securityProtocol int16 0+
 features []struct 0+
  name string 0+
  minSupportedVersion int16 0+
  maxSupportedVersion int16 0+
ClearElrRecord 28 0 0+
 topicName string 0+
"""
