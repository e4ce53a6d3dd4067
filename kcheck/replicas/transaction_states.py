"""The transactions that coordinators know, read from replicas of `__transaction_state`."""

from collections.abc import Iterable, Mapping

from kcheck.model.coordinators import TransactionState
from kcheck.model.unreadable import UnreadableError
from kcheck.records.record import Record, read_records
from kcheck.replicas.replica import LogFile
from kcheck.schemas.records import Decoder, decoder
from kcheck.segments.batches import Walk

_BATCH_SIZE_MAX = 64 << 20
"""Maximum size of a batch that kcheck reads, as coordinators write at most `segment.bytes` at once."""
_COUNT_MAX = 1_000_000
"""At most this many transactional ids are held."""
_PENDING = frozenset({1, 2, 3, 7})
"""Ongoing, PrepareCommit, PrepareAbort, PrepareEpochFence (TransactionState 0.11 to 4.3.1)."""


def transaction_states(log: tuple[LogFile, ...]) -> tuple[dict[str, TransactionState], bool]:
    """Return the last state of each transactional id in one replica, and whether every record was read.

    TransactionStateManager.loadTransactionMetadata 0.11 to 4.3.1.
    """
    states: dict[str, TransactionState] = {}
    decode, is_whole = decoder("transactions"), True
    for file in log:
        try:
            with file.open() as source:
                walk = Walk(source, verify=True)
                for batch in walk:
                    fits = batch.size <= _BATCH_SIZE_MAX and batch.magic == 2
                    data = source.pread(batch.size, batch.position) if fits else b""
                    is_whole &= len(data) == batch.size and _take(data, states, decode)
                is_whole &= walk.position == source.size
        except UnreadableError:
            is_whole = False
    return states, is_whole


def _take(data: bytes, states: dict[str, TransactionState], decode: Decoder) -> bool:
    """Add the records of a batch; return whether all of them are readable."""
    for record in read_records(data, _BATCH_SIZE_MAX):
        if not isinstance(record, Record):
            return record.passed
        message = decode(None if record.key is None else bytes(record.key), _bytes(record.value))
        key = None if message.key is None else message.key.data
        if key is None or len(states) >= _COUNT_MAX:
            return False
        name = str(key["transactionalId"])
        if record.value is None:
            states.pop(name, None)
        elif message.value is None or message.value.data is None:
            return False
        else:
            states[name] = _state(name, message.value.data)
    return True


def _bytes(part: memoryview | bytes | None) -> bytes | None:
    return None if part is None else bytes(part)


def _state(name: str, fields: Mapping[str, object]) -> TransactionState:
    numbers = {key: value for key, value in fields.items() if isinstance(value, int)}
    topics = fields["transactionPartitions"]
    return TransactionState(
        transactional_id=name,
        producer_id=numbers["producerId"],
        producer_epoch=numbers["producerEpoch"],
        is_pending=numbers["transactionStatus"] in _PENDING,
        partitions=frozenset(_partitions(topics if isinstance(topics, list | tuple) else ())),
        started=numbers["transactionStartTimestampMs"],
    )


def _partitions(topics: Iterable[Mapping[str, object]]) -> Iterable[tuple[str, int]]:
    for topic in topics:
        numbers = topic["partitionIds"]
        assert isinstance(numbers, list | tuple)
        yield from ((str(topic["topic"]), int(number)) for number in numbers)
