"""Correct one field of a batch header, if exactly one value fits the CRC and the neighbouring batches.

The CRC does not cover the base offset, the leader epoch or the magic. So one of these fields can be wrong in an
otherwise valid batch, and the neighbouring batches may leave only one value:

- magic: the stored CRC matches the CRC-32C of the header and the records, so the magic is 2;
- base offset: the batch fits between its neighbours at one offset only;
- leader epoch: the batches before and after it have the same epoch, or the leader-epoch-checkpoint names it.

The repair never changes a CRC.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.core.replication.leader_epochs import epoch_for_offset
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.finding import Finding
from kcheck.model.names import log_name
from kcheck.records.batch import HEADER, MAGIC_AT, OVERHEAD, crc32c, patch
from kcheck.repairs._contract import (
    Evidence,
    Impact,
    PartitionSite,
    PatchEdit,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    Settled,
)
from kcheck.repairs._epochs import entries_of
from kcheck.repairs._files import bases, path_of

_CRC_FROM = 21
_BATCH_SIZE_MAX = 64 << 20


class _HeaderAt(NamedTuple):
    name: str
    position: int
    size: int
    base_offset: int
    epoch: int
    crc: int
    last_offset_delta: int


class _Log:
    """The `.log` files of a partition, with the patches that were found so far."""

    def __init__(self, partition: PartitionSite) -> None:
        self.partition = partition
        self.names = [log_name(base) for base in bases(partition)]
        self.patches: list[PatchEdit] = []

    def read(self, name: str, position: int, size: int) -> bytes:
        """Return some bytes, fewer at the end of the file."""
        data = bytearray(self.partition.bytes_at(name, position, size))
        path = path_of(self.partition, name)
        patch(
            data, position, tuple((patched.position, patched.data) for patched in self.patches if patched.path == path)
        )
        return bytes(data)

    def header(self, name: str, position: int) -> _HeaderAt | None:
        """Return the header at a position, None where no batch of magic 2 fits."""
        data = self.read(name, position, HEADER.size)
        if len(data) < HEADER.size:
            return None
        fields = dict(zip(HEADER.names, HEADER.unpack_from(data), strict=True))
        size = fields["batch_size"] + OVERHEAD.size
        if not HEADER.size <= size <= _BATCH_SIZE_MAX:
            return None
        return _HeaderAt(
            name, position, size, fields["base_offset"], fields["partition_leader_epoch"], fields["crc"],
            fields["last_offset_delta"],
        )  # fmt: skip

    def whole(self, header: _HeaderAt | None) -> _HeaderAt | None:
        """Return a header if its batch matches its CRC-32C, whatever its magic says."""
        if header is None or header.last_offset_delta < 0:
            return None
        data = self.read(header.name, header.position, header.size)
        return header if len(data) == header.size and crc32c(data[_CRC_FROM:]) == header.crc else None

    def before(self, header: _HeaderAt) -> _HeaderAt | None:
        """Return the batch before another one, also in the segment before; None if it is incomplete."""
        name, end = header.name, header.position
        at = self.names.index(name)
        if not end and at:
            name = self.names[at - 1]
            end = self.partition.size(name)
        position, last = 0, None
        while position < end:
            last = self.header(name, position)
            if last is None:
                return None
            position += last.size
        return self.whole(last) if position == end else None

    def behind(self, header: _HeaderAt) -> _HeaderAt | None:
        """Return the batch after another one, also in the next segment; None if it is incomplete."""
        name, position = header.name, header.position + header.size
        at = self.names.index(name)
        if position == self.partition.size(name) and at + 1 < len(self.names):
            name, position = self.names[at + 1], 0
        return self.whole(self.header(name, position))


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield all the patches of a finding, or why one of its batches cannot be put right."""
    for finding in findings:
        rows = finding.data.get("batches")
        assert isinstance(rows, tuple)
        if finding.data.get("count") != len(rows) and finding.id != "KC149":
            yield Refused(
                finding, f"{finding.data.get('count')} batches are wrong: too many for one field to be the cause"
            )
            continue
        yield _answer(_Log(partition), finding, [int(row["position"]) for row in rows])


