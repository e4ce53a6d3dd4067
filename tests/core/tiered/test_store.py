"""Objects of a remote store: whose they are, which are missing, and which belong to no segment."""

from collections.abc import Mapping

import pytest

from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.store import (
    YOUNG_MS,
    dangling_objects,
    is_in_table,
    layout_of,
    missing_objects,
    object_verdict,
    objects_by_segment,
    of_no_topic,
    orphaned_objects,
    segment_id_of,
    stored_bytes,
    usual_suffixes,
)
from kcheck.core.tiered.stored_objects import NamedSegments, StoredObjects
from kcheck.model.entries import Offset
from kcheck.model.remote_log import (
    MetadataState,
    RemoteSegment,
    SegmentObjects,
    SegmentState,
    Store,
    StoredLog,
    StoreObject,
)

ID, OTHER = "A" * 22, "-" + "b" * 21
NAME = f"store/t-0-x/{5:020d}-{ID}"
LOCAL = ("log", "index", "timeindex", "leader_epoch_checkpoint", "snapshot")


def objects(*names: str, modified: int | None = None) -> StoredObjects:
    """Return objects of 10 bytes each."""
    return objects_by_segment(StoreObject(name, 10, modified) for name in names)


def test_objects_of_segments() -> None:
    """Ids can begin with a dash; other files are not Kafka's."""
    found = objects_by_segment(
        [StoreObject(f"{NAME}.log", 7, 3), StoreObject(f"{NAME}.index", 8, 2), StoreObject("README.txt", 1)]
    )
    assert found == {ID: SegmentObjects(5, {"log": 7, "index": 8}, 3)}
    assert list(objects(f"{9:020d}-{OTHER}.rsm-manifest")) == [OTHER]
    assert stored_bytes(found.values()) == 15


def log(state: SegmentState, found: Mapping[str, SegmentObjects], now_ms: int = 0) -> StoredLog:
    """Return a partition with one segment."""
    finished = state is not SegmentState.COPY_STARTED
    segment = RemoteSegment(ID, state, 5, 10, 400, was_finished=finished)
    return StoredLog("t", 0, remote_log(MetadataState.READ, (segment,)), found, now_ms)


def test_missing_objects() -> None:
    """Each layout has its own; a segment without any lacks those of LocalTieredStorage."""
    whole = objects_by_segment(StoreObject(f"{NAME}.{suffix}", 400) for suffix in LOCAL)
    assert not list(missing_objects(log(SegmentState.COPY_FINISHED, whole)))
    whole.add(ID, "log", 399, None, start=Offset(5), topic_id=None)
    (row,) = missing_objects(log(SegmentState.COPY_FINISHED, whole))
    assert (row.suffixes, row.size) == ((), 399)
    (row,) = missing_objects(log(SegmentState.COPY_FINISHED, objects(f"{NAME}.log", f"{NAME}.indexes")))
    assert row.suffixes == (".rsm-manifest",)
    (row,) = missing_objects(log(SegmentState.COPY_FINISHED, {}))
    assert len(row.suffixes) == len(LOCAL)
    assert not list(missing_objects(log(SegmentState.DELETE_STARTED, {})))


def test_a_transaction_index_is_missing_where_the_metadata_tells() -> None:
    """The Aiven plugin has all indexes in one object."""
    whole = objects_by_segment(StoreObject(f"{NAME}.{suffix}", 400) for suffix in LOCAL)
    stored = log(SegmentState.COPY_FINISHED, whole)
    (segment,) = stored.remote.segments
    stored = stored._replace(remote=remote_log(MetadataState.READ, (segment._replace(has_aborted=True),)))
    (row,) = missing_objects(stored)
    assert (row.suffixes, row.is_readable) == ((".txnindex",), True)
    whole.add(ID, "txnindex", 34, None, start=Offset(5), topic_id=None)
    assert not list(missing_objects(stored))
    names = [f"{NAME}.{suffix}" for suffix in ("log", "indexes", "rsm-manifest")]
    assert not list(missing_objects(stored._replace(objects=objects(*names))))


