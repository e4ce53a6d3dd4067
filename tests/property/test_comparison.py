"""Comparing many partitions at once gives the same rows as comparing them one by one with core."""

from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.releases.releases import release
from kcheck.fleet.scan import comparison as cross
from kcheck.fleet.scan.comparison import compare
from kcheck.fleet.scan.replicas import FIELDS, KEY, compared, replicas_schema
from tests.strategies import caches


def partitions_batch(groups: list[dict[str, Any]]) -> pa.RecordBatch:
    """Return partitions in the form that the comparison takes."""
    known = replicas_schema()
    replica = pa.struct([known.field(name) for name in FIELDS])
    fields = [*(known.field(name) for name in KEY), ("replicas_of_topic", pa.int64()), ("replicas", pa.list_(replica))]
    return pa.RecordBatch.from_pylist(groups, schema=pa.schema(fields))


_NO_METADATA = {"cluster_topic_id": None, "is_certain": None, "in_isr": None}
_IN_CLUSTER = (
    *(_NO_METADATA,) * 3,
    *(
        {"cluster_topic_id": topic_id, "is_certain": is_certain, "in_isr": in_isr}
        for topic_id in ("a", "b", None)
        for is_certain in (False, True)
        for in_isr in (False, True, None)
    ),
)
"""What the metadata of the cluster may say of a replica, if there are any."""


@st.composite
def replicas(draw: st.DrawFn, broker_id: int) -> dict[str, Any]:
    """Return a replica, sometimes an odd one."""
    cache = draw(caches())
    end = draw(st.integers(0, 45))
    rises = all(a.epoch < b.epoch and a.start_offset < b.start_offset for a, b in pairwise(cache))
    if rises and draw(st.booleans()):
        cache = tuple(entry for entry in cache if entry.start_offset < end)
    start = draw(st.sampled_from([0, 0, 0, draw(st.integers(0, 50))]))
    start = min(start, end) if draw(st.integers(0, 9)) else start
    odd = draw(st.integers(0, 30))
    entries = [{"epoch": epoch, "start_offset": offset} for epoch, offset in cache]
    seen = max((-1, *(entry.epoch for entry in cache)))
    mark = draw(st.sampled_from([None, 0, end, min(draw(st.integers(0, 45)), end)]))
    return {
        "broker": f"b{broker_id}", "broker_id": broker_id, "log_dir": "/d", "dir": "t-0",
        "topic_id": draw(st.sampled_from([None, "a", "a", "a", "b"])) if odd == 1 else "a",
        "log_start_offset": start, "high_watermark": mark, "log_end_offset": end,
        "loaded_log_start": start, "loaded_log_end": None if odd == 2 else end,
        "loaded_high_watermark": None if odd == 3 else max(min(mark or 0, end), min(start, end)),
        "first_segment": draw(st.sampled_from([0, start, start, max(0, start - 1)])),
        "seen_epoch": seen, "problem": "gone" if odd in (2, 4) else None,
        "told_differs": odd == 5, "is_read": odd == 6, "lacks_epochs": False, "compacted": draw(st.booleans()),
        "folder": None, "cache": entries,
        "told": entries[1:] if odd == 5 else [],
        "runs": [{"epoch": 1, "start_offset": start, "last_offset": max(start, end - 1)}] if odd == 6 else [],
        "logs": [], **draw(st.sampled_from(_IN_CLUSTER)),
    }  # fmt: skip