def _answer(log: _Log, finding: Finding, positions: list[int]) -> RepairOutcome:
    name = finding.where.file or ""
    field = _FIELDS[finding.id]
    reasons: list[str] = []
    for position in positions:
        header = log.whole(log.header(name, position))
        if header is None:
            return Refused(
                finding, f"the batch at position {position} does not match its CRC: more than one field is wrong"
            )
        if not field.is_wrong(log, header):
            continue  # It was another batch that made it look so.
        suspects = (header, log.before(header)) if field.may_be_before else (header,)
        fits = ((suspect, field.value(log, suspect)) for suspect in suspects if suspect is not None)
        fitting = next(((suspect, value) for suspect, value in fits if value is not None), None)
        if fitting is None:
            return Refused(finding, f"the batches around position {position} leave more than one {field.name}")
        wrong, value = fitting
        data = value.to_bytes(field.size, "big")
        log.patches.append(PatchEdit(path_of(log.partition, wrong.name), wrong.position + field.at, data))
        reasons.append(f"set the {field.name} of the batch at position {wrong.position} of {wrong.name} to {value}")
    evidence = tuple(
        Evidence(suspect.path, suspect.position, crc_verified=True, what="the batch matches its CRC-32C")
        for suspect in log.patches
    )
    if not log.patches and log.partition.is_patched(name):
        return Settled(finding)
    if not log.patches:
        return Refused(finding, "no single field explains it")
    return RepairStep(finding, tuple(log.patches), f"{'; '.join(reasons)}: no other value fits", evidence)


def _epoch_is_wrong(log: _Log, header: _HeaderAt) -> bool:
    before = log.before(header)
    return before is None or before.epoch > header.epoch or (before.base_offset > header.base_offset)


def _epoch(log: _Log, header: _HeaderAt) -> int | None:
    """Return the only epoch that fits, from both neighbors, or from the file if it is between theirs."""
    before, behind = log.before(header), log.behind(header)
    if before is not None and behind is not None and before.epoch == behind.epoch != header.epoch:
        return before.epoch
    stated = epoch_for_offset(entries_of(log.partition), Offset(header.base_offset))
    if stated is None or stated == header.epoch or (before is None and behind is None):
        return None
    fits = (before is None or before.epoch <= stated) and (behind is None or stated <= behind.epoch)
    return stated if fits else None


def _offset_is_wrong(log: _Log, header: _HeaderAt) -> bool:
    before = log.before(header)
    low = int(header.name[:20]) if before is None else before.base_offset + before.last_offset_delta + 1
    return header.base_offset < max(low, int(header.name[:20])) or _too_far(log, header)


def _too_far(log: _Log, header: _HeaderAt) -> bool:
    behind = log.behind(header)
    if header.base_offset + header.last_offset_delta > int(header.name[:20]) + RELATIVE_OFFSET_MAX:
        return True
    return behind is not None and header.base_offset + header.last_offset_delta >= behind.base_offset


def _offset(log: _Log, header: _HeaderAt) -> int | None:
    """Return the only base offset with which a batch fits between its neighbours."""
    before, behind = log.before(header), log.behind(header)
    if behind is None or (before is None and header.position):
        return None
    first = int(header.name[:20])
    if before is not None:
        first = max(first, before.base_offset + before.last_offset_delta + 1)
    fits = first == behind.base_offset - 1 - header.last_offset_delta
    return first if fits and first != header.base_offset else None


class _UncheckedField(NamedTuple):
    """A field that no CRC covers, with its position, a test for wrong values, and the only value that fits.

    `may_be_before` is true if the batch that a rule names can be right, and the one before it wrong.
    """

    name: str
    at: int
    size: int
    is_wrong: Callable[[_Log, _HeaderAt], bool]
    value: Callable[[_Log, _HeaderAt], int | None]
    may_be_before: bool = True


_MAGIC = _UncheckedField("magic", MAGIC_AT, 1, lambda *_: True, lambda *_: 2, may_be_before=False)
_OFFSET = _UncheckedField("base offset", 0, 8, _offset_is_wrong, _offset)
_EPOCH = _UncheckedField("leader epoch", 12, 4, _epoch_is_wrong, _epoch)
_FIELDS = {"KC145": _MAGIC, "KC146": _OFFSET, "KC147": _OFFSET, "KC149": _EPOCH}


REPAIR = Repair(
    name="patch-batch-headers",
    rank=45,
    scope=RepairScope.PARTITION,
    rules=tuple(_FIELDS),
    plan=plan,
    impact=Impact.FIELD,
    page=__doc__,
)
