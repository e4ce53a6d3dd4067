"""The replicas of a fleet on several brokers: the plans are those of `truncation`, the findings those of `check`."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pyarrow as pa
import pytest

from kcheck.core.releases.releases import release
from kcheck.documents.truncation import table_rows
from kcheck.fleet.scan import comparison as cross
from kcheck.fleet.scan import replica_groups as fleet_groups
from kcheck.fleet.scan import steps as fleet_stages
from kcheck.fleet.scan.arrow_take import joined
from kcheck.fleet.scan.replicas import KEY
from kcheck.jobs.guard import bug_finding
from kcheck.model.finding import Location
from kcheck.model.java import INT_MAX
from kcheck.model.names import LOG_START
from kcheck.model.report import PartitionFilter
from kcheck.replicas import lost_amounts
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.replica import LogFile
from kcheck.replicas.truncation import truncation
from kcheck.tables import truncation_plans
from tests.builders import (
    broker,
    flip_byte,
    log_dir,
    meta_properties,
    offsets,
    partition_dir,
    partition_metadata,
    run,
    write,
)
from tests.fleet.scan.test_local_engine import BROKERS, LAYOUT, places, scanned, told
from tests.oracle.ask import sampled
from tests.oracle.clusters.pairs import pair, write_logs

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

NAMES = tuple(name for name in truncation_plans.TABLE.names if name != "kafka_differs")
"""What `truncation` says of one release, too."""
NEEDS_BATCHES = re.compile("lost_|refetch_(records|bytes)|diverges_silently_at|best")
NOTHING = re.compile("(?!)")


def paths_of(cluster: Path) -> list[str]:
    """Return the brokers of a scene as arguments."""
    return [f"{path.name.rpartition('-')[2]}={path}" for path in sorted(cluster.iterdir()) if path.is_dir()]


def clusters_of(version: str) -> list[Path]:
    """Return the scenes of a release that have several brokers."""
    found = [path for path in sorted((BROKERS / version).iterdir()) if path.is_dir() and len(paths_of(path)) > 1]
    assert found
    return found


def plans_of(paths: list[str], kafka: str, **how: Any) -> list[dict[str, Any]]:
    """Return the plans of `truncation` as rows of the table, in its order."""
    found = []
    election, wanted = Election(leader=how.pop("leader", None)), how.pop("wanted", PartitionFilter())
    assert not how
    for plan in truncation([*paths], election, wanted=wanted, release=release(kafka)).plans:
        ids = [plan.leader, *(follower.broker_id for follower in plan.followers)]
        brokers: dict[int | None, str | None] = {broker_id: f"broker-{broker_id}" for broker_id in ids}
        for row in table_rows(plan, brokers=brokers):
            found.append(dict(zip(("broker", *NAMES), row, strict=True)))
    return found


def plain(rows: list[dict[str, Any]], beyond: re.Pattern[str]) -> list[dict[str, Any]]:
    """Return of plans what both say; without what is beyond a scan of a fleet."""
    dropped = {"cluster", "best", "kafka_differs", *filter(beyond.match, NAMES)}
    return [{name: value for name, value in row.items() if name not in dropped} for row in rows]


VERSIONS = sorted(path.name for path in BROKERS.iterdir() if path.is_dir())


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("version", "depth"),
    [*((version, "checkpoints") for version in sampled(VERSIONS)), *((version, "crc") for version in VERSIONS[::3])],
)
def test_what_is_told_of_replicas_is_what_check_and_truncation_tell(version: str, depth: str, tmp_path: Path) -> None:
    """Of every scene with several brokers; with batches, to the last record and byte."""
    kafka = version.rpartition(".")[0]
    beyond = NEEDS_BATCHES if depth == "checkpoints" else NOTHING
    _, rows = scanned(tmp_path, BROKERS / version / LAYOUT, kafka=kafka, depth=depth)
    for cluster in clusters_of(version):
        paths = paths_of(cluster)
        own = {name: [row for row in rows[name] if row["cluster"] == cluster.name] for name in rows if name != "runs"}
        expected = [row for row in told(paths[0], kafka, depth, *paths[1:]) if row["id"][:3] == "KC4"]
        found = [row for row in places(own["findings"]) if row["id"][:3] == "KC4"]
        assert sorted((row for row in expected if row["id"] != "KC401"), key=str) == found
        plans = plain(plans_of(paths, kafka), beyond)
        unknown = {row["topic"] for row in own["truncation_plans"] if "--depth crc" in (row["problem"] or "")}
        assert unknown <= ({"emptied"} if depth == "checkpoints" else set())
        assert [row for row in plans if row["topic"] not in unknown] == plain(
            [row for row in own["truncation_plans"] if row["topic"] not in unknown], beyond
        )
        assert plans


@pytest.mark.sample(1)
@pytest.mark.parametrize("kafka", ["4.3", "2.4"])
def test_histories_at_random_are_planned_as_by_truncation(kafka: str, tmp_path: Path) -> None:
    """Replicas that part, lag, were compacted, hold messages, or have damaged epochs: plans and findings."""
    pairs = {f"p{number}": pair(f"fleet/{number}") for number in range(60)}
    for number in (1, 2):
        logs = {topic: each[number - 1] for topic, each in pairs.items()}
        path = write_logs(tmp_path / "c" / f"broker-{number}" / "d", logs, clean=True)
        write(path, {"meta.properties": meta_properties(number, version=int(kafka != "2.4"))})
        for topic in logs:
            write(path / f"{topic}-0", {"partition.metadata": partition_metadata()})
    paths = [f"{number}={tmp_path}/c/broker-{number}/d" for number in (1, 2)]
    expected = plans_of(paths, kafka)
    for depth in ("headers", "crc"):
        where = tmp_path / "{cluster}" / "{broker}" / "{log_dir}"
        _, rows = scanned(tmp_path, where, kafka=kafka, depth=depth, name=depth)
        assert plain(expected, NOTHING) == plain(rows["truncation_plans"], NOTHING)
        wanted = [row for row in told(paths[0], kafka, depth, *paths[1:]) if row["id"][:3] == "KC4"]
        assert sorted((row for row in wanted if row["id"] != "KC401"), key=str) == [
            row for row in places(rows["findings"]) if row["id"][:3] == "KC4"
        ]
    assert {"ok", "fetch_fails"} <= {row["status"] for row in expected}


def test_a_compaction_that_a_start_finishes_is_read_where_it_lies(tmp_path: Path) -> None:
    """A broker was killed while it put a compacted segment in the place of the old one, and parts from another one."""
    make_diverged(tmp_path)
    left = tmp_path / "f" / "a" / "d" / "t-0"
    epochs = [(0, 0), (2, 50)]
    partition_dir(left, [[*run(0, 49), *run(50, 59, epoch=2)], run(60, 89, epoch=2)], epoch_entries=epochs)
    (left / "00000000000000000000.log").rename(left / "00000000000000000000.log.swap")
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", depth="crc")
    expected = plans_of([f"1={tmp_path}/f/a/d", f"2={tmp_path}/f/b/d"], "4.3")
    assert [50, 40] == [row["lost_records"] for row in expected]
    assert [50, 40] == [row["lost_records"] for row in rows["truncation_plans"]]


def make_segments(folder: Path, *numbers: int) -> None:
    """Write brokers whose logs have these segments of 100 offsets."""
    for name in ("a", "b"):
        ends = {"t-0": 300}
        path = log_dir(folder / name / "d", broker_id=ord(name), recovery_point=ends, high_watermark=ends)
        batches = [run(100 * number, 100 * number + 99) for number in numbers]
        partition_dir(path / "t-0", batches, epoch_entries=[(0, 0)])
        write(path / "t-0", {"partition.metadata": partition_metadata()})


@pytest.mark.parametrize(("numbers", "bugs"), [((0, 1, 2), 0), ((0, 2), 1)])
def test_batches_are_read_again_only_where_a_segment_is_missing(
    numbers: tuple[int, ...], bugs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the scan has read them, segments that join need no second look."""

    def fails(logs: tuple[LogFile, ...]) -> NoReturn:
        raise AssertionError(logs)

    monkeypatch.setattr(lost_amounts, "holes", fails)
    make_segments(tmp_path / "f", *numbers)
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", depth="headers")
    assert bugs == sum(row["id"] == "KC000" for row in rows["findings"])
    assert 2 * (1 - bugs) == len(rows["truncation_plans"])


