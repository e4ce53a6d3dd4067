"""What a report of a run counts is what stands in its tables."""

import json
import shlex
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Outcome
from kcheck.errors import KcheckError
from kcheck.fleet import risk as fleet_risk
from kcheck.fleet.run import open_run
from kcheck.fleet.runs import report as fleet_report
from kcheck.fleet.runs import trend
from kcheck.fleet.runs.report import report
from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.local_engine import ScanRun, scan
from kcheck.model.depth import Depth
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter
from tests.cases.build import FIXTURES, shared_copies
from tests.cli.command import kcheck
from tests.fleets import LOSS, PARTITION, START, finding, forged
from tests.oracle.ask import IS_WHOLE
from tests.reports import document

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""


def every(rule: str, severity: Severity) -> bool:
    del rule, severity
    return True


def reported(run: Path, shown: Any = every, fails: Any = every) -> dict[str, Any]:
    """Return the report of a run as a document."""
    return document(report(open_run(str(run)), shown, fails))


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scan every case as a broker of a fleet, its rule being the cluster, and the newest brokers."""
    out = tmp_path_factory.mktemp("cases")
    asked = ScanRun(
        "r", str(out), ScanOptions(Depth.CRC, PartitionFilter(), release("4.3")), jobs=1, seconds=60,
        now=lambda: 1000, shown=every, fails=every, tell=lambda _: None,
    )  # fmt: skip
    newest = FIXTURES / "brokers" / "4.3.1" / "{cluster}" / "{broker}" / "{log_dir}"
    scan([f"{shared_copies()}/{{cluster}}/{{broker}}/before", str(newest)], asked)
    return out / "run=r"


def rows(run: Path, table: str, *names: str) -> list[tuple[Any, ...]]:
    return list(open_run(str(run)).values(table, names))


def test_it_begins_with_what_to_do(cases: Path) -> None:
    """An action of each kind, at most seven; each command is one that can be typed, and finds what it is about."""
    actions = reported(cases)["actions"]
    assert [
        "not-found",
        "will-not-boot",
        "loses-records",
        "premise-refuted",
        "goes-offline",
        "stops-serving",
        "no-clean-leader",
    ] == [row["kind"] for row in actions]
    starts = {(row["cluster"], row["broker"]): row["next_start"] for row in reported(cases)["broker_starts"]}
    expected = {"will-not-boot": Outcome.ABORT, "loses-records": Outcome.LOST, "goes-offline": Outcome.OFFLINE}
    for row in actions:
        program, *arguments = shlex.split(row["command"])
        done = kcheck(*arguments)
        assert program == "kcheck"
        assert done.code in (0, 1), row
        if row["kind"] in expected:
            assert done.code == 1, row
            assert starts[row["cluster"], row["broker"]] == expected[row["kind"]]


def test_an_action_is_about_the_worst_of_its_kind(tmp_path: Path) -> None:
    """It says how many are alike; five kinds are enough to begin with, and what is clean has none."""
    assert () == tuple(reported(forged(tmp_path / "clean"))["actions"])
    replicas = {"cluster": "c", "broker": "2", "topic": "t", "replicas_of_topic": 2, "lost": 7, "at_risk_from": 0,
                "at_risk_to": 9, "at_risk_below_high_watermark": 2}  # fmt: skip
    sets = [{**replicas, "partition": number, "lost_below_high_watermark": number} for number in range(3)]
    starts = [{**START, "broker": name, "outcome": outcome} for name, outcome in
              (("1", "ok"), ("2", "abort"), ("3", "offline"), ("broker-4", "abort"), ("5", "abort"))]  # fmt: skip
    log_dirs = [{**START, "log_dir": path, "broker": "2"} for path in ("/a b", "/c")]
    worst = forged(
        tmp_path / "worst", predictions=[*starts, LOSS], replica_sets=sets, findings=[finding()], log_dirs=log_dirs
    )
    elect = f"kcheck elect --from {worst} --cluster c --partition"
    by_hand = "Elect no leader of t-2 of c by hand yet. Even under the best one, broker 2, others lose"
    alone = "Keep broker 2 running: the only copy of 2 committed records of t-0 of c is on its disk."
    assert [
        (
            "Do not stop broker 2 of c: it will not boot again. Also look at broker 5 of c and broker-4 of c.",
            "kcheck predict --kafka 4.3 '/a b' /c",
        ),
        ("Do not restart broker 1 of c: it will lose 4 records.", "kcheck predict --kafka 4.3"),
        ("Before broker 3 of c restarts, repair its log dirs. Some will go offline.", "kcheck predict --kafka 4.3"),
        (f"{by_hand} 2 committed records. Also look at 1 more partition.", f"{elect} t-2"),
        (f"{alone} Also look at 2 more partitions.", f"{elect} t-0"),
        ("Look at broker 1 of c: 1 error.", "kcheck help dead-disk"),
    ] == [(row["what"], row["command"]) for row in reported(worst)["actions"]]


def test_everything_is_counted(cases: Path) -> None:
    """Findings by broker, cluster, rule and severity; the brokers where nothing was found too."""
    found = reported(cases)
    findings = rows(cases, "findings", "cluster", "broker", "id", "severity")
    assert Counter(findings) == {
        (row["cluster"], row["broker"], row["id"], row["severity"]): row["findings"] for row in found["counts"]
    }
    assert len(findings) == sum(found["summary"].values()) == found["failing"]
    for name, at in (("clusters", slice(0, 1)), ("brokers", slice(0, 2)), ("rules", slice(2, 3))):
        keys = {"clusters": ("cluster",), "brokers": ("cluster", "broker"), "rules": ("id",)}[name]
        expected = Counter((row[at], row[3]) for row in findings)
        assert expected == +Counter(
            {(tuple(row[key] for key in keys), str(each)): row[each] for row in found[name] for each in Severity}
        )
    places = {(cluster, broker) for cluster, broker in rows(cases, "log_dirs", "cluster", "broker")}
    assert places == {(row["cluster"], row["broker"]) for row in found["brokers"] if row["log_dirs"]}
    verdicts = Counter((row["cluster"], row["verdict"]) for row in found["brokers"])
    assert verdicts == +Counter(
        {(row["cluster"], name): count for row in found["clusters"] for name, count in row["verdicts"].items()}
    )
    assert Counter((row["cluster"], row["risk"]) for row in found["brokers"]) == +Counter(
        {(row["cluster"], name): count for row in found["clusters"] for name, count in row["risks"].items()}
    )
    assert {"fatal", "error", "warning", "info", "clean"} == {row["verdict"] for row in found["brokers"]}


def test_the_worst_stand_first(cases: Path) -> None:
    """In every list; clusters and brokers by what is worse, their findings or their next start."""
    found = reported(cases)
    order = ["fatal", "error", "warning", "info", "clean"]
    risks = {"abort": "fatal", "offline": "fatal", "lost": "error", "stray": "error"}
    for name in ("clusters", "brokers"):
        for row in found[name]:
            of_start = risks.get(row["next_start"], row["verdict"])
            assert row["risk"] == min(row["verdict"], of_start, key=order.index)
    for name, by in (("clusters", "risk"), ("brokers", "risk"), ("rules", "verdict"), ("partitions", "verdict")):
        ranks = [order.index(row[by]) for row in found[name]]
        assert sorted(ranks) == ranks
        assert len(set(ranks)) > 1
    ranks = [order.index(row["severity"]) for row in found["worst"]]
    assert sorted(ranks) == ranks


def test_a_partition_is_at_risk_by_its_errors_and_by_what_it_can_lose(
    cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same ones, however few findings are held at once."""
    found = reported(cases)
    columns = ("cluster", "topic", "partition", "severity", "broker", "id")
    errors: dict[Any, list[Any]] = {}
    for *partition, severity, broker, rule in rows(cases, "findings", *columns):
        if severity in ("fatal", "error") and partition[2] is not None:
            errors.setdefault(tuple(partition), []).append((severity, broker, rule))
    below = ("lost_below_high_watermark", "at_risk_below_high_watermark")
    losses = {
        (cluster, topic, partition): (leader, lost, *counts)
        for cluster, topic, partition, leader, lost, replicas, *counts in rows(
            cases, "replica_sets", *columns[:3], "broker", "lost", "replicas_of_topic", *below
        )
        if counts[0] or (counts[1] and replicas > 1)
    }
    expected = {*errors, *losses}
    assert len(expected) == found["partitions_at_risk"] == len(found["partitions"]) >= len(errors) > 10
    assert any(counts[3] for counts in losses.values())
    for row in found["partitions"]:
        key = row["cluster"], row["topic"], row["partition"]
        of_it = errors.get(key, [])
        assert Counter(severity for severity, _, _ in of_it) == +Counter(fatal=row["fatal"], error=row["error"])
        assert sorted({broker for _, broker, _ in of_it}) == row["damaged_on"]
        assert sorted({rule for _, _, rule in of_it}) == row["rule_ids"]
        if key in losses:
            assert losses[key] == tuple(row[name] for name in ("best_leader", "lost", *below))
        drops = losses[key][2] if key in losses else 0
        assert row["verdict"] == ("fatal" if row["fatal"] else "error" if row["error"] or drops else "warning")
    monkeypatch.setattr(fleet_risk, "_HELD_COUNT", 3)
    assert found == reported(cases)
    monkeypatch.setattr(fleet_risk, "PARTITION_COUNT", 5)
    few = reported(cases)
    assert (found["partitions"][:5], found["partitions_at_risk"]) == (few["partitions"], few["partitions_at_risk"])


