"""The rule of Kafka that decided a step, with class and method, its proposal or issue, and a link."""

import re
from enum import StrEnum
from typing import NamedTuple


class Decision(StrEnum):
    """The rules. An answer shows the value."""

    APPENDED = "UnifiedLog.appendAsLeader"
    NOT_LEADER = "ReplicaManager.appendToLocalLog: NOT_LEADER_OR_FOLLOWER"
    TOO_FEW_IN_SYNC = "Partition.appendRecordsToLeader: NOT_ENOUGH_REPLICAS"
    TOO_FEW_AFTER_APPEND = "Partition.checkEnoughReplicasReachOffset: NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    ACKED = "DelayedProduce.tryComplete"
    LEADER_HIGH_WATERMARK = "Partition.maybeIncrementLeaderHW"
    HIGH_WATERMARK_WAITS_FOR_MIN_ISR = "Partition.isUnderMinIsr (KAFKA-15583)"
    FOLLOWER_HIGH_WATERMARK = "AbstractFetcherThread.processPartitionData"
    LEFT_OUT = "CachedPartition.maybeUpdateResponseData: nothing new, so left out of the answer (KIP-227)"
    SESSION_WITHOUT_EPOCH = "CachedPartition.reqData: a fetch session does not keep the leader epoch (KAFKA-9338)"
    MADE_LEADER = "Partition.makeLeader"
    EPOCH_AT_ELECTION = "LeaderEpochFileCache.assign at the election (KAFKA-7415)"
    MADE_FOLLOWER = "Partition.makeFollower"
    FOLLOWER_KEPT = "ReplicaManager.makeFollowers: the leader is the same (KAFKA-7164)"
    NO_LEADER = "ReplicaManager.makeFollowers: no leader"
    OLD_CONTROLLER = "ReplicaManager.becomeLeaderOrFollower: an older controller epoch"
    OLD_EPOCH = "ReplicaManager.becomeLeaderOrFollower: the leader epoch is not newer"
    TO_HIGH_WATERMARK = "ReplicaFetcherThread.maybeTruncate: to the high watermark"
    EPOCH_ASKED = "OffsetsForLeaderEpoch (KIP-101)"
    EPOCH_AND_OFFSET_ASKED = "OffsetsForLeaderEpoch with the epoch in the answer (KIP-279)"
    TRUNCATED = "AbstractFetcherThread.getOffsetTruncationState"
    DIVERGING = "Partition.readRecords: a diverging epoch (KIP-595)"
    OUT_OF_RANGE = "AbstractFetcherThread.fetchOffsetAndTruncate"
    EXITS = "ReplicaFetcherThread.handleOffsetOutOfRange: the process exits, unclean election is off"
    FENCED = "Partition.checkCurrentLeaderEpoch (KIP-320)"
    UNEXPECTED_OFFSET = "UnifiedLog.append: UnexpectedAppendOffsetException"
    BEGINS_WITH_BATCH = (
        "Partition.appendRecordsToFollowerOrFutureReplica: the empty log begins with the batch (KAFKA-6975)"
    )
    UNEXPECTED_START = "Log.maybeIncrementLogStartOffset: beyond the log end (KAFKA-12996)"
    HIGH_WATERMARK_BEFORE_TRUNCATION = "AbstractFetcherThread.processFetchRequest: before the truncation (KAFKA-14704)"
    FORGETS_EPOCH = "AbstractFetcherThread.processFetchRequest: an empty answer has no last epoch (KAFKA-15510)"
    STALE_ANSWER = "AbstractFetcherThread.processFetchRequest: the answer is of an older state"
    TRUNCATES_WITHOUT_FETCHER = "AbstractFetcherThread.truncateOnFetchResponse (KAFKA-13207)"
    JOINS_ISR = "Partition.maybeExpandIsr"
    LEAVES_ISR = "Partition.maybeShrinkIsr"
    STAYS_IN_ISR = "Partition.isFollowerOutOfSync: its log ends where the leader's does (KAFKA-7152)"
    STAYS_OUTSIDE_ISR = "Partition.isReplicaIsrEligible"
    ISR_CHANGED = "ReplicationControlManager.alterPartition (KIP-497)"
    ISR_WRITTEN = "ReplicationUtils.updateLeaderAndIsr"
    ISR_REFUSED = "ReplicationControlManager.validateAlterPartitionData"
    ISR_WRITE_REFUSED = "KafkaZkClient.conditionalUpdatePath"
    CLEAN_ELECTION = "PartitionChangeBuilder.electLeader, Election.leaderForOffline"
    UNCLEAN_ELECTION = "PartitionChangeBuilder.electUncleanLeader, Election.leaderForOffline"
    NOT_ELIGIBLE = "Election.leaderForPreferredReplica: not in sync"
    LEADERLESS = "PartitionChangeBuilder.electLeader: nobody is eligible"
    FENCED_BROKER = "ReplicationControlManager.handleBrokerFenced, KafkaController.onBrokerFailure"
    REGISTERED = "ClusterControlManager.registerBroker, KafkaController.onBrokerStartup"
    UNCLEAN_SHUTDOWN = "ReplicationControlManager.handleUncleanBrokerShutdown (KIP-966)"
    BOUNCE_MISSED = "BrokerChangeListener: the broker came back within its session (KAFKA-7235)"
    CONTROLLED_SHUTDOWN = "Election.leaderForControlledShutdown"
    NOT_REGISTERED = "BrokerLifecycleManager.handle: the broker has not registered yet (KIP-631)"
    LOADED = "LogLoader.load"
    EPOCHS_UNSYNCED = "LeaderEpochFileCache.truncateFromEnd: the file is not synced (KAFKA-16541)"
    EPOCHS_TORN = "CheckpointFile.read: leader-epoch-checkpoint is torn, and the log dir goes offline (KAFKA-16541)"
    REPLICA_DELETED = "ReplicaManager.stopReplicas"
    READ = "Partition.fetchRecords: up to the high watermark"
    REASSIGNED = "PartitionReassignmentReplicas.maybeCompleteReassignment (KIP-455)"