def test_the_worst_is_told(tmp_path: Path) -> None:
    """Of two logs that part: who loses what under whom, which leader is best, and what hangs on its disk."""
    make_diverged(tmp_path)
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    assert ["KC402"] == [row["id"] for row in rows["findings"] if row["id"].startswith("KC4")]
    names = ("broker", "leader", "best", "truncate_to", "lost_from", "lost_to", "lost_below_high_watermark")
    assert [("b", "a", False, 60, 60, 100, 10), ("a", "b", True, 60, 60, 90, 0)] == [
        tuple(row[name] for name in names) for row in rows["truncation_plans"]
    ]
    (row,) = rows["replica_sets"]
    assert ("b", 2, 2, 100, 30, 0, 60, 100, 10) == tuple(
        row[name]
        for name in (
            "broker", "replicas", "able", "log_end_offset", "lost", "lost_below_high_watermark", "at_risk_from",
            "at_risk_to", "at_risk_below_high_watermark",
        )
    )  # fmt: skip


def make_diverged(tmp_path: Path) -> None:
    """Write two brokers that share the offsets below 60."""
    broker(
        tmp_path / "f" / "a" / "d", [*run(0, 59), *run(60, 89, epoch=2)], broker_id=1, epoch_entries=[(0, 0), (2, 60)],
        high_watermark=60,
    )  # fmt: skip
    broker(
        tmp_path / "f" / "b" / "d", [*run(0, 59), *run(60, 99, epoch=1)], broker_id=2, epoch_entries=[(0, 0), (1, 60)],
        high_watermark=70,
    )  # fmt: skip