def test_what_can_be_lost_is_told(tmp_path: Path) -> None:
    """What was committed; but that all of a topic with single replicas is on one disk is no news."""
    names = ("lost", "lost_below_high_watermark", "at_risk_from", "at_risk_to", "at_risk_below_high_watermark")
    place = {"cluster": "c", "broker": "2", "partition": 0}
    sets = [
        {**place, "topic": topic, "replicas_of_topic": replicas, **dict(zip(names, counts, strict=True))}
        for topic, replicas, counts in (
            ("alone", 3, (0, 0, 10, 60, 5)),
            ("single", 1, (0, 0, 10, 60, 5)),
            ("even", 3, (0, 0, None, None, None)),
            ("cut", 3, (7, 2, None, None, None)),
            ("uncommitted", 3, (7, 0, 10, 20, 0)),
        )
    ]
    found = reported(forged(tmp_path, replica_sets=sets))
    shown = ("topic", "verdict", "best_leader", "lost", "lost_below_high_watermark", "at_risk")
    assert [("cut", "error", "2", 7, 2, None), ("alone", "warning", "2", 0, 0, 50)] == [
        tuple(row[name] for name in shown) for row in found["partitions"]
    ]


def test_replicas_are_counted_and_not_their_leftovers(tmp_path: Path) -> None:
    """A directory that is to be deleted is no replica; sizes are added, the largest log end is told."""
    replicas = [
        {**PARTITION, "broker": "1", "size": 5, "log_end_offset": 7},
        {**PARTITION, "broker": "2", "size": None, "log_end_offset": None},
        {**PARTITION, "broker": "3", "size": 6, "log_end_offset": 9},
        {**PARTITION, "broker": "4", "state": "deleted", "size": 100, "log_end_offset": 100},
        {**PARTITION, "topic": "u", "size": 100},
    ]
    found = [finding(broker="2"), finding(broker="10"), finding(broker="2", severity="warning")]
    (row,) = reported(forged(tmp_path, findings=found, partitions=replicas))["partitions"]
    assert (3, 2, ["2", "10"], 9, 11, 2) == tuple(
        row[name] for name in ("replicas", "damaged", "damaged_on", "log_end_offset", "size", "error")
    )


