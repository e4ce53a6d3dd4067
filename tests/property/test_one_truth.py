"""Every verb gives one outcome for the next start of a broker: on the cases of the rules, and on refuted premises."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from struct import pack_into
from typing import Any, NamedTuple

import pytest

import kcheck
from kcheck.arrow import from_bytes, to_bytes
from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Outcome
from kcheck.errors import KcheckError
from kcheck.fleet.scan.broker_step import look_at_broker
from kcheck.fleet.scan.cluster_steps import clusters_of, informed, look_at_cluster, read_metadata
from kcheck.fleet.scan.identify import Identified, ScanOptions, identify
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.scan.rows import seen_of
from kcheck.fleet.scan.steps import list_items, scan_items
from kcheck.model.depth import Depth
from kcheck.model.names import LEADER_EPOCHS, PARTITION_METADATA, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.report import PartitionFilter
from kcheck.model.source import BytesSource
from kcheck.segments.batches import Walk
from kcheck.views.targets import TargetKind, replica_targets
from tests.cases.build import FOUND, shared_copy, sources, toml
from tests.oracle.ask import IS_WHOLE
from tests.repairs.test_cases import SINGLE
from tests.test_brokers import BROKERS

STOPPED = BROKERS / "4.3.1" / "stopped"
LOADS = (Outcome.OK, Outcome.UNKNOWN)
Told = dict[str, tuple[str, str | None]]
"""What becomes of log dirs, by path: the outcome, and why."""


class Answers(NamedTuple):
    """What each verb says of the same log dirs."""

    predict: Told
    path: Told
    repair: Told
    fleet: Told


def of_starts(starts: tuple[LogDirPrediction, ...]) -> Told:
    """Return what predictions say of log dirs."""
    return {start.path: (str(start.outcome), start.reasons[0] if start.reasons else None) for start in starts}


def scanned(paths: list[str], kafka: str, cluster: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the tables that a scan of a fleet has of the brokers of log dirs."""
    how = ScanOptions(Depth.CRC, PartitionFilter(), release(kafka))
    rows: dict[str, list[dict[str, Any]]] = {}
    for group in _by_broker([identify(FleetLogDir(path, cluster), how) for path in paths], how):
        seen = [(log_dir, [*_seen(log_dir, how)]) for log_dir in group]
        for name, data in look_at_broker(seen, how):
            rows.setdefault(name, []).extend(row for batch in from_bytes(data) for row in batch.to_pylist())
    return rows


def _seen(log_dir: Identified, how: ScanOptions) -> Iterator[bytes]:
    """Yield what a look at a log dir needs of its directories."""
    for _, items in list_items(log_dir, how):
        for data in scan_items(items, how):
            yield from (to_bytes(seen_of(batch)) for batch in from_bytes(data))


def _by_broker(log_dirs: list[Identified], how: ScanOptions) -> Iterator[list[Identified]]:
    copies = {
        row.path: copy for row in log_dirs if row.holds_metadata and (copy := read_metadata(row, how)) is not None
    }
    facts = {cluster.key: look_at_cluster(cluster, how)[0] for cluster in clusters_of(log_dirs, copies)}
    groups: dict[object, list[Identified]] = {}
    for log_dir in informed(log_dirs, facts):
        groups.setdefault(log_dir.group, []).append(log_dir)
    yield from groups.values()


def of_fleet(rows: dict[str, list[dict[str, Any]]]) -> Told:
    """Return what a scan says of log dirs."""
    return {row["log_dir"]: (row["outcome"], row["reason"].partition(": ")[2] or None) for row in rows["predictions"]}


OF_LOGS = {"P109", "P304", "P305", "P306", "P313", "P315", "P316", "P324", "P602", "P702", "P802"}
"""The premises about logs; the host and the keys of records are premises too, which a scan does not look at."""
Refuted = set[tuple[str, str]]
"""The ids and sentences of the premises about logs that do not hold, or that nothing shows."""


def refuted(premises: Iterable[JudgedPremise]) -> Refuted:
    """Return what premises say of logs."""
    return {(row.id, row.sentence) for row in premises if row.id in OF_LOGS and row.status is not PremiseStatus.PROVEN}