def test_records_and_bytes_are_counted_where_batches_are_read(tmp_path: Path) -> None:
    make_diverged(tmp_path)
    for depth, expected in (("checkpoints", (None, None)), ("headers", (40, 400)), ("records", (40, 400))):
        _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", depth=depth, name=depth)
        assert expected == tuple(rows["truncation_plans"][0][name] for name in ("lost_records", "lost_bytes"))


def test_what_cannot_take_part_says_why(tmp_path: Path) -> None:
    """A file that the broker cannot read, a log dir that goes offline, an epoch that only a rescan finds."""
    make_diverged(tmp_path)
    for name, lines in (("c", "x\n"), ("e", "0\n0\n")):
        path = tmp_path / "f" / name / "d"
        broker(path, [*run(0, 59)], broker_id=ord(name), clean=False, recovery_point=0)
        (path / "t-0" / "leader-epoch-checkpoint").write_text(lines)
    broker(tmp_path / "f" / "d" / "d", [*run(0, 59)], broker_id=ord("d"))
    (tmp_path / "f" / "d" / "d" / "recovery-point-offset-checkpoint").write_text("9\n0\n")
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    problems = {row["broker"]: row["problem"] for row in rows["truncation_plans"]}
    assert {"a", "b", "c", "d", "e"} == set(problems)
    assert "the broker cannot read leader-epoch-checkpoint: IOException" == problems["c"]
    assert "its log dir goes offline" in problems["d"]
    assert "the broker adds epoch 0; --depth crc finds its start offset" == problems["e"]
    assert [(5, 2)] == [(row["replicas"], row["able"]) for row in rows["replica_sets"]]
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", depth="crc", name="deep")
    assert {"e": None, "a": None, "b": None} == {
        row["broker"]: row["problem"] for row in rows["truncation_plans"] if row["broker"] in "abe"
    }


@pytest.mark.parametrize(("kafka", "expected"), [("4.3", ("b", 3, 2, 100, 70, 60)), ("2.8", ("c", 3, 3, 200, 200, 60))])
def test_a_replica_of_another_topic_keeps_nothing(tmp_path: Path, kafka: str, expected: tuple[object, ...]) -> None:
    """Neither does it hold what the best one has, nor does it lead where others can have more followers."""
    make_diverged(tmp_path)
    other = broker(tmp_path / "f" / "c" / "d", run(0, 199), broker_id=3, high_watermark=200)
    write(other / "t-0", {"partition.metadata": partition_metadata("BBBBBBBBBBBBBBBBBBBBBA")})
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", kafka=kafka)
    (row,) = rows["replica_sets"]
    names = ("broker", "replicas", "able", "log_end_offset", "high_watermark", "at_risk_from")
    assert expected == tuple(row[name] for name in names)
    of_other = {plan["problem"] is None for plan in rows["truncation_plans"] if "c" in (plan["broker"], plan["leader"])}
    assert {kafka == "2.8"} == of_other
    assert "KC404" in {found["id"] for found in rows["findings"]}


def test_what_is_in_remote_storage_is_not_at_risk(tmp_path: Path) -> None:
    """The disk of the best leader holds no more than its local log."""
    for broker_id, name in ((1, "a"), (2, "b")):
        log_dir(tmp_path / "f" / name / "d", broker_id=broker_id, recovery_point={}, high_watermark={"whole-0": 10})
    leader, follower = (tmp_path / "f" / name / "d" for name in "ab")
    shutil.copytree(BROKERS / "4.3.1/tiered/broker-1/data1/whole-0", leader / "whole-0")
    write(leader, {LOG_START: offsets({"whole-0": 0})})
    partition_dir(follower / "whole-0", [run(0, 9)], epoch_entries=[(0, 0)])
    shutil.copy(leader / "whole-0" / "partition.metadata", follower / "whole-0")
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    (row,) = rows["replica_sets"]
    assert ("a", 30, 40) == tuple(row[name] for name in ("broker", "at_risk_from", "at_risk_to"))
    assert [(30, 30), (10, 10)] == [
        (plan["truncate_to"], plan["log_end_offset_after"])
        for plan in sorted(rows["truncation_plans"], key=lambda plan: not plan["best"])
    ]