@st.composite
def groups(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return some partitions; in many of them the replicas share one history."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        ids = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4, unique=draw(st.integers(0, 9)) > 0))
        several = [draw(replicas(broker_id)) for broker_id in ids]
        if draw(st.booleans()):
            for other in several[1:]:
                kept = draw(st.integers(0, len(several[0]["cache"])))
                other["cache"] = several[0]["cache"][:kept] + (other["cache"][kept:] if draw(st.booleans()) else [])
                other["seen_epoch"] = max((-1, *(entry["epoch"] for entry in other["cache"])))
        count = max(len(ids), draw(st.integers(1, 4)))
        found.append({
            "cluster": draw(st.sampled_from(["c", None])), "topic": "t", "partition": number,
            "replicas_of_topic": count, "replicas": several,
        })  # fmt: skip
    return found


def rows_of(batch: pa.RecordBatch, name: str) -> list[list[tuple[object, ...]]]:
    """Return the nested rows of each partition."""
    return [[tuple(row.values()) for row in each] for each in batch.column(f"of_{name}").to_pylist()]


@given(groups(), st.sampled_from(["4.3", "3.0", "2.8.0", "2.4", "1.1", "0.10.2"]))
def test_many_at_once_as_one_by_one(some: list[dict[str, Any]], kafka: str) -> None:
    """Plans, risks and findings are equal for every kind of replica."""
    chosen = release(kafka)
    (found,) = compare([partitions_batch(some)], chosen)
    expected = [compared(each, chosen) for each in some]
    names = found.schema.names[:-2]
    assert [each.whole for each in expected] == [tuple(row[name] for name in names) for row in found.to_pylist()]
    assert [[*each.plans] for each in expected] == rows_of(found, "truncation_plans")
    assert [[*each.findings] for each in expected] == rows_of(found, "findings")


@pytest.mark.parametrize("seed", range(4))
def test_a_fleet_at_once_as_one_by_one(seed: int) -> None:
    """Replicas that follow, lag, diverge, or lose their first segments or entries, as in a fleet."""
    chance = Random(seed)
    some = [_partition(chance, number) for number in range(250)]
    chosen = release("4.3")
    (found,) = compare([partitions_batch(some)], chosen)
    expected = [compared(each, chosen) for each in some]
    assert [each.whole for each in expected] == [tuple(row.values())[:-2] for row in found.to_pylist()]
    assert [[*each.plans] for each in expected] == rows_of(found, "truncation_plans")
    assert [[*each.findings] for each in expected] == rows_of(found, "findings")
    plans = [row for each in found.column("of_truncation_plans").to_pylist() for row in each]
    for name in ("truncate_to", "lost_from", "expired_from", "refetch_from", "diverges_silently_at"):
        assert [row for row in plans if row[name] is not None], name
    assert {"KC402", "KC403", "KC404", "KC405", "KC406", "KC407"} == {
        row[1] for each in expected for row in each.findings
    }


def _partition(chance: Random, number: int) -> dict[str, Any]:
    """Return a partition whose replicas each have their own history."""
    epochs = sorted(chance.sample(range(40), chance.randrange(1, 9)))
    starts = [0, *sorted(chance.sample(range(1, 90), len(epochs) - 1))]
    several = []
    for broker_id in chance.sample(range(9), chance.choice((1, 2, 3, 3, 3, 4))):
        own = [*zip(epochs, starts, strict=True)]
        own = own[: chance.choice((len(own), len(own), chance.randrange(len(own) + 1)))]
        if own and chance.random() < 0.3:
            own[-1] = (own[-1][0] + chance.randrange(3), own[-1][1] + chance.randrange(2))
        if own and chance.random() < 0.1:
            del own[chance.randrange(len(own))]
        end = max(chance.randrange(100), own[-1][1] + 1 if own and chance.random() < 0.9 else 0)
        begin = chance.choice((0, 0, 0, chance.randrange(end + 1)))
        passed = [epoch for epoch, start in own if start <= begin]
        if passed and chance.random() < 0.8:
            own = [(passed[-1], begin), *((epoch, start) for epoch, start in own if start > begin)]
        mark = chance.choice((end, chance.randrange(end + 1)))
        several.append({
            "broker": str(broker_id), "broker_id": broker_id, "log_dir": f"/d{broker_id}", "dir": "t-0",
            "topic_id": chance.choice("aaaaaaaaab"), "log_start_offset": begin, "high_watermark": mark,
            "log_end_offset": end, "loaded_log_start": begin, "loaded_log_end": end,
            "loaded_high_watermark": max(mark, begin), "first_segment": chance.choice((begin, begin, 0)),
            "seen_epoch": max((-1, *(epoch for epoch, _ in own))), "problem": None, "told_differs": False,
            "is_read": False, "lacks_epochs": False, "compacted": False, "folder": None,
            "told": [], "runs": [], "logs": [], **chance.choice(_IN_CLUSTER),
            "cache": [{"epoch": epoch, "start_offset": start} for epoch, start in own],
        })  # fmt: skip
    return {
        "cluster": "c", "topic": f"t{number}", "partition": 0, "replicas": several,
        "replicas_of_topic": len(several) + (chance.random() < 0.1),
    }  # fmt: skip


def test_what_is_plain_is_decided_at_once(monkeypatch: Any) -> None:
    """In common releases no sound partition takes the slow path."""
    monkeypatch.setattr(cross, "compared", None)
    monkeypatch.setattr(cross, "findings_of", None)
    entries = [{"epoch": 0, "start_offset": 0}, {"epoch": 3, "start_offset": 7}]
    plain = {
        "log_dir": "/d", "dir": "t-0", "topic_id": "a", "log_start_offset": 0, "high_watermark": 9,
        "log_end_offset": 9, "loaded_log_start": 0, "loaded_log_end": 9, "loaded_high_watermark": 9,
        "first_segment": 0, "seen_epoch": 3, "problem": None, "told_differs": False, "is_read": False,
        "lacks_epochs": False, "compacted": False, "folder": None,
        "cache": entries, "told": [], "runs": [], "logs": [], **_NO_METADATA,
    }  # fmt: skip
    group = {
        "cluster": "c", "topic": "t", "partition": 0, "replicas_of_topic": 2,
        "replicas": [{"broker": str(number), "broker_id": number, **plain} for number in (10, 9)],
    }  # fmt: skip
    for kafka in ("2.8.2", "3.9", "4.3"):
        (found,) = compare([partitions_batch([group])], release(kafka))
        (plans,) = rows_of(found, "truncation_plans")
        assert [("10", "9", True), ("9", "10", False)] == [(row[0], row[4], row[6]) for row in plans]
