"""Many partitions compared at once: the same rows as when core compares the replicas of one after the other."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.releases import release
from kcheck.scan import cross
from kcheck.scan.cross import compare
from kcheck.scan.fleet_replicas import FIELDS, KEY, compared, replicas_schema
from tests.strategies import caches


def partitions_batch(groups: list[dict[str, Any]]) -> pa.RecordBatch:
    """Return partitions as the comparison takes them."""
    known = replicas_schema()
    replica = pa.struct([known.field(name) for name in FIELDS])
    fields = [*(known.field(name) for name in KEY), ("replicas_of_topic", pa.int64()), ("replicas", pa.list_(replica))]
    return pa.RecordBatch.from_pylist(groups, schema=pa.schema(fields))


@st.composite
def replicas(draw: st.DrawFn, broker_id: int) -> dict[str, Any]:
    """Return a replica, now and then one that is odd."""
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
        "told_differs": odd == 5, "is_read": odd == 6, "folder": None, "cache": entries,
        "told": entries[1:] if odd == 5 else [],
        "runs": [{"epoch": 1, "start_offset": start, "last_offset": max(start, end - 1)}] if odd == 6 else [],
        "logs": [],
    }  # fmt: skip


@st.composite
def groups(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return some partitions; in many the replicas have one history."""
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
    """Plans, what is at risk, and findings, of every kind of replica."""
    chosen = release(kafka)
    (found,) = compare([partitions_batch(some)], chosen)
    expected = [compared(each, chosen) for each in some]
    names = found.schema.names[:-2]
    assert [each.whole for each in expected] == [tuple(row[name] for name in names) for row in found.to_pylist()]
    assert [[*each.plans] for each in expected] == rows_of(found, "truncation_plans")
    assert [[*each.findings] for each in expected] == rows_of(found, "findings")


def test_what_is_plain_is_decided_at_once(monkeypatch: Any) -> None:
    """No partition is looked at by itself where nothing is wrong, in the releases that most have."""
    monkeypatch.setattr(cross, "compared", None)
    monkeypatch.setattr(cross, "findings_of", None)
    entries = [{"epoch": 0, "start_offset": 0}, {"epoch": 3, "start_offset": 7}]
    plain = {
        "log_dir": "/d", "dir": "t-0", "topic_id": "a", "log_start_offset": 0, "high_watermark": 9,
        "log_end_offset": 9, "loaded_log_start": 0, "loaded_log_end": 9, "loaded_high_watermark": 9,
        "first_segment": 0, "seen_epoch": 3, "problem": None, "told_differs": False, "is_read": False, "folder": None,
        "cache": entries, "told": [], "runs": [], "logs": [],
    }  # fmt: skip
    group = {
        "cluster": "c", "topic": "t", "partition": 0, "replicas_of_topic": 2,
        "replicas": [{"broker": str(number), "broker_id": number, **plain} for number in (10, 9)],
    }  # fmt: skip
    for kafka in ("2.8.2", "3.9", "4.3"):
        (found,) = compare([partitions_batch([group])], release(kafka))
        (plans,) = rows_of(found, "truncation_plans")
        assert [("10", "9", True), ("9", "10", False)] == [(row[0], row[4], row[6]) for row in plans]