def refuted_in(rows: dict[str, list[dict[str, Any]]]) -> Refuted:
    """Return the same of a scan."""
    of_logs = (row for row in rows["premises"] if row["id"] in OF_LOGS)
    return {(row["id"], row["sentence"]) for row in of_logs if row["status"] != PremiseStatus.PROVEN}


def answers(paths: list[str], kafka: str) -> Answers:
    """Ask every verb about the same log dirs."""
    prediction = kcheck.predict(*paths, kafka=kafka)
    plan = kcheck.repair(*paths, kafka=kafka)
    rows = scanned(paths, kafka)
    assert [row for row in prediction.premises if row.id != "P801"] == [*plan.premises]  # only these two read keys
    assert refuted(prediction.premises) == refuted_in(rows)
    return Answers(
        of_starts(prediction.log_dirs),
        of_starts(kcheck.overview(*paths, kafka=kafka).prediction.log_dirs),
        of_starts(plan.now),
        of_fleet(rows),
    )


def contradictions(paths: list[str], kafka: str) -> list[str]:
    """Return where the verbs differ; a scan reads no log through that the start has to recover."""
    told = answers(paths, kafka)
    found = [f"{name} {other} {told.predict}" for name, other in told._asdict().items() if other.keys() != set(paths)]
    for path, outcome in told.predict.items():
        others = {"path": told.path.get(path), "repair": told.repair.get(path), "fleet": told.fleet.get(path)}
        if others["fleet"] == (Outcome.UNKNOWN, None) and outcome[0] in LOADS:
            del others["fleet"]
        found += [
            f"{path} {kafka} {name}: {other}, predict: {outcome}" for name, other in others.items() if other != outcome
        ]
    return found + election_contradictions(paths, kafka, told.predict)


def election_contradictions(paths: list[str], kafka: str, predicted: Told) -> list[str]:
    """Return where elect says something else of the brokers that do not start."""
    try:
        election = kcheck.elect(*paths, kafka=kafka)
    except KcheckError:  # Log dirs of no broker, or of two clusters.
        return []
    whys = {outcome[1] for outcome in predicted.values() if outcome[0] == Outcome.ABORT}
    return [
        f"elect: {gap} {predicted}" for gap in election.gaps if gap.why is not None and whys and gap.why not in whys
    ]


def log_dirs(folder: Path) -> list[str]:
    """Return the log dirs of a case."""
    return [target.path for target in replica_targets([str(folder)]) if target.kind is TargetKind.LOG_DIR]


CASES = [case for case in FOUND if not sources(case).keys() <= SINGLE]


@pytest.mark.parametrize("part", range(4))
def test_cases(part: int) -> None:
    """Of each rule, by the release of the case."""
    found = []
    cases = CASES[part::4] if IS_WHOLE else [case for case in CASES[part::4] if case.name != "clean"][::3]
    for case in cases:
        try:
            paths = log_dirs(shared_copy(case))
        except KcheckError:
            continue
        found += [f"{case.parent.name}/{case.name}: {text}" for text in contradictions(paths, toml(case)["kafka"][0])]
    assert not found


SETTINGS = {
    "node-id": ("P102", {"node.id": "7"}),
    "metadata-log-dir": ("P203", {"log.dirs": "{data2},{data1}"}),
    "disk-gone": ("P301", {"log.dirs": "{data1},{data2},{data1}-gone"}),
    "no-roles": ("P501", {"process.roles": ""}),
    "voter-without-role": ("P108", {"controller.quorum.voters": "1@localhost:9093"}),
    "segment-bytes": ("P502", {"log.segment.bytes": "1024"}),
}
"""Settings of broker 1 that its disks, the metadata or the release refuse."""


