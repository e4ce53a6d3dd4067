"""A scan of a fleet reads the metadata of its clusters: findings, predictions and tables are those of one cluster."""

import json
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.scan import cluster_metadata
from kcheck.fleet.scan.remembered import kept_by
from kcheck.model.report import PartitionFilter
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.truncation import truncation
from kcheck.survey.rule_runner import all_rules
from kcheck.verbs.cluster import ClusterQuestion, cluster
from kcheck.verbs.next_starts import start_options
from kcheck.verbs.predict import predict
from tests.builders import partition_metadata
from tests.cases.build import FOUND, shared_copy
from tests.fleet.scan.test_local_engine import LAYOUT, NOT_OF_SCANS, RUN_ONLY, places, scanned, told
from tests.oracle.ask import IS_WHOLE

CITED = {rule.id for rule in all_rules() if rule.cites_metadata}

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

FIXTURES = Path(__file__).parents[3] / "fixtures"
CLUSTERS = sorted(
    path for pattern in ("clusters/*/*", "brokers/3.9.2/*", "brokers/4.3.1/*") for path in FIXTURES.glob(pattern)
    if path.is_dir()
)  # fmt: skip
Rows = dict[str, list[dict[str, Any]]]
RowsOf = Callable[[Path, str], Rows]


def sample(paths: Sequence[Path]) -> list[Path]:
    """Return the clusters whose metadata contradict their replicas, and a third of the others; all in a sweep."""
    plain = [path for path in paths if path.parent.parent.name == "brokers"]
    return sorted({*paths} - {*plain} | {*(plain if IS_WHOLE else plain[::-3])})


OUTLIVED, OUTRUN, STRAYED = (FIXTURES / "clusters" / "4.3.1" / name for name in ("outlived", "outrun", "strayed"))


def of_cluster(path: Path) -> tuple[list[str], str]:
    """Return the brokers of a cluster as arguments, and its release."""
    return [str(broker) for broker in sorted(path.iterdir())], path.parent.name.rpartition(".")[0]


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


@pytest.fixture(scope="module")
def rows_of(tmp_path_factory: pytest.TempPathFactory) -> RowsOf:
    """Give what scans a cluster to a depth, once for all tests."""

    @cache
    def scan(path: Path, depth: str) -> Rows:
        folder, (_, kafka) = tmp_path_factory.mktemp("scan"), of_cluster(path)
        return scanned(folder, path / "{broker}" / "{log_dir}", kafka=kafka, depth=depth)[1]

    return scan


@pytest.mark.sample(4)
@pytest.mark.parametrize("path", sample(CLUSTERS), ids=named)
def test_the_findings_are_those_of_check_for_the_whole_cluster(path: Path, rows_of: RowsOf) -> None:
    """Also those that need the metadata, and those about several brokers; at any depth.

    A scan neither compares records (KC401) nor asks coordinators (KC6xx).
    """
    arguments, kafka = of_cluster(path)
    for depth in ("checkpoints", "crc"):
        rows = rows_of(path, depth)
        expected = [row for row in told(arguments[0], kafka, depth, *arguments[1:]) if row["id"] not in NOT_OF_SCANS]
        assert sorted(expected, key=str) == places(rows["findings"])


def test_an_unclean_election_is_found_as_by_check(tmp_path: Path) -> None:
    """By the metadata's history, of replicas that have followed and of one that has not."""
    (case,) = (case for case in FOUND if case.parts[-2:] == ("kc254-unclean-election", "shortest-log"))
    brokers = sorted(shared_copy(case).iterdir())
    _, rows = scanned(tmp_path, brokers[0].parent / "{broker}" / "{log_dir}", kafka="4.3", depth="crc")
    expected = [row for row in told(str(brokers[0]), "4.3", "crc", *map(str, brokers[1:])) if row["id"] == "KC254"]
    assert sorted(expected, key=str) == [row for row in places(rows["findings"]) if row["id"] == "KC254"] != []


@pytest.mark.parametrize("path", sample(CLUSTERS), ids=named)
def test_the_starts_are_those_of_predict_for_the_whole_cluster(path: Path, rows_of: RowsOf) -> None:
    arguments, kafka = of_cluster(path)
    rows = rows_of(path, "crc")
    found = {
        (row["log_dir"], row["dir"]): (row["outcome"], row["uncertain"], row["log_end_offset"])
        for row in rows["predictions"]
    }
    expected: dict[Any, Any] = {}
    for start in predict(arguments, start_options(arguments, PartitionFilter(), release(kafka))).log_dirs:
        expected[start.path, None] = (str(start.outcome), start.uncertain, None)
        for part in start.partitions:
            end = None if part.log is None else part.log.log_end_offset
            expected[start.path, part.dir] = (str(part.outcome), part.uncertain, end)
    assert expected == found


