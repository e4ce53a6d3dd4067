"""The metrics of a fleet, as the parser of Prometheus' own client reads them."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from kcheck.fleet.run import open_run
from kcheck.fleet.runs.report import report
from kcheck.renderers import Options, prometheus
from tests.fleets import LOG_DIR, LOSS, PARTITION, START, finding, forged


def metrics(run: Path) -> dict[str, list[tuple[Mapping[str, str], float]]]:
    """Return the samples of each metric; each has its help and its type."""
    stream = io.StringIO()
    prometheus.render(report(open_run(str(run)), lambda *_: True), stream, Options())
    families = [*text_string_to_metric_families(stream.getvalue())]
    assert all(family.documentation and family.type == "gauge" for family in families)
    return {family.name.removeprefix("kcheck_fleet_"): [each[1:3] for each in family.samples] for family in families}


def test_everything_is_counted(tmp_path: Path) -> None:
    """By cluster, broker, rule and severity; a verdict is one of five."""
    found = [finding(), finding(), finding(id="KC101", severity="fatal", broker="2")]
    other = {**LOG_DIR, "broker": "3"}
    told = metrics(forged(tmp_path, findings=found, log_dirs=[LOG_DIR, LOG_DIR, other], partitions=[PARTITION]))
    place = {"cluster": "c", "broker": "1"}
    assert [
        ({**place, "rule": "KC201", "severity": "error"}, 2),
        ({**place, "broker": "2", "rule": "KC101", "severity": "fatal"}, 1),
    ] == told["findings"]
    verdicts = {labels["broker"]: labels["verdict"] for labels, value in told["broker_verdict"] if value}
    assert (15, {"1": "error", "2": "fatal", "3": "clean"}) == (len(told["broker_verdict"]), verdicts)
    assert [(place, 2), ({**place, "broker": "3"}, 1)] == [each for each in told["log_dirs"] if each[1]]
    assert [(place, 1)] == [each for each in told["partition_dirs"] if each[1]]
    about = {"run": "r", "kafka": "4.3", "depth": "headers"}
    assert about.items() <= dict(told["run_info"][0][0]).items()
    names = ("partitions_at_risk", "run_finished", "run_start_timestamp_seconds", "run_end_timestamp_seconds")
    assert [1, 1, 1_700_000_000, 1_700_000_061] == [told[name][0][1] for name in names]


def test_the_next_start_is_told(tmp_path: Path) -> None:
    """One of six words for a broker; how many records it loses is left out where nobody could count them."""
    unknown = {**LOSS, "broker": "2", "lost": LOSS["lost"].replace("4", "null")}
    told = metrics(forged(tmp_path, predictions=[START, {**START, "broker": "2", "outcome": "offline"}, LOSS, unknown]))
    place = {"cluster": "c", "broker": "1"}
    outcomes = {labels["broker"]: labels["outcome"] for labels, value in told["broker_next_start"] if value}
    assert (12, {"1": "lost", "2": "offline"}) == (len(told["broker_next_start"]), outcomes)
    assert [(place, 4)] == told["broker_lost_records"]
    assert [({**place, "broker": "2"}, 1), (place, 1)] == told["broker_losing_partitions"]
    assert [({**place, "broker": "2"}, 100), (place, 100)] == told["broker_rescan_bytes"]


def test_labels_may_be_anything(tmp_path: Path) -> None:
    """Quotes and backslashes come out as they went in, what moves a cursor as its escape; two of one look are one."""
    words = ('a"b\\c', "x\ny", "x\\ny", None, "é{}=,")
    told = metrics(forged(tmp_path, findings=[finding(cluster=word) for word in words], log_dirs=[]))
    assert {'a"b\\c': 1, "x\\ny": 2, "": 1, "é{}=,": 1} == {
        labels.get("cluster", ""): value for labels, value in told["findings"]
    }


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    run: Any = open_run(str(forged(tmp_path)))
    stream = io.StringIO()
    prometheus.render(report(run._replace(started=None), lambda *_: True), stream, Options())
    assert "\nkcheck_fleet_run_start_timestamp_seconds " not in stream.getvalue()
    assert "\nkcheck_fleet_run_end_timestamp_seconds 1" in stream.getvalue()