class KafkaRule(NamedTuple):
    """The source of a rule of Kafka."""

    methods: tuple[str, ...]
    """`Class.method` in Kafka's source; the first is the one of most releases."""
    reference: str | None
    """Kafka's issue or proposal (KAFKA-, KIP-); None if the rule is older than both."""
    link: str
    """A page of Kafka's about it."""


_METHOD = re.compile(r"[A-Z]\w+\.[a-z]\w+")
_REFERENCE = re.compile(r"(?:KIP|KAFKA)-[0-9]+")
_OTHER_METHODS = {
    Decision.EPOCH_ASKED: ("ReplicaFetcherThread.fetchEpochsFromLeader",),
    Decision.EPOCH_AND_OFFSET_ASKED: ("AbstractFetcherThread.truncateToEpochEndOffsets",),
    Decision.BOUNCE_MISSED: ("BrokerChangeListener.doHandleChildChange", "KafkaController.processBrokerChange"),
}
_OTHER_REFERENCES = {
    Decision.TOO_FEW_IN_SYNC: "KAFKA-1555",
    Decision.TOO_FEW_AFTER_APPEND: "KAFKA-1555",
    Decision.LEADER_HIGH_WATERMARK: "KAFKA-4485",
    Decision.TRUNCATED: "KIP-279",
    Decision.EXITS: "KAFKA-3410",
    Decision.OUT_OF_RANGE: "KAFKA-2143",
    Decision.JOINS_ISR: "KAFKA-7128",
    Decision.LEAVES_ISR: "KAFKA-1546",
    Decision.STAYS_OUTSIDE_ISR: "KIP-841",
    Decision.ISR_REFUSED: "KIP-903",
    Decision.CLEAN_ELECTION: "KIP-966",
    Decision.UNCLEAN_ELECTION: "KIP-106",
    Decision.FENCED_BROKER: "KIP-631",
    Decision.REGISTERED: "KIP-631",
}
_PROPOSALS = {
    "KIP-101": "KIP-101+-+Alter+Replication+Protocol+to+use+Leader+Epoch+rather+than+High+Watermark+for+Truncation",
    "KIP-106": "KIP-106+-+Change+Default+unclean.leader.election.enabled+from+True+to+False",
    "KIP-227": "KIP-227%3A+Introduce+Incremental+FetchRequests+to+Increase+Partition+Scalability",
    "KIP-279": "KIP-279%3A+Fix+log+divergence+between+leader+and+follower+after+fast+leader+fail+over",
    "KIP-320": "KIP-320%3A+Allow+fetchers+to+detect+and+handle+log+truncation",
    "KIP-455": "KIP-455%3A+Create+an+Administrative+Replica+Reassignment+API",
    "KIP-497": "KIP-497%3A+Add+inter-broker+API+to+alter+ISR",
    "KIP-595": "KIP-595%3A+A+Raft+Protocol+for+the+Metadata+Quorum",
    "KIP-631": "KIP-631%3A+The+Quorum-based+Kafka+Controller",
    "KIP-841": "KIP-841%3A+Fenced+replicas+should+not+be+allowed+to+join+the+ISR+in+KRaft",
    "KIP-903": "KIP-903%3A+Replicas+with+stale+broker+epoch+should+not+be+allowed+to+join+the+ISR",
    "KIP-966": "KIP-966%3A+Eligible+Leader+Replicas",
}
_REPLICATION = "https://kafka.apache.org/documentation/#replication"


def rule_of(decision: Decision) -> KafkaRule:
    """Return the source of the rule of a decision."""
    named = _REFERENCE.search(decision)
    reference = named[0] if named else _OTHER_REFERENCES.get(decision)
    if reference is None:
        link = _REPLICATION
    elif reference in _PROPOSALS:
        link = f"https://cwiki.apache.org/confluence/display/KAFKA/{_PROPOSALS[reference]}"
    else:
        link = f"https://issues.apache.org/jira/browse/{reference}"
    methods = _OTHER_METHODS.get(decision) or tuple(_METHOD.findall(decision))
    return KafkaRule(methods, reference, link)