def test_a_stray_leads_and_follows_nobody_by_the_words_of_truncation(tmp_path: Path) -> None:
    """Whom the metadata do not place on its broker; those that run serve it for now."""
    data = tmp_path / "all"
    shutil.copytree(STRAYED, data)
    (data / "broker-1" / "data1" / "orders-0" / "partition.metadata").write_bytes(partition_metadata())
    arguments = [str(broker) for broker in sorted(data.iterdir())]
    _, rows = scanned(tmp_path, data / "{broker}" / "{log_dir}", depth="crc")
    found = {(row["leader_id"], row["broker_id"]): row["problem"] for row in rows["truncation_plans"]}

    def problems(**how: bool) -> dict[tuple[int | None, int | None], str | None]:
        asked = Election(**how)
        plans = truncation(arguments, asked, wanted=PartitionFilter(), release=release("4.3")).plans
        return {(plan.leader, part.broker_id): part.problem for plan in plans for part in plan.followers}

    assert {2, 3} == {leader for leader, _ in found}
    assert found == problems()
    why = found[2, 1]
    assert why is not None
    assert why.startswith("nobody serves it: the cluster has no topic with id")
    assert "nobody serves it" not in str(problems(live=True))


@pytest.mark.parametrize("path", sample(CLUSTERS), ids=named)
def test_the_tables_are_what_cluster_shows(path: Path, rows_of: RowsOf) -> None:
    arguments, kafka = of_cluster(path)
    rows = rows_of(path, "checkpoints")
    answer = cluster(arguments, ClusterQuestion(), wanted=PartitionFilter(), release=release(kafka)).report().body
    for table, field in (("cluster_partitions", "partitions"), ("cluster_brokers", "brokers")):
        shown = [json.loads(json.dumps(row)) for row in answer[field]]  # type: ignore[attr-defined]  # rows
        assert shown == [read(row, table) for row in rows[table]]
    (row,) = rows["clusters"]
    assert (row["cluster_id"], row["path"]) == (answer["cluster_id"], answer["metadata"]["path"])  # type: ignore[index]  # a row
    assert len(rows["cluster_partitions"]) == row["partitions"] > 0
    assert json.loads(json.dumps(answer["configs"])) == json.loads(row["configs"])


def read(row: dict[str, Any], table: str) -> dict[str, Any]:
    """Return a row of a table as JSON shows it."""
    texts = {column.name for column in run_tables()[table].columns if column.type == "json"}
    own = {name: value for name, value in row.items() if name not in RUN_ONLY}
    return {name: json.loads(value) if name in texts and value is not None else value for name, value in own.items()}


def test_a_cluster_is_one_of_its_name_and_its_id(tmp_path: Path) -> None:
    """The two lie side by side: the metadata of one say nothing of the other."""
    for name in ("outlived", "outrun"):
        shutil.copytree(OUTLIVED.parent / name, tmp_path / "all" / name)
    _, together = scanned(tmp_path, tmp_path / "all" / LAYOUT)
    assert ["outlived", "outrun"] == [row["cluster"] for row in together["clusters"]]
    assert {"outrun", "outlived"} == {row["cluster"] for row in together["cluster_brokers"]}
    for row in together["cluster_partitions"]:
        leader = row["leader"] if row["leader"] >= 0 else row["last_leader"]
        assert row["broker"] == (None if leader is None else f"broker-{leader}")


def test_unchanged_directories_keep_their_rows(tmp_path: Path) -> None:
    """But those whose findings name the copy and its end, which the next record of the metadata changes."""
    data = tmp_path / "all"
    shutil.copytree(OUTLIVED, data)
    report, first = scanned(tmp_path, data / "{broker}" / "{log_dir}", remembers=True)
    cited = {row["dir"] for row in first["findings"] if row["id"] in CITED}
    assert cited
    kept = kept_by(str(tmp_path / "out" / "run=r"))
    report, second = scanned(tmp_path, data / "{broker}" / "{log_dir}", since=kept, remembers=True, name="s")
    assert 0 < report.body["carried_over"] < len(first["partitions"])  # type: ignore[operator]  # a number
    assert {**first, "runs": None} == {**second, "runs": None}


def test_metadata_that_are_gone_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the first look and the one that needs them."""
    monkeypatch.setattr(cluster_metadata, "complete_copy", lambda *_: None)
    cluster_metadata._copy_at.cache_clear()
    _, rows = scanned(tmp_path, OUTLIVED / "{broker}" / "{log_dir}")
    assert not rows["clusters"]
    assert not {row["id"] for row in rows["findings"]} & CITED


def test_a_failure_in_the_metadata_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directories are looked at without them."""

    def fail(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(cluster_metadata, "partition_row", fail)
    _, rows = scanned(tmp_path, OUTRUN / "{broker}" / "{log_dir}", name="a")
    assert "KC000" in {row["id"] for row in rows["findings"]}
    assert rows["partitions"]
    monkeypatch.setattr("kcheck.fleet.scan.cluster_steps.complete_copy", fail)
    _, rows = scanned(tmp_path, OUTRUN / "{broker}" / "{log_dir}", name="b")
    assert {"KC000"} <= {row["id"] for row in rows["findings"]}
    assert not rows["clusters"]
