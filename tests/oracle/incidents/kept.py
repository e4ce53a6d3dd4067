"""Incidents in `fixtures/incidents`: the disks as they were asked, and what real brokers did with them.

Those in its folder `recover` were brought back by the plan of `kcheck recover`.
"""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

from tests.oracle.incidents import lab, workload
from tests.oracle.incidents.recoveries import Outcome
from tests.oracle.incidents.shapes import Shape
from tests.oracle.incidents.truth import Truth
from tests.oracle.scenes import FIXTURES

PLACE = FIXTURES / "incidents"
RECOVERIES = PLACE / "recover"
NEWS = "incident.json"
TOLD = ("seed", "story", "kinds", "what", "course")


class Kept(NamedTuple):
    """An incident that is asked again, without brokers."""

    folder: Path
    shape: Shape
    course: str
    truth: Truth
    known: workload.Known | None
    """What was acknowledged, where nothing was damaged: another damage may begin here."""


def paths(place: Path = PLACE) -> list[Path]:
    """Return what is kept."""
    return sorted(place.glob("*.tar.xz"))


def keep(of: lab.Incident, base: Path, place: Path = PLACE) -> Path | None:
    """Pack an incident; None where files belong to another user: not everybody can unpack them."""
    if any(path.stat().st_uid for path in of.folder.rglob("*")):
        return None
    row = {name: value for name, value in lab.told(of).items() if name in TOLD}
    row |= {"shape": of.shape._asdict(), "truth": of.truth._asdict()}
    if of.kinds == ("nothing",):
        row["known"] = workload.known(base)._asdict()
    name = f"{of.shape.release}-{of.shape.mode}-{'+'.join(of.kinds)}-{of.seed.split('-')[0]}"
    return _packed(of.folder, row, place, name)


def keep_recovery(folder: Path, of: Shape, course: Outcome, place: Path, name: str) -> Path:
    """Pack an incident with what became of it by the plan of `recover`."""
    return _packed(folder, {"shape": of._asdict(), "course": course._asdict()}, place, name)


def _packed(folder: Path, row: dict[str, Any], place: Path, name: str) -> Path:
    (folder / NEWS).write_text(json.dumps(row))
    place.mkdir(exist_ok=True)
    packed = place / f"{name}.tar.xz"
    with tarfile.open(packed, "w:xz") as tar:
        tar.add(folder, "", filter=_nobodys)
    (folder / NEWS).unlink()
    return packed


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpacked(packed: Path, folder: Path) -> Kept:
    """Unpack an incident into a folder."""
    row = _told(packed, folder)
    known = row.get("known")
    if known:
        known = workload.parsed(known)
    return Kept(folder, Shape(**row["shape"]), row["course"], Truth(**row["truth"]), known)


def recovery(packed: Path, folder: Path) -> tuple[Shape, Outcome]:
    """Unpack an incident that was brought back into a folder."""
    row = _told(packed, folder)
    return Shape(**row["shape"]), Outcome(**row["course"])


def _told(packed: Path, folder: Path) -> dict[str, Any]:
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(packed) as tar:
        tar.extractall(folder, filter="data")
    row: dict[str, Any] = json.loads((folder / NEWS).read_text())
    (folder / NEWS).unlink()
    return row
