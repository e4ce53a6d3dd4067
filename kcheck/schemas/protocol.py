"""The schemas of messages from members of a classic group, Kafka 4.3.1, by `python -m tests.oracle.messages`."""

TABLE = """
ConsumerProtocolAssignment - 0-3 none
 assignedPartitions []struct 0+
  topic string 0+
  partitions []int32 0+
 userData bytes 0+ null=0+ default=null
ConsumerProtocolSubscription - 0-3 none
 topics []string 0+
 userData bytes 0+ null=0+ default=null
 ownedPartitions []struct 1+
  topic string 1+
  partitions []int32 1+
 generationId int32 2+ default=-1
 rackId string 3+ null=3+ default=null
"""