def test_names_of_brokers_can_be_numbers_that_are_not_their_ids(tmp_path: Path) -> None:
    """The id of a lost broker names the one that was scanned; a name stays."""
    log_dirs = [{"cluster": "c", "broker": name, "log_dir": "/d", "broker_id": int(name) + 1} for name in ("0", "1")]
    named = {"cluster": "c", "broker": "kafka-8", "log_dir": "/d", "broker_id": 8}
    found = [finding(broker="1", broker_id=2), finding(broker="8", broker_id=8)]
    answer = reported(forged(tmp_path, findings=found, log_dirs=[*log_dirs, named]))
    risks = {row["broker"]: row["risk"] for row in answer["brokers"]}
    assert {"0": "clean", "1": "error", "kafka-8": "error"} == risks


def test_an_error_in_remote_storage_is_on_no_broker(tmp_path: Path) -> None:
    """It puts the partition at risk, and no replica is corrupt."""
    at = {"cluster": "c", "topic": "t", "partition": 0}
    run = forged(tmp_path, findings=[finding(**at, broker=None, broker_id=None)], partitions=[{**PARTITION, **at}])
    (row,) = reported(run)["partitions"]
    assert (0, [], 1) == (row["damaged"], row["damaged_on"], row["error"])


def test_what_is_shown_and_what_fails_are_two_things(cases: Path) -> None:
    """A rule that is not shown is in no list, and can be one to fail on."""
    found = reported(
        cases, lambda rule, severity: rule == "KC202" and severity is Severity.WARNING, lambda rule, _: rule == "KC101"
    )
    assert [("KC202", 0)] == [(row["id"], row["info"]) for row in found["rules"]]
    assert {"KC202"} == {row["id"] for row in [*found["worst"], *found["counts"], *found["pages"]]}
    assert {"info": 0, "error": 0, "fatal": 0, "warning": len(found["worst"])} == found["summary"]
    assert found["failing"] == sum(rule == "KC101" for (rule,) in rows(cases, "findings", "id")) > 0
    assert 0 == sum(row["error"] + row["fatal"] for row in found["partitions"])
    assert 0 == reported(cases, lambda *_: False, lambda *_: False)["failing"]


