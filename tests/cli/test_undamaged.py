"""Nothing is wrong with disks that real brokers left, stopped or killed: every verb is green about them."""

from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.oracle.incidents.asked import GREEN, ask
from tests.oracle.incidents.kept import paths, unpacked
from tests.oracle.scenes import FIXTURES

BROKERS = FIXTURES / "brokers"
SCENES = ("stopped", "killed", "coordinators", "snapshot")
"""The scenes of fixtures/brokers in which nothing is lost, and no directory waits to be deleted."""
CLUSTERS = sorted(path for scene in SCENES for path in BROKERS.glob(f"*/{scene}"))
LOST = ("2.8.2-zk-nothing-v1.tar.xz", "4.3.1-kraft-nothing-v0.tar.xz")
"""Those that lost records all the same: by an unclean election before the stop."""
UNTOUCHED = [path for path in paths() if "-nothing-" in path.name and path.name not in LOST]


def test_there_are_enough() -> None:
    """Clusters of eight releases, and incidents without a damage."""
    assert (18, 3) == (len(CLUSTERS), len(UNTOUCHED))


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda path: path.relative_to(BROKERS).as_posix())
def test_the_disks_of_a_cluster(cluster: Path) -> None:
    """Each broker will boot, nothing is wrong, and elections lose nothing.

    The disks of ZooKeeper's brokers do not show that no replica is elsewhere.
    """
    release = cluster.parent.name
    brokers = [f"{path.name.removeprefix('broker-')}={path}" for path in sorted(cluster.glob("broker-*"))]
    plans = [(verb, *brokers) for verb in ("elect", "recover")]
    commands = [("check", *brokers), *((*words, "--incomplete-ok") for words in plans)]
    commands += [(*verb, broker) for broker in brokers for verb in ((), ("predict",))]
    ended = {" ".join(words): kcheck(*words, "--kafka", release).code for words in commands}
    assert dict.fromkeys(ended, 0) == ended
    is_registered = any(cluster.glob("broker-*/*/__cluster_metadata-0"))
    assert [not is_registered] * 2 == [bool(kcheck(*words, "--kafka", release).code) for words in plans]


@pytest.mark.parametrize("packed", UNTOUCHED, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_cluster_with_metadata_and_settings(packed: Path, tmp_path: Path) -> None:
    """Real brokers started on these disks, and lost nothing: preflight, predict, PATH, check and elect say so."""
    kept = unpacked(packed, tmp_path / "incident")
    assert [] == [(row.command, row.colour) for row in ask(kept.folder, kept.shape) if row.colour != GREEN]