def broker(folder: Path, **changes: str) -> Path:
    """Copy broker 1, which has two log dirs, with its server.properties beside them."""
    copy = Path(shutil.copytree(STOPPED / "broker-1", folder / "broker-1"))
    paths = {name: str(copy / name) for name in ("data1", "data2")}
    settings = {"node.id": "1", "process.roles": "broker", "log.dirs": "{data1},{data2}", **changes}
    lines = (f"{name}={value.format(**paths)}\n" for name, value in settings.items() if value)
    (copy / "server.properties").write_text("".join(lines))
    return copy


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_keep_a_broker_down(name: str, tmp_path: Path) -> None:
    """One sentence in every verb, also where server.properties only lies beside the log dirs."""
    premise, changes = SETTINGS[name]
    here = broker(tmp_path, **changes)
    paths = log_dirs(here)
    assert contradictions(paths, "4.3") == []
    (sentence,) = {row[1] for row in answers(paths, "4.3").predict.values()}
    refuted = [row for row in scanned(paths, "4.3")["premises"] if row["status"] == "refuted"]
    assert (premise, sentence) in {(row["id"], row["sentence"]) for row in refuted}
    assert ["KC315"] == list({row["id"] for row in scanned(paths, "4.3")["findings"] if row["severity"] == "fatal"})
    answer = kcheck.preflight(here / "server.properties", kafka="4.3", metadata=[STOPPED / "broker-3"])
    assert (answer.may_start, sentence) == (False, answer.reasons[0].why)
    assert {sentence} == {start.reasons[0] for start in answer.starts}
    (gap,) = kcheck.elect(*paths, kafka="4.3").gaps[:1]
    assert (gap.broker_id, gap.why) == (1, sentence)


def test_a_cloned_disk(tmp_path: Path) -> None:
    """The metadata list the directory id under another broker."""
    here = broker(tmp_path)
    meta = here / "data1" / "meta.properties"
    own, other = (
        next(line for line in path.read_text().splitlines() if line.startswith("directory.id="))
        for path in (meta, STOPPED / "broker-2" / "data1" / "meta.properties")
    )
    meta.write_text(meta.read_text().replace(own, other))
    paths = [*log_dirs(here), str(STOPPED / "broker-3" / "data1")]
    assert contradictions(paths, "4.3") == []
    sentence = answers(paths, "4.3").fleet[paths[0]][1]
    assert "is registered by broker 2" in str(sentence)
    plans = [*kcheck.truncation(f"1={here}", f"3={STOPPED / 'broker-3'}", leader="3", kafka="4.3").plans]
    told = {part.problem for plan in plans for part in plan.followers if part.broker_id == 1}
    assert {f"its broker does not start: {sentence}"} == told


def test_a_log_without_its_first_segment(tmp_path: Path) -> None:
    """The broker starts; every verb lists the premise, a scan too."""
    here = broker(tmp_path)
    log = here / "data1" / "segments-0"
    first = min(path.stem for path in log.glob("*.log"))
    for path in log.glob(f"{first}.*"):
        path.unlink()
    paths = log_dirs(here)
    assert contradictions(paths, "4.3") == []
    told = {premise.sentence for premise in kcheck.predict(*paths, kafka="4.3").premises if premise.id == "P304"}
    assert told == {row["sentence"] for row in scanned(paths, "4.3")["premises"] if row["id"] == "P304"} != set()


def remove(log: Path, number: int, *endings: str) -> None:
    """Remove files of a segment."""
    base = sorted(log.glob("*.log"))[number].stem
    for ending in endings:
        (log / f"{base}{ending}").unlink(missing_ok=True)


def foreign_id(log: Path) -> None:
    """Give a log the topic id of another topic of which the broker has the same partition."""
    shutil.copy(log.with_name("plain-2") / PARTITION_METADATA, log.with_name("plain-1") / PARTITION_METADATA)
    other = log.parents[1] / "data2" / "codecs-0" / PARTITION_METADATA
    shutil.copy(other, log / PARTITION_METADATA)


def later_epoch(log: Path) -> None:
    """Let the metadata be older than the log: its last batch is of a later epoch, by its header."""
    (log / LEADER_EPOCHS).write_text("0\n2\n0 0\n99 120\n")
    source = max(log.glob("*.log"))
    data = bytearray(source.read_bytes())
    *_, last = (batch.position for batch in Walk(BytesSource(bytes(data))))
    pack_into(">i", data, last + 12, 99)
    source.write_bytes(data)


def zeros(log: Path) -> None:
    """Let a time index end in zeros."""
    index = min(log.glob("*.timeindex"))
    index.write_bytes(index.read_bytes() + bytes(12))