def test_sizes_in_a_store_of_the_aiven_plugin() -> None:
    """All three objects have the size in the custom metadata; a manifest that kcheck read has that of the `.log`."""
    names = [f"{NAME}.{suffix}" for suffix in ("log", "indexes", "rsm-manifest")]
    known = log(SegmentState.COPY_FINISHED, objects(*names))
    assert not list(missing_objects(known))
    (row,) = missing_objects(known._replace(wrong_sizes={ID: 11}))
    assert (row.suffixes, row.size, row.expected) == ((), 10, 11)
    for custom, wrong in ((b"\x01\x00\x01\x3c", []), (b"\x01\x00\x01\x3e", [(30, 31)])):
        (segment,) = known.remote.segments
        remote = remote_log(MetadataState.READ, (segment._replace(custom=custom),))
        rows = missing_objects(known._replace(remote=remote))
        assert [(row.size, row.expected) for row in rows] == wrong


def test_more_suffixes_than_columns() -> None:
    """A hostile listing has thousands of suffixes: each object is there, and each costs one entry."""
    names = [f"{NAME}.{'x' * (number + 1)}" for number in range(40)]
    (row,) = objects(*names, modified=3).values()
    assert (len(row.sizes), row.modified_ms, set(row.sizes.values())) == (40, 3, {10})
    assert (ID in objects(*names), OTHER in objects(*names), len(objects(*names))) == (True, False, 1)


def test_objects_of_segments_that_metadata_names() -> None:
    """Their ids are those of the metadata partitions; the others come after them."""
    absent = "C" * 22
    named = NamedSegments([{absent: 0}, {OTHER: 1}])
    assert (ID in named, OTHER in named) == (False, True)
    assert (list(named), len(named), named.end, dict(named)) == ([absent, OTHER], 2, 3, {absent: 0, OTHER: 2})
    listed = [StoreObject(f"{5:020d}-{number}.{suffix}", 4) for number in (ID, OTHER) for suffix in ("log", "index")]
    found = objects_by_segment(listed, named=named)
    assert (list(found), len(found)) == ([OTHER, ID], 2)
    assert [number in found for number in (ID, OTHER, absent)] == [True, True, False]
    assert found == {number: SegmentObjects(5, {"log": 4, "index": 4}) for number in (ID, OTHER)}
    with pytest.raises(KeyError):
        found[absent]


def test_segments_in_iceberg_tables() -> None:
    """Each has a manifest with its id alone; the table keeps those of deleted segments."""
    key, other = f"warehouse/t/metadata/{ID}.puffin", f"warehouse/t/metadata/{OTHER}.puffin"
    found = objects(key, "warehouse/t/metadata/00001-x.metadata.json", "warehouse/t/data/1.parquet", modified=1)
    assert (dict(found), found.suffixes) == ({ID: SegmentObjects(0, {"puffin": 10}, 1)}, {"puffin"})
    assert (segment_id_of(key), is_in_table(key), is_in_table(f"{NAME}.log")) == (ID, True, False)
    assert list(missing_objects(log(SegmentState.COPY_FINISHED, found))) == []
    absent = log(SegmentState.COPY_FINISHED, objects(other))
    assert [row.suffixes for row in missing_objects(absent._replace(in_tables=True))] == [(".puffin",)]
    assert [len(row.suffixes) for row in missing_objects(absent)] == [5]
    assert list(dangling_objects(log(SegmentState.DELETE_FINISHED, found, YOUNG_MS + 1))) == []
    states = {ID: SegmentState.DELETE_FINISHED, OTHER: SegmentState.COPY_FINISHED}
    verdicts = [object_verdict(each, states, 1, now_ms=2, is_complete=True, in_table=True) for each in (ID, OTHER)]
    assert verdicts == ["other", "used"]
    assert segment_id_of(key, layout_of(r"(?P<offset>\d+)-(?P<segment>\w+)\.(?P<suffix>\w+)$")) is None


def test_dangling_objects() -> None:
    """Of copies that never finished and of deleted segments; a copy may run for an hour."""
    old, young = objects(f"{NAME}.log", modified=1), objects(f"{NAME}.log", modified=2)
    for state in (SegmentState.COPY_STARTED, SegmentState.DELETE_FINISHED):
        assert list(dangling_objects(log(state, old, YOUNG_MS + 1))) == [old[ID]]
        assert list(dangling_objects(log(state, young, YOUNG_MS + 1))) == []
        assert list(dangling_objects(log(state, {}, YOUNG_MS + 1))) == []
    assert list(dangling_objects(log(SegmentState.COPY_FINISHED, old, YOUNG_MS + 1))) == []