def test_what_is_no_replica_is_not_compared(tmp_path: Path) -> None:
    """A directory that is being deleted or moved, the metadata log, and what is of nobody."""
    for name in ("a", "b"):
        data = tmp_path / "f" / name / "d"
        log_dir(data, broker_id=ord(name))
        for topic in ("t-0.00000000000000000000000000000000-delete", "__cluster_metadata-0", "u-0"):
            partition_dir(data / topic, [run(0, 9)])
    nobody = tmp_path / "f" / "c" / "d"
    log_dir(nobody, broker_id=None)
    partition_dir(nobody / "u-0", [run(0, 9)])
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    assert [("u", 0, 2)] == [(row["topic"], row["partition"], row["replicas"]) for row in rows["replica_sets"]]


def test_a_partition_that_a_broker_has_twice_counts_once(tmp_path: Path) -> None:
    """As for check, the last of its log dirs does."""
    for name, last in (("1/d1", 9), ("1/d2", 19), ("2/d1", 29)):
        data = tmp_path / "f" / name
        log_dir(data, broker_id=int(name[0]), recovery_point={}, high_watermark={"t-0": 10})
        partition_dir(data / "t-0", [run(0, last)], epoch_entries=[(0, 0)])
        write(data / "t-0", {"partition.metadata": partition_metadata()})
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    assert [(2, 30, 20)] == [
        (row["replicas"], row["log_end_offset"], row["at_risk_from"]) for row in rows["replica_sets"]
    ]
    expected = [row for row in told(str(tmp_path / "f"), "4.3") if row["id"].startswith("KC4")]
    assert sorted(expected, key=str) == places([row for row in rows["findings"] if row["id"].startswith("KC4")])


def test_a_partition_on_fewer_brokers_is_told_topic_by_topic(tmp_path: Path) -> None:
    """The topic of the same name in another cluster is another one; order and memory do not depend on each other."""
    for cluster, number, count in (("x", 1, 3), ("x", 2, 2), ("y", 1, 2)):
        data = tmp_path / "f" / cluster / str(number) / "d"
        log_dir(data, broker_id=number)
        write(data, {"meta.properties": meta_properties(number, cluster_id=cluster)})
        for partition in range(count):
            partition_dir(data / f"t-{partition}", [run(0, 9)], epoch_entries=[(0, 0)])
    _, rows = scanned(tmp_path, tmp_path / "f" / LAYOUT)
    assert [("x", "t", 2)] == [
        (row["cluster"], row["topic"], row["partition"]) for row in rows["findings"] if row["id"] == "KC406"
    ]
    assert [("x", 0, 2, 2), ("x", 1, 2, 2), ("x", 2, 1, 2), ("y", 0, 1, 1), ("y", 1, 1, 1)] == [
        tuple(row[name] for name in ("cluster", "partition", "replicas", "replicas_of_topic"))
        for row in rows["replica_sets"]
    ]


