"""Whole brokers start on a damaged remote-log-index-cache, with remote storage and without: predict says the same."""

import json
import shutil
from collections.abc import Callable, Iterator

import pytest

from kcheck.model.names import REMOTE_INDEX_CACHE
from tests.cli.command import kcheck
from tests.oracle import histories
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle

SEGMENT = "7_AAAAAAAAAAAAAAAAAAAAAQ"
CACHES: dict[str, dict[str, bytes]] = {
    "odd name": {".nfs01": b""},
    "part of an entry": {f"{SEGMENT}.index": bytes(9), f"{SEGMENT}.timeindex": b"", f"{SEGMENT}.txnindex": b""},
    "two of three": {f"{SEGMENT}.index": bytes(8), f"{SEGMENT}.timeindex": b""},
    "leftover": {f"{SEGMENT}.index.deleted": b"", "x.tmp": b""},
}
STARTS = tuple((version, name) for version in ("3.6.2", "3.9.2", "4.0.2", "4.3.1") for name in CACHES)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Cluster]]:
    """Return what starts and kills a broker with remote storage, once for each release."""
    clusters: dict[str, Cluster] = {}

    def of(version: str) -> Cluster:
        if version not in clusters:
            folder = tmp_path_factory.mktemp("cluster")
            config = histories.config(version) | histories.tiered_storage(version, folder / "remote")
            cluster = clusters[version] = Cluster(version, dir=folder / "c", broker_config=config)
            cluster.start()
            cluster.kill()  # a stop waits for the remote log metadata for a minute
        return clusters[version]

    yield of
    for cluster in clusters.values():
        cluster.kill()


@pytest.mark.whole
@pytest.mark.parametrize(("version", "name"), STARTS)
def test_the_start(version: str, name: str, killed: Callable[[str], Cluster]) -> None:
    broker = killed(version)[1]
    (log_dir,) = broker.log_dirs
    config = broker.dir / "server.properties"
    remote = config.read_text()
    for text in (remote, remote.replace("system.enable=true", "system.enable=false")):
        config.write_text(text)
        shutil.rmtree(log_dir / REMOTE_INDEX_CACHE, ignore_errors=True)
        (log_dir / REMOTE_INDEX_CACHE).mkdir()
        for file, data in CACHES[name].items():
            (log_dir / REMOTE_INDEX_CACHE / file).write_bytes(data)
        (said,) = json.loads(kcheck("predict", config, "--kafka", version, "--format", "json").out)["log_dirs"]
        try:
            broker.start()
        except RuntimeError:
            assert said["outcome"] == "abort", broker.log_since_start()[-2000:]
            assert said["reasons"][0].startswith(REMOTE_INDEX_CACHE)
        else:
            assert said["outcome"] == "ok"
            assert text != remote or not any((log_dir / REMOTE_INDEX_CACHE / file).exists() for file in CACHES[name])
        broker.kill()
    config.write_text(remote)