def test_some_of_each_rule_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of each severity, with what their fields hold; what is no JSON is told as it stands."""
    monkeypatch.setattr(fleet_report, "FINDING_COUNT", 3)
    many = [finding(line=number, severity=name, data='{"a": 1}') for number in range(50) for name in ("info", "fatal")]
    found = reported(forged(tmp_path, findings=[*many, finding(id="KC999", data="{"), finding(id="KC998", data=None)]))
    assert [("KC201", "fatal", 0), ("KC201", "fatal", 1), ("KC201", "fatal", 2)] == [
        (row["id"], row["severity"], row["line"]) for row in found["worst"][:3]
    ]
    assert [{"a": 1}] * 3 + ["{", None] + [{"a": 1}] * 3 == [row["data"] for row in found["worst"]]
    assert {"KC201": "epoch-order", "KC999": None, "KC998": None} == {row["id"]: row["name"] for row in found["rules"]}
    assert ["KC201"] == [row["id"] for row in found["pages"]]


@pytest.mark.parametrize("changes", [{"severity": "bad"}, {"severity": None}, {"id": None}])
def test_a_finding_that_is_none_is_damage(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(KcheckError, match="a finding has no rule, or the severity"):
        reported(forged(tmp_path, findings=[finding(**changes)]))


def test_a_clean_fleet_is_told(tmp_path: Path) -> None:
    found = reported(forged(tmp_path, finished=False))
    assert [("c", "1", "clean", 1)] == [
        (row["cluster"], row["broker"], row["verdict"], row["log_dirs"]) for row in found["brokers"]
    ]
    assert (0, [], [], False) == (found["failing"], found["rules"], found["worst"], found["finished"])


def test_the_next_start_of_every_broker_is_that_of_predict(cases: Path) -> None:
    """Its worst log dir, what its partitions lose, and what it reads; brokers and clusters stand worst first."""
    found = reported(cases)
    names = ("cluster", "broker", "log_dir", "dir", "outcome", "lost", "scan_bytes", "reason")
    expected: dict[Any, dict[str, Any]] = {}
    log_dirs_first = sorted(rows(cases, "predictions", *names), key=lambda row: row[3] is not None)
    for cluster, broker, path, name, outcome, lost, size, reason in log_dirs_first:
        of_it = expected.setdefault((cluster, broker), {"outcomes": {}, "lost": [], "bytes": 0})
        if name is None:
            of_it["outcomes"][path] = "stray" if outcome == "ok" and "not serve" in reason else outcome
            of_it["bytes"] += size
        elif lost is not None:
            of_it["lost"].append(json.loads(lost)["records"])
            if of_it["outcomes"][path] in ("ok", "stray"):
                of_it["outcomes"][path] = "lost"
    order = ["abort", "offline", "unknown", "lost", "stray", "ok"]
    told = {(row["cluster"], row["broker"]): row for row in found["broker_starts"]}
    assert {"abort", "offline", "unknown", "lost", "stray", "ok"} == {row["next_start"] for row in told.values()}
    assert {*told} == {*expected} == {(row["cluster"], row["broker"]) for row in found["brokers"] if row["log_dirs"]}
    for place, of_it in expected.items():
        row = told[place]
        assert min(of_it["outcomes"].values(), key=order.index) == row["next_start"]
        assert Counter(of_it["outcomes"].values()) == +Counter(row["outcomes"])
        assert (len(of_it["lost"]), of_it["bytes"]) == (row["losing_partitions"], row["scan_bytes"])
        is_unknown = None in of_it["lost"] or "unknown" in of_it["outcomes"].values()
        assert (None if is_unknown else sum(of_it["lost"])) == row["lost_records"]
    for row in found["cluster_starts"]:
        brokers = [each for (cluster, _), each in told.items() if cluster == row["cluster"]]
        assert Counter(each["next_start"] for each in brokers) == +Counter(row["outcomes"])
        assert sum(each["scan_bytes"] for each in brokers) == row["scan_bytes"]
    for name in ("cluster_starts", "broker_starts"):
        ranks = [order.index(row["next_start"]) for row in found[name]]
        assert sorted(ranks) == ranks
    losing = sum(len(each["lost"]) for each in expected.values())
    assert losing == found["partitions_losing"] == len(found["losses"]) > 5


def test_a_command_finds_again_what_its_row_says(cases: Path) -> None:
    """Of each kind of rule one, or of each rule one; on the host of the broker, or for replicas from the run."""
    with_place = [row for row in reported(cases)["worst"] if row["log_dir"] is not None]
    alone = [row for row in with_place if not Path(row["log_dir"], "data1").exists()]  # a log dir alone
    # The states of one tiered cluster at several times are one cluster to a fleet.
    worst = [row for row in alone if "-remote-" not in row["log_dir"] and row["id"] != "KC505"]
    of_rule = {(row["id"], row["severity"]): row for row in worst}
    kinds = {(row["id"][:4], row["command"].split()[1]): row for row in of_rule.values()}
    assert {"check", "elect"} == {verb for _, verb in kinds}
    for row in (of_rule if IS_WHOLE else kinds).values():
        done = kcheck(*shlex.split(row["command"])[1:], "--format", "json")
        if row["command"].startswith("kcheck elect"):
            assert [(row["topic"], row["partition"])] == [
                (one["topic"], one["partition"]) for one in json.loads(done.out)["partitions"]
            ]
            continue
        found = {(one["id"], one["dir"], one["file"]) for one in json.loads(done.out)["findings"]}
        assert (row["id"], row["dir"], row["file"]) in found, row["command"]


def test_the_trend_is_that_of_the_last_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown of each run, oldest first; a single run has none."""
    for number in range(4):
        found = [finding(line=line) for line in range(number)]
        forged(tmp_path, f"r{number}", started=1_700_000_000_000 + number, findings=[*found, finding(severity="info")],
               partitions=[PARTITION] * number, predictions=[START, *([LOSS] * number)])  # fmt: skip
    runs = [open_run(str(tmp_path / f"run=r{number}")) for number in (2, 0, 1, 3)]

    def rows(shown: Any, *some: Any) -> list[tuple[Any, ...]]:
        names = ("run", "error", "info", "losing_partitions", "partitions")
        return [tuple(row[name] for name in names) for row in document(report(runs[-1], shown, every, some))["trend"]]

    assert [(f"r{number}", number, 1, number, number) for number in range(4)] == rows(every, *runs)
    assert [0, 0, 0, 0] == [row[2] for row in rows(lambda _, severity: severity is Severity.ERROR, *runs)]
    assert [] == rows(every) == rows(every, runs[0])
    monkeypatch.setattr(trend, "RUN_COUNT", 2)
    assert ["r2", "r3"] == [row[0] for row in rows(every, *runs)]


def test_memory_does_not_grow_with_the_findings(tmp_path: Path) -> None:
    """Python's own objects, for four times as many findings of as many partitions and brokers."""

    def many(count: int) -> Iterator[dict[str, Any]]:
        for number in range(count):
            yield finding(broker=str(number % 50), partition=number % 100, line=number, message=f"it is {number}")

    peaks = []
    for count in (20_000, 80_000):
        run = open_run(str(forged(tmp_path, str(count), findings=many(count))))
        tracemalloc.start()
        assert report(run, every).summary()["error"] == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