SEGMENT = (".log", ".index", ".timeindex", ".snapshot")
FAULTS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "topic-id": ("P109", foreign_id),
    "head": ("P304", lambda log: remove(log, 0, *SEGMENT)),
    "middle": ("P305", lambda log: remove(log, 2, *SEGMENT)),
    "end": ("P306", lambda log: remove(log, -1, *SEGMENT)),
    "index-left": ("P306", lambda log: remove(log, -1, ".log", ".snapshot")),
    "later-epoch": ("P702", later_epoch),
    "zeros": ("P802", zeros),
}
"""What somebody did to a log of broker 1 that its start does not notice, and the premise that it refutes."""


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("name", FAULTS)
def test_a_log_that_is_not_what_it_was(name: str, tmp_path: Path, *, clean: bool) -> None:
    """Predict, PATH, repair, preflight, elect and a scan refute the same, in the same words."""
    here = broker(tmp_path)
    premise, change = FAULTS[name]
    change(here / "data1" / "segments-0")
    for mark in () if clean else here.glob("data?/.kafka_cleanshutdown"):
        mark.unlink()
    paths, other = log_dirs(here), str(STOPPED / "broker-3" / "data1")
    assert contradictions([*paths, other], "4.3") == []
    said = refuted(kcheck.predict(*paths, other, kafka="4.3").premises)
    assert {premise} == {row[0] for row in said} or (premise == "P802" and not clean)
    overview = kcheck.overview(*paths, other, kafka="4.3")
    preflight = kcheck.preflight(here / "server.properties", kafka="4.3", metadata=[STOPPED / "broker-3"])
    election = kcheck.elect(*paths, other, kafka="4.3")
    for premises in (overview.prediction.premises, preflight.premises, election.premises):
        assert refuted(premises) == said


def test_log_dirs_that_were_not_stopped_together(tmp_path: Path) -> None:
    """One of two may be a copy of another time: without metadata, its logs may lead."""
    here = broker(tmp_path)
    (here / "data2" / ".kafka_cleanshutdown").unlink()
    for snapshot in here.glob("data2/*/*.snapshot"):
        snapshot.unlink()
    shutil.rmtree(here / "data1" / "__cluster_metadata-0")
    paths = log_dirs(here)
    assert contradictions(paths, "4.3") == []
    said = refuted(kcheck.predict(*paths, kafka="4.3").premises)
    assert {"P316"} == {row[0] for row in said}
    assert refuted(kcheck.overview(*paths, kafka="4.3").prediction.premises) == said
    assert refuted(kcheck.elect(*paths, kafka="4.3").premises) == said


def test_a_last_segment_that_a_killed_broker_had_closed(tmp_path: Path) -> None:
    """A newer one may be missing: a scan says so too."""
    here = Path(shutil.copytree(STOPPED / "broker-2", tmp_path / "broker-2"))
    remove(here / "data1" / "segments-0", -1, *SEGMENT)
    for name in (RECOVERY_POINT, REPLICATION_OFFSET):
        checkpoint = here / "data1" / name
        checkpoint.write_text(checkpoint.read_text().replace("segments 0 129", "segments 0 100"))
    for mark in here.glob("data?/.kafka_cleanshutdown"):
        mark.unlink()
    paths = [*log_dirs(here), str(STOPPED / "broker-3" / "data1")]
    assert contradictions(paths, "4.3") == []
    assert {"P306"} == {row[0] for row in refuted(kcheck.predict(*paths, kafka="4.3").premises)}


def test_a_disk_of_another_cluster_in_a_named_cluster(tmp_path: Path) -> None:
    """Most log dirs of the name decide which cluster it is; without a name the metadata that list the log dir do."""
    here = broker(tmp_path)
    shutil.rmtree(here / "data2")
    meta = here / "data1" / "meta.properties"
    meta.write_text(meta.read_text().replace("cluster.id=", "cluster.id=x"))
    paths = [str(here / "data1"), *(str(STOPPED / name / "data1") for name in ("broker-2", "broker-3"))]
    for cluster in ("prod", None):
        rows = scanned(paths, "4.3", cluster)
        (row,) = (row for row in rows["predictions"] if row["outcome"] == Outcome.ABORT)
        assert row["log_dir"] == paths[0]
        assert ": the disk of broker 1 is of cluster x" in row["reason"]
    assert contradictions(paths, "4.3") == []
