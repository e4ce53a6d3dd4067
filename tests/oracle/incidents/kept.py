"""Incidents in `fixtures/incidents`: the disks as they were asked, and what real brokers did with them."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import NamedTuple

from tests.oracle.incidents import lab, workload
from tests.oracle.incidents.shapes import Shape
from tests.oracle.incidents.truth import Truth
from tests.oracle.scenes import FIXTURES

PLACE = FIXTURES / "incidents"
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


def paths() -> list[Path]:
    """Return what is kept."""
    return sorted(PLACE.glob("*.tar.xz"))


def keep(of: lab.Incident, base: Path, place: Path = PLACE) -> Path | None:
    """Pack an incident; None where files belong to another user: not everybody can unpack them."""
    if any(path.stat().st_uid for path in of.folder.rglob("*")):
        return None
    row = {name: value for name, value in lab.told(of).items() if name in TOLD}
    row |= {"shape": of.shape._asdict(), "truth": of.truth._asdict()}
    if of.kinds == ("nothing",):
        row["known"] = workload.known(base)._asdict()
    (of.folder / NEWS).write_text(json.dumps(row))
    place.mkdir(exist_ok=True)
    packed = place / f"{of.shape.release}-{of.shape.mode}-{'+'.join(of.kinds)}-{of.seed.split('-')[0]}.tar.xz"
    with tarfile.open(packed, "w:xz") as tar:
        tar.add(of.folder, "", filter=_nobodys)
    return packed


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpacked(packed: Path, folder: Path) -> Kept:
    """Unpack an incident into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(packed) as tar:
        tar.extractall(folder, filter="data")
    row = json.loads((folder / NEWS).read_text())
    (folder / NEWS).unlink()
    known = row.get("known")
    if known:
        known = workload.parsed(known)
    return Kept(folder, Shape(**row["shape"]), row["course"], Truth(**row["truth"]), known)