def test_objects_of_a_log_that_is_left() -> None:
    """No broker uses them, whatever their state is, and none of them is missing."""
    old = objects(f"{NAME}.log", modified=1)
    for state in SegmentState:
        left = log(state, old, YOUNG_MS + 1)._replace(is_left=True)
        assert (list(dangling_objects(left)), list(missing_objects(left))) == ([old[ID]], [])


def test_orphaned_objects() -> None:
    """Nothing is said while a part of the metadata is not given."""
    found = objects(f"{NAME}.log")
    store = Store("s", found, {}, is_complete=True, topic_ids=frozenset(), now_ms=0)
    assert dict(orphaned_objects(store)) == found
    assert dict(orphaned_objects(store._replace(named={ID: 0}))) == {}
    assert dict(orphaned_objects(store._replace(is_complete=False))) == {}


def test_orphans_of_deleted_topics() -> None:
    """LocalTieredStorage and the Aiven plugin name the topic id; without the cluster's topics nothing can go."""
    local, aiven = f"t-0-{'x' * 22}/{5:020d}-{ID}.log", f"p/t-{'y' * 22}/0/{5:020d}-{OTHER}.log"
    found = objects(local, aiven)
    assert [row.topic_id for row in found.values()] == ["x" * 22, "y" * 22]
    store = Store("s", found, {}, is_complete=True, topic_ids=frozenset({"x" * 22}), now_ms=0)
    assert list(of_no_topic(store)) == [OTHER]
    assert list(of_no_topic(store._replace(topic_ids=frozenset()))) == []
    assert list(of_no_topic(store._replace(objects=objects(f"{5:020d}-{ID}.log")))) == []


def test_layout_of_another_plugin() -> None:
    """Its segments need what most of them have."""
    layout = layout_of(r"/(?P<segment>\w{22})/(?P<offset>\d+)-(?P<suffix>\w+)$")
    keys = [f"t/{letter * 22}/5-{name}" for letter in "ABC" for name in ("data", "meta")]
    listed = [StoreObject(key, 1) for key in (*keys[:-1], f"t/{'A' * 22}/5-extra", "t/x/no-data")]
    found = objects_by_segment(listed, layout)
    assert usual_suffixes(found) == {"data", "meta"}
    assert segment_id_of(keys[0], layout) == ID
    assert segment_id_of("t/x/no-data", layout) is None
    segment = RemoteSegment("C" * 22, SegmentState.COPY_FINISHED, 5, 10, 400, was_finished=True)
    stored = StoredLog("t", 0, remote_log(MetadataState.READ, (segment,)), found, 0, usual_suffixes(found))
    assert [(row.suffixes, row.size) for row in missing_objects(stored)] == [((".meta",), None)]


@pytest.mark.parametrize(("pattern", "why"), [("(", "unterminated"), (r"(?P<offset>\d+)", "named groups")])
def test_layouts_that_are_none(pattern: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        layout_of(pattern)


@pytest.mark.parametrize(
    ("segment", "age", "is_complete", "verdict"),
    [
        (None, YOUNG_MS, True, "other"),
        ("x", YOUNG_MS, True, "orphan"),
        ("x", YOUNG_MS - 1, True, "not-known"),
        ("x", YOUNG_MS, False, "not-known"),
        ("x", None, True, "orphan"),
        ("finished", 0, False, "used"),
        ("deleting", 0, True, "deleting"),
        ("started", 0, True, "unfinished"),
        ("started", YOUNG_MS, True, "dangling"),
        ("deleted", 0, True, "dangling"),
    ],
)
def test_the_verdict_on_an_object(segment: str | None, age: int | None, is_complete: bool, verdict: str) -> None:
    states = {
        "finished": SegmentState.COPY_FINISHED, "deleting": SegmentState.DELETE_STARTED,
        "started": SegmentState.COPY_STARTED, "deleted": SegmentState.DELETE_FINISHED,
    }  # fmt: skip
    written = None if age is None else 10 * YOUNG_MS - age
    assert object_verdict(segment, states, written, now_ms=10 * YOUNG_MS, is_complete=is_complete) == verdict
