"""A scan of a fleet is never greener than `kcheck PATH` of the same broker."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.premises.premise import PremiseKind
from kcheck.core.premises.table import BY_ID
from kcheck.model.finding import Severity
from tests.cli.command import kcheck
from tests.fleet.scan.test_local_engine import tables
from tests.oracle.incidents import kept

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
_FIXTURES = Path(__file__).parents[3] / "fixtures"
_FOLDERS = sorted(path for path in (_FIXTURES / "clusters").glob("*/*/broker-*"))
_OF_HOST = (PremiseKind.RIGHTS, PremiseKind.RESOURCES)
"""A scan judges nothing of the host."""
_READ_RECORDS = ("KC601", "KC602", "P801")
"""A scan reads no internal topic, and keys of records at `--depth records` alone."""


def _worst(findings: Iterable[Mapping[str, Any]]) -> dict[tuple[object, ...], int]:
    """Return the rank of each finding, by its rule or premise and its place."""
    ranks: dict[tuple[object, ...], int] = {}
    for row in findings:
        data = json.loads(row["data"]) if isinstance(row["data"], str) else row["data"] or {}
        key = (row["id"], data.get("premise"), row["log_dir"], row["dir"], row["file"])
        ranks[key] = max(ranks.get(key, 0), Severity(row["severity"]).rank)
    return ranks


def _greener(folder: Path, out: Path) -> Iterator[tuple[object, ...]]:
    """Yield what `kcheck PATH` says of a broker, and a scan of it does not."""
    answer = json.loads(kcheck(folder, "--format", "json").out)
    kcheck("fleet", "scan", folder, "--output-dir", out, "--run", "r", "--depth", "headers", "--min-coverage", "0")
    scanned = _worst(tables(out / "run=r")["findings"])
    for key, rank in _worst(answer["findings"]).items():
        premise = BY_ID.get(str(key[1]))
        is_of_host = premise is not None and premise.kind in _OF_HOST
        if not is_of_host and {*key[:2]}.isdisjoint(_READ_RECORDS) and scanned.get(key, -1) < rank:
            yield key


@pytest.mark.sample(4)
@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda path: "-".join(path.parts[-2:]))
def test_a_scan_is_never_greener_than_path(folder: Path, tmp_path: Path) -> None:
    """Each finding of PATH is in the scan of the broker's folder, and as severe."""
    assert [] == [*_greener(folder, tmp_path)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("archive", sorted(kept.PLACE.glob("*.tar.xz")), ids=lambda path: path.name.split(".tar")[0])
def test_nor_of_a_broker_of_an_incident(archive: Path, tmp_path: Path) -> None:
    """Each has another damage; their settings list relative log dirs, as copies do."""
    folder = kept.unpacked(archive, tmp_path / "incident").folder
    for broker in sorted(folder.glob("broker-*")):
        assert [] == [*_greener(broker, tmp_path / broker.name)]
