"""Replicas that the cluster has given up while their broker was down: what becomes of them, and what predict says.

`KCHECK_SWEEP` takes more releases.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.startup.options import StartOptions
from kcheck.verbs.predict import predict
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.reports import document

pytestmark = pytest.mark.oracle

VERSIONS = ("4.3.1", *(("4.0.2", "3.9.2", "3.7.2", "3.6.2", "3.3.2") if IS_WHOLE else ()))
"""That 3.6 deletes strays, test_cluster_rules.py shows as well."""
MARKED = re.compile(r"(.+)\.[0-9a-f]{32}-(delete|stray)")


def _predicted(version: str, *nodes: Process) -> dict[str, tuple[str, str | None]]:
    """Return what is predicted of each data directory, and the doubt."""
    chosen = release(version)
    arguments = [str(path) for node in nodes for path in node.log_dirs]
    report = predict(arguments, StartOptions(None, settings({"mode": "kraft"}, chosen), chosen)).report()
    return {
        each["dir"]: (each["outcome"], each["uncertain"])
        for log_dir in document(report)["log_dirs"]
        for each in log_dir["partitions"]
        if each["topic"] != "__cluster_metadata"
    }


def _became(before: set[str], broker: Process) -> dict[str, str]:
    """Return what has become of directories."""
    after = [path.name for log_dir in broker.log_dirs for path in log_dir.iterdir() if path.is_dir()]
    marks = {match[1]: match[2] for match in map(MARKED.fullmatch, after) if match is not None}
    outcomes = {"delete": "deleted", "stray": "stray"}
    return {name: outcomes[marks[name]] if name in marks else "ok" for name in before}


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_strays(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """A topic deleted, one made anew, a partition moved away: the controller's copy tells, not that of the broker."""
    config = histories.config(version)
    with start(version, 2, dir=tmp_path / "cluster", log_dirs={1: 2}, broker_config=config) as cluster:
        topics = ("keep 1:2,2:1", "gone 1:2,2:1", "anew 1:2", "moved 1:2")
        histories.replicas(cluster, *(f"create {topic}" for topic in topics))
        histories.load(cluster, *(f"send {topic.split(' ')[0]} 0 0 9 none" for topic in topics))
        cluster[1].stop()
        histories.replicas(cluster, "delete gone", "delete anew", "reassign moved 0 2", broker=2)
        histories.replicas(cluster, "create anew 2:1", broker=2)
        wait_for("the topic", lambda: "anew-0" in histories.directories(cluster[2]))
        alone = _predicted(version, cluster[1])
        assert alone == dict.fromkeys(histories.directories(cluster[1]).keys() - {"__cluster_metadata-0"}, ("ok", None))
        told = _predicted(version, cluster[1], cluster.beside)
        cluster[1].start()
        wait_for("the end", lambda: _became(set(told), cluster[1])["moved-0"] != "ok")
        assert {name: outcome for name, (outcome, _) in told.items()} == _became(set(told), cluster[1])
        assert {doubt for _, doubt in told.values()} == {None}
        assert {name for name, (outcome, _) in told.items() if outcome == "ok"} == {"keep-0", "keep-1"}


@pytest.mark.whole
def test_a_future_log_in_the_log_dir_that_the_cluster_names(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """As a broker leaves it that is killed between its report that a replica has moved, and the swap of the logs."""
    with start("4.3.1", dir=tmp_path / "cluster", log_dirs=2, broker_config=histories.config("4.3.1")) as cluster:
        histories.replicas(cluster, "create moved 1")
        histories.load(cluster, "send moved 0 0 9 none")
        broker = cluster[1]
        broker.stop()
        named = histories.directories(broker)["moved-0"]
        (other,) = (path for path in broker.log_dirs if path != named.parent)
        shutil.copytree(named, other / named.name)
        named.rename(f"{named}.{0:032x}-future")
        told = _predicted("4.3.1", broker)
        assert {"moved-0": ("deleted", None), f"moved-0.{0:032x}-future": ("ok", None)} == told
        broker.start()
        wait_for("the swap", named.exists)
        assert _became({"moved-0"}, broker) == {"moved-0": "deleted"}
        assert not (other / named.name).exists()
