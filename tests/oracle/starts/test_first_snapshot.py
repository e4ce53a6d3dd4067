"""Records of metadata in the first snapshot of the metadata log: real controllers start on a case of KC193."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from tests.cases.build import CASES
from tests.oracle import histories
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle

NAME = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


@pytest.mark.whole
@pytest.mark.parametrize("version", ["3.9.2", "4.0.2", "4.2.1", "4.3.1"])
def test_who_ignores_them(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """The records say metadata.version 3.9-IV0; who ignores them begins with the newest one of the release."""
    ignored = release(version).ignores_records_in_first_snapshot
    cluster = start(version, dir=tmp_path / "cluster", standalone=True, broker_config=histories.config(version))
    (log_dir,) = cluster[1].log_dirs
    (log_dir / "bootstrap.checkpoint").unlink()
    case = CASES / "kc193-bootstrap-records-ignored" / "records" / "changed" / "data1"
    own = _voters(log_dir / NAME)
    shutil.copyfile(case / NAME, log_dir / NAME)
    _take_voters(log_dir / NAME, own)
    with cluster:
        log = cluster[1].log_since_start()
        assert ignored == ("The metadata log appears to be empty" in log)
        assert ignored == ("finalizedFeatures={metadata.version=21}" not in log)


def _voters(path: Path) -> bytes:
    """Return the first batch of a snapshot: header, kraft.version and voters."""
    data = path.read_bytes()
    return data[: 12 + int.from_bytes(data[8:12])]


def _take_voters(path: Path, own: bytes) -> None:
    """Replace the first batch of a snapshot, so that it names the directory and the port of this node."""
    path.write_bytes(own + path.read_bytes()[len(_voters(path)) :])
