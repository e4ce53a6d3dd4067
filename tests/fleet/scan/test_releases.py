"""`fleet scan --kafka auto`: each broker of a mixed fleet is looked at as a command would that names it alone."""

import io
import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.releases.releases import release as release_named
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.fleet.run import open_run
from kcheck.fleet.runs.elect import RunElection, elect_run
from kcheck.fleet.runs.recover import decision_row, recover_run
from kcheck.fleet.runs.report import report as fleet_report
from kcheck.fleet.scan.predictions import worse_row, worse_start
from kcheck.fleet.scan.releases import BrokerKafka, ReleaseOptions, common_releases
from kcheck.model.entries import Offset
from kcheck.model.evidence import AUTO
from kcheck.model.finding import Severity
from kcheck.model.loss import LostRecords
from kcheck.model.names import parse_directory
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.registry import plug
from kcheck.replicas.elect import ElectionQuestion
from kcheck.screen.options import Options
from kcheck.tables import predictions
from kcheck.verbs.release import NamedFiles, release
from kcheck.words import other_end_words
from tests.builders import partition_dir, run
from tests.fleet.scan.test_local_engine import BROKERS, places, scanned, told
from tests.oracle.ask import IS_WHOLE

SCENES = ("*/*/*",) if IS_WHOLE else ("*/diverged/*", "*/stopped/broker-1")
MIXED = sorted(path for scene in SCENES for path in BROKERS.glob(scene) if path.is_dir())
"""The folders of log dirs of brokers: some of each release, and all of them in a sweep."""


def place(broker: Path) -> tuple[str, str]:
    """Return the cluster and the broker of a folder: each release and scene is a cluster of its own."""
    version, scene, name = broker.parts[-3:]
    return f"{version}-{scene}", name


def inventory_of(path: Path, brokers: Iterable[Path], *kafka: str) -> Path:
    """Write an inventory of the log dirs of brokers; `kafka` is the release that it names, if it names one."""
    rows = (
        ",".join((str(log_dir), *place(broker), *kafka)) for broker in brokers for log_dir in sorted(broker.iterdir())
    )
    path.write_text("\n".join([",".join(("log_dir", "cluster", "broker", "kafka")[: 3 + len(kafka)]), *rows]))
    return path


def proved(*arguments: str) -> Release:
    """Return the release that a command answers for."""
    return release([*arguments], AUTO, ibp=None, message_format=None, named=NamedFiles())


def test_a_mixed_fleet_is_looked_at_as_its_brokers_are(tmp_path: Path) -> None:
    """Findings are those of check at both ends of a range, except what the newest metadata know of an election.

    Releases of brokers are in the tables.
    """
    report, rows = scanned(tmp_path, inventory_of(tmp_path / "fleet.csv", MIXED), auto=ReleaseOptions())
    (of_run,) = rows["runs"]
    releases: Any = report.body["releases"]
    assert (report.kafka, of_run["kafka"], json.loads(of_run["releases"])) == (AUTO, AUTO, releases)
    assert len(MIXED) == sum(releases.values())
    assert len(releases) > 4
    by_place = {(row["cluster"], row["broker"]): row for row in rows["log_dirs"]}
    for path in MIXED:
        alone = proved(str(path))
        said = alone.evidence
        assert said is not None
        row = by_place[place(path)]
        assert (alone.name, said.lowest, said.highest) == (row["kafka"], row["kafka_lowest"], row["kafka_highest"])
        assert set(said.sources.split(", ")) == set(row["kafka_from"].split(", "))
        own = [
            finding
            for finding in rows["findings"]
            if (finding["cluster"], finding["broker"]) == place(path) and not finding["id"].startswith(("KC254", "KC4"))
        ]
        ends = [found_by_check(path, kafka) for kafka in (alone.name, said.lowest or alone.name)]
        expected = [worse_row_of(ends, key, alone.name, said.lowest) for key in {**ends[0], **ends[1]}]
        found = [{**shown, "kafka_differs": row["kafka_differs"]} for row in own for shown in places([row])]
        assert sorted(expected, key=str) == sorted(found, key=str), path


