"""The schemas of the records of __transaction_state, Kafka 4.3.1, by `python -m tests.oracle.messages`."""

TABLE = """
TransactionLogKey 0 0 none
 transactionalId string 0
TransactionLogValue 0 0-1 1+
 producerId int64 0+
 previousProducerId int64 1+ tag=0 default=-1
 nextProducerId int64 1+ tag=1 default=-1
 producerEpoch int16 0+
 nextProducerEpoch int16 1+ tag=3 default=-1
 transactionTimeoutMs int32 0+
 transactionStatus int8 0+
 transactionPartitions []struct 0+ null=0+
  topic string 0+
  partitionIds []int32 0+
 transactionLastUpdateTimestampMs int64 0+
 transactionStartTimestampMs int64 0+
 clientTransactionVersion int16 1+ tag=2
"""