def test_memory_does_not_change_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether all replicas are held or each is a run of its own; no run is left on the disk."""
    monkeypatch.setattr(fleet_groups, "_HELD_COUNT", 2)
    monkeypatch.setattr(fleet_groups, "_RUN_COUNT", 3)
    found = []
    for size, read, groups in ((32 << 20, 4096, 4096), (1, 1, 2), (20_000, 3, 1)):
        monkeypatch.setattr(fleet_groups, "_HELD_SIZE", size)
        monkeypatch.setattr(fleet_groups, "_READ_COUNT", read)
        monkeypatch.setattr(fleet_groups, "_GROUP_COUNT", groups)
        monkeypatch.setattr(fleet_stages, "ITEM_COUNT", 3)
        _, rows = scanned(tmp_path, BROKERS / "4.3.1" / "diverged" / "{broker}" / "{log_dir}", name=str(size))
        found.append({name: table for name, table in rows.items() if name != "runs"})
        assert not (tmp_path / "out" / f"run={size}" / "_replicas").exists()
    assert found[0] == found[1] == found[2]


def test_a_topic_need_not_fit_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of runs on the disk as many rows are together as are read of each, and a partition: not those of a topic."""
    chance = Random(3)
    rows = [(f"t{topic}", number, broker_id) for topic, count in enumerate((1, 3, 300)) for number in range(count)
            for broker_id in chance.sample(range(6), chance.randint(1, 4))]  # fmt: skip
    chance.shuffle(rows)
    together: list[int] = []

    def counted(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        together.append(joined(batches).num_rows)
        return joined(batches)

    def grouped(size: int) -> list[dict[str, Any]]:
        monkeypatch.setattr(fleet_groups, "_HELD_SIZE", size)
        with fleet_groups.Groups(str(tmp_path / "runs"), BESIDE) as groups:
            for at in range(0, len(rows), 100):
                topics, numbers, ids = zip(*rows[at : at + 100], strict=True)
                columns = {"topic": topics, "partition": numbers, "broker": map(str, ids), "broker_id": ids}
                named = {name: pa.array([*values]) for name, values in columns.items()}
                same = {name: pa.array([name] * len(ids)) for name in ("cluster", "log_dir")}
                groups.add(pa.record_batch({name: {**same, **named}[name] for name in (*KEY, "broker", *BESIDE)}))
            together.clear()
            return [row for batch in groups.batches() for row in batch.to_pylist()]

    monkeypatch.setattr(fleet_groups, "joined", counted)
    monkeypatch.setattr(fleet_groups, "_READ_COUNT", 16)
    expected = grouped(32 << 20)
    assert expected == grouped(1)
    assert max(together) < 16 * (1 + len(rows) // 100) + 16 < 300
    monkeypatch.setattr(fleet_groups, "_RUN_COUNT", 2)
    assert expected == grouped(1)
    assert max(together) < 16 * (1 + len(rows) // 100) + 16
    assert not (tmp_path / "runs").exists()


BESIDE = ("broker_id", "log_dir")


def test_numbers_of_any_size_stand_in_their_order(tmp_path: Path) -> None:
    """The largest broker id and the largest partition number are sorted as the smallest are."""
    for broker_id in (INT_MAX, 0):
        data = tmp_path / "f" / str(broker_id) / "d"
        log_dir(data, broker_id=broker_id)
        for name in ("c-0", f"a-{INT_MAX}", "a-3", "b-0"):
            partition_dir(data / name, [run(0, 9)], epoch_entries=[(0, 0)])
            write(data / name, {"partition.metadata": partition_metadata()})
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    assert [("a", 3, 2), ("a", INT_MAX, 2), ("b", 0, 2), ("c", 0, 2)] == [
        (row["topic"], row["partition"], row["replicas"]) for row in rows["replica_sets"]
    ]
    assert [(0, INT_MAX), (INT_MAX, 0)] * 4 == [
        (row["leader_id"], row["broker_id"]) for row in rows["truncation_plans"]
    ]


def test_one_bad_partition_costs_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those beside it are compared."""
    original = cross.compare

    def harmed(batches: Iterator[Any], kafka: Any) -> Iterator[Any]:
        for batch in batches:
            if "bad" in batch.column("topic").to_pylist():
                raise RuntimeError("boom")
            yield from original([batch], kafka)

    monkeypatch.setattr(cross, "compare", harmed)
    for name in ("1", "2"):
        data = tmp_path / "f" / name / "d"
        log_dir(data, broker_id=int(name))
        for topic in ("a", "bad", "c"):
            partition_dir(data / f"{topic}-0", [run(0, 9)], epoch_entries=[(0, 0)])
    report, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    assert ["a", "c"] == [row["topic"] for row in rows["replica_sets"]]
    (row,) = [row for row in rows["findings"] if row["id"] == "KC000"]
    assert ("bad", 0, None) == (row["topic"], row["partition"], row["broker"])
    assert bug_finding(Location(), "RuntimeError: boom", "").message == row["message"]
    assert report.unfinished


def test_damage_that_a_start_finds_is_found_with_crc(tmp_path: Path) -> None:
    """The log then ends before it, as `truncation` says."""
    for name in ("a", "b"):
        broker(tmp_path / "f" / name / "d", run(0, 99), broker_id=ord(name), clean=False, recovery_point=0)
    flip_byte(tmp_path / "f" / "a" / "d" / "t-0" / "00000000000000000000.log", 690)
    for depth, end in (("headers", 100), ("crc", 60)):
        _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}", depth=depth, name=depth)
        (row,) = [row for row in rows["truncation_plans"] if row["leader"] == "a"]
        assert end == row["leader_log_end_offset"]