def found_by_check(path: Path, kafka: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the findings of check by rule and place; which are there once."""
    at = ("id", "log_dir", "dir", "file", "line", "position")
    rows = [row for row in told(str(path), kafka) if row["id"] != "KC254"]
    found = {tuple(row[name] for name in at): row for row in rows}
    assert len(rows) == len(found)
    return found


def worse_row_of(
    ends: list[dict[tuple[Any, ...], dict[str, Any]]], key: tuple[Any, ...], newest: str, lowest: str | None
) -> dict[str, Any]:
    """Return the more severe finding of both ends of a range, with the other end if it differs."""
    ours, theirs = (end.get(key) for end in ends)
    ranks = [-1 if row is None else Severity(row["severity"]).rank for row in (ours, theirs)]
    if ranks[0] == ranks[1]:
        return {**(ours or {}), "kafka_differs": None}
    return (
        {**(ours or {}), "kafka_differs": lowest}
        if ranks[0] > ranks[1]
        else {**(theirs or {}), "kafka_differs": newest}
    )


def test_replicas_are_compared_for_the_release_of_their_cluster(tmp_path: Path) -> None:
    """As if each cluster had been scanned alone for the release of its brokers, elections too."""
    _, rows = scanned(tmp_path, inventory_of(tmp_path / "fleet.csv", MIXED), auto=ReleaseOptions())
    diverged = (path for path in MIXED if path.parent.name == "diverged")
    for cluster, same in groupby(diverged, key=lambda path: place(path)[0]):
        brokers = [*same]
        kafka = proved(*map(str, brokers)).name
        alone = inventory_of(tmp_path / f"{cluster}.csv", brokers)
        _, of_one = scanned(tmp_path, alone, kafka=kafka, name=f"only-{cluster}")
        for name in ("replica_sets", "truncation_plans"):
            of_range = [row for row in rows[name] if row["cluster"] == cluster]
            alike = {(row["topic"], row["partition"]) for row in of_range if row["kafka_differs"] is None}
            ours, theirs = ([row for row in table if (row["topic"], row["partition"]) in alike]
                            for table in (of_range, of_one[name]))  # fmt: skip
            assert ours == theirs, (cluster, name)
        question = ElectionQuestion(incomplete_ok=True)
        election = elect_run(str(tmp_path / "out" / "run=r"), cluster, question, wanted=PartitionFilter())
        assert election.report().kafka == kafka


def test_the_inventory_may_name_the_release(tmp_path: Path) -> None:
    """It is then that of every broker; `--kafka` of the user is stronger."""
    inventory = inventory_of(tmp_path / "fleet.csv", MIXED, "2.0.0")
    report, rows = scanned(tmp_path, inventory, auto=ReleaseOptions())
    assert {"2.0.0": len(MIXED)} == report.body["releases"]
    assert {("2.0.0", "2.0", "2.0", "the inventory")} == {
        (row["kafka"], row["kafka_lowest"], row["kafka_highest"], row["kafka_from"]) for row in rows["log_dirs"]
    }
    report, rows = scanned(tmp_path, inventory, kafka="3.9", name="named")
    assert {"3.9": len(MIXED)} == report.body["releases"]
    assert {("3.9", None)} == {(row["kafka"], row["kafka_lowest"]) for row in rows["log_dirs"]}


def test_a_broker_is_known_by_all_its_log_dirs(tmp_path: Path) -> None:
    """One of them has the metadata log and says the release, the other says nothing."""
    known = BROKERS / "3.9.2" / "stopped" / "broker-1" / "data1"
    partition_dir(tmp_path / "second" / "t-0", [run(0, 9)])
    (tmp_path / "fleet.csv").write_text(f"log_dir,cluster,broker\n{known},c,1\n{tmp_path}/second,c,1\n")
    report, _ = scanned(tmp_path, tmp_path / "fleet.csv", auto=ReleaseOptions())
    assert {"3.9": 1} == report.body["releases"]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([("4.3", "3.3", "4.3"), ("4.3", "4.0", "4.3")], ("4.3", "4.0")),
        ([("3.9.1", "3.9", "3.9")], ("3.9.1",)),
        ([("4.3", "3.3", "4.3"), ("3.9", "3.9", "3.9")], ("3.9",)),
        ([("2.8", "2.8", "2.8"), ("3.9", "3.9", "3.9")], ("3.9", "2.8")),
    ],
)
def test_a_release_for_brokers_of_several(spans: list[tuple[str, str, str]], expected: tuple[str, ...]) -> None:
    """It is the newest that all can be of, else the newest of all; the other end of the range comes second."""
    assert expected == common_releases([BrokerKafka(*span, "") for span in spans])


def test_plans_are_those_of_the_end_of_a_range_that_loses_more(tmp_path: Path) -> None:
    """Files of 1.1.1 and 2.0.1 fit 0.11 to 2.3: a row names the other end where plans differ, and the report does."""
    versions = ("1.1.1", "2.0.1")
    old = [path for path in MIXED if path.parent.name == "diverged" and path.parts[-3] in versions]
    inventory = inventory_of(tmp_path / "fleet.csv", old)
    _, rows = scanned(tmp_path, inventory, auto=ReleaseOptions())
    ends = {kafka: scanned(tmp_path, inventory, kafka=kafka, name=kafka)[1] for kafka in ("2.3", "0.11.0")}
    other = {"2.3": "0.11.0", "0.11.0": "2.3", None: None}
    assert {row["kafka_differs"] for row in rows["replica_sets"]} >= {None}
    assert {row["kafka_differs"] for row in rows["replica_sets"]} - {None}
    for at, row in enumerate(rows["replica_sets"]):
        newest, oldest = (ends[kafka]["replica_sets"][at] for kafka in ("2.3", "0.11.0"))
        counts = ("lost", "lost_below_high_watermark")
        assert all(row[name] == max(newest[name], oldest[name]) for name in counts), row
        shown = ends[other[row["kafka_differs"]] or "2.3"]["replica_sets"][at]
        assert {**row, "kafka_differs": None} == shown
    clusters: Any = fleet_report(open_run(str(tmp_path / "out" / "run=r")), lambda *_: True).body["clusters"]
    assert all("truncation under Kafka 0.11.0 in 1 partition" in row["kafka_differs"] for row in clusters)


def test_elections_of_a_run_are_those_of_the_end_of_a_range_that_loses_more(tmp_path: Path) -> None:
    """`elect --from` and `recover --from` answer for both ends of 0.11 to 2.3, as the command line does."""
    old = [path for path in MIXED if path.parent.name == "diverged" and path.parts[-3] == "1.1.1"]
    inventory, asked = inventory_of(tmp_path / "fleet.csv", old), ElectionQuestion(incomplete_ok=True)

    def elected(name: str, **how: Any) -> RunElection:
        scanned(tmp_path, inventory, depth="crc", name=name, **how)
        return elect_run(str(tmp_path / "out" / f"run={name}"), None, asked, wanted=PartitionFilter())

    of_range = elected("range", auto=ReleaseOptions())
    ends = {kafka: elected(kafka, kafka=kafka).badness for kafka in ("2.3", "0.11.0")}
    said = of_range.cluster.release.evidence
    assert said is not None
    assert said.other is not None
    assert {said.used, said.other.kafka} == {*ends}
    assert of_range.badness == ends[said.used] == max(ends.values())
    assert said.other.differs_in == ("elect diverged-0", "elect emptied-0")
    (decision,) = recover_run(str(tmp_path / "out" / "run=range"), None, asked).clusters
    row = decision_row(decision)
    assert row["kafka_evidence"] == said.row()
    assert f"Kafka {said.other.kafka}. Its answer differs in: elect diverged-0, elect emptied-0." in str(
        other_end_words(decision.release.evidence)
    )


def test_next_starts_are_those_of_the_end_of_a_range_that_is_worse(tmp_path: Path) -> None:
    """Rows name the other end for the directories that `kcheck predict` names, and are those of one of both ends."""
    folder = BROKERS / "1.1.1" / "diverged" / "broker-1"
    inventory = inventory_of(tmp_path / "fleet.csv", [folder])

    def predictions(name: str, **how: Any) -> list[dict[str, Any]]:
        return scanned(tmp_path, inventory, depth="crc", name=name, **how)[1]["predictions"]

    rows = predictions("range", auto=ReleaseOptions())
    ends = {kafka: predictions(kafka, kafka=kafka) for kafka in ("2.3", "0.11.0")}
    said = kcheck.predict(folder).release.evidence
    assert said is not None
    assert said.other is not None
    assert said.other.differs_in
    named = {f"predict {row['dir']}" for row in rows if row["dir"] is not None and row["kafka_differs"] is not None}
    assert named == {*said.other.differs_in}
    for row, newest, oldest in zip(rows, ends["2.3"], ends["0.11.0"], strict=True):
        assert {**row, "kafka_differs": None} == (oldest if row["kafka_differs"] == "2.3" else newest)
    of_run = fleet_report(open_run(str(tmp_path / "out" / "run=range")), lambda *_: True)
    clusters: Any = of_run.body["clusters"]
    assert f"next start under Kafka 0.11.0 in {len(named)} directories" in str(clusters[0]["kafka_differs"])
    metrics = io.StringIO()
    plug("kcheck.renderers", "prometheus", "RENDERER").render(of_run, metrics, Options())
    labels = 'cluster="1.1.1-diverged",answer="next start",kafka="0.11.0"'
    assert f"kcheck_fleet_release_differences{{{labels}}} {len(named)}\n" in metrics.getvalue()


def test_the_worse_of_two_starts() -> None:
    """The outcome decides, then the records lost; of equal ones the newest release counts."""
    new, old = release_named("2.3"), release_named("0.11.0")
    directory = parse_directory("t-0")
    assert directory is not None
    ok = PartitionPrediction("t-0", directory, Outcome.OK, None)
    lost = ok._replace(outcome=Outcome.LOST, lost=LostRecords(Offset(0), Offset(4), 4, 0, None))
    unknown = lost._replace(lost=LostRecords(Offset(0), Offset(4), None, 0, None))
    assert worse_start((new, ok), (old, ok._replace(reason="other words"))) == (ok, None)
    assert worse_start((new, ok), (old, lost)) == (lost, "2.3")
    assert worse_start((new, unknown), (old, lost)) == (unknown, "0.11.0")
    assert worse_start((new, None), (old, ok)) == (ok, "2.3")
    assert worse_start((new, None), (old, None)) == (None, None)
    fine = LogDirPrediction("/d", 1, Outcome.OK, (), clean=True, mode=Mode.ZOOKEEPER, uncertain=None, partitions=())
    abort = fine._replace(outcome=Outcome.ABORT, reasons=("a reader refuses it",))
    at = predictions.TABLE.names[2:].index("outcome")
    for first, second, differs in ((fine, fine, None), (fine, abort, "2.3"), (abort, fine, "0.11.0")):
        row, other = worse_row((new, first), (old, second))
        assert (row[at], other) == ("ok" if differs is None else "abort", differs)
