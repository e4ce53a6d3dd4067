"""Damages by files of the wrong place, and by fields that no checksum covers."""

import shutil
import struct
from pathlib import Path

from tests.oracle.incidents.damages.checkpoints import EPOCHS, HIGH_WATERMARK
from tests.oracle.incidents.damages.site import METADATA, Site, batches, lines_of, logs, place, write_lines


def _swap(one: Path, two: Path) -> str:
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    return f"{place(one)} and {place(two)} have each other's content"


def swap_checkpoints(site: Site) -> str | None:
    """Exchange the checkpoints of two log dirs."""
    if len(site.log_dirs) < 2:
        return None
    one, two = site.log_dirs[:2]
    names = [path.name for path in sorted(one.glob("*-offset-checkpoint")) if (two / path.name).is_file()]
    return "; ".join(_swap(one / name, two / name) for name in names) or None


def swap_meta(site: Site) -> str | None:
    """Exchange meta.properties of two log dirs, or of two brokers."""
    metas = [path / "meta.properties" for path in site.log_dirs]
    others = [path for broker in site.others for path in sorted(broker.glob("data*/meta.properties"))]
    if len(metas) > 1 and (not others or site.random.random() < 0.5):
        others = metas[1:]
    return _swap(metas[0], site.random.choice(others)) if others else None


def epochs_of_replica(site: Site) -> str | None:
    """Put the leader-epoch-checkpoint of another replica in the place of the target's, where they differ."""
    pairs = [
        (theirs / EPOCHS, mine / EPOCHS)
        for mine in site.partitions()
        for other in site.others
        for theirs in site.partitions(other)
        if theirs.name == mine.name and lines_of(theirs / EPOCHS) not in ([], lines_of(mine / EPOCHS))
    ]
    if not pairs:
        return None
    source, mine = site.random.choice(pairs)
    shutil.copyfile(source, mine)
    return f"{place(mine)} is that of {place(source)}"


def lower_high_watermark(site: Site) -> str | None:
    """Set a high watermark to 0, or to the middle of its log."""
    log_dir = site.log_dir()
    lines = lines_of(log_dir / HIGH_WATERMARK) if log_dir else []
    if not lines or log_dir is None:
        return None
    number = site.random.randrange(len(lines))
    words = lines[number].split()
    lines[number] = " ".join([*words[:2], str(int(words[2]) // site.random.choice((2, 1 << 30)))])
    write_lines(log_dir / HIGH_WATERMARK, lines)
    return f"{place(log_dir / HIGH_WATERMARK)} has the line {lines[number]}"


def shorten_indexes(site: Site) -> str | None:
    """Leave the first half of the entries of each index."""
    found = [path for at in site.partitions() for path in sorted(at.glob("*.index")) if path.stat().st_size >= 16]
    if not found:
        return None
    index = site.random.choice(found)
    for path, size in ((index, 8), (index.with_suffix(".timeindex"), 12)):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // size // 2 * size])
    return f"{place(index)} and its time index have half of their entries"


def _header(site: Site, at: int, code: str, change: int) -> str | None:
    """Add to a field of the header of a batch that no checksum covers."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    data = bytearray(log.read_bytes())
    begin = site.random.choice(batches(bytes(data))[:-1] or [0]) + at
    (value,) = struct.unpack_from(code, data, begin)
    struct.pack_into(code, data, begin, value + change)
    log.write_bytes(data)
    return f"byte {begin} of {place(log)}: {value + change}, not {value}"


def other_base_offset(site: Site) -> str | None:
    """Change the base offset of a batch."""
    return _header(site, 0, ">q", site.random.choice((1, -1, 40, -7)))


def other_leader_epoch(site: Site) -> str | None:
    """Change the leader epoch of a batch."""
    return _header(site, 12, ">i", site.random.choice((1, 5, -1)))


def foreign_segment(site: Site) -> str | None:
    """Put a segment of another partition in the place of one, where both begin at 0."""
    found = [path for path in site.partitions() if int(logs(path)[0].stem) == 0]
    if len(found) < 2:
        return None
    one, two = site.random.sample(found, 2)
    shutil.copyfile(logs(one)[0], logs(two)[0])
    return f"{place(logs(one)[0])} copied over {place(logs(two)[0])}"


def swap_segments(site: Site) -> str | None:
    """Let two segments of a log exchange their content."""
    found = [path for path in site.partitions() if len(logs(path)) > 1]
    return _swap(*site.random.sample(logs(site.random.choice(found)), 2)) if found else None


def remove_transaction_indexes(site: Site) -> str | None:
    """Remove the transaction indexes of the target, or fill them with zeros."""
    found = [path for at in site.partitions() for path in sorted(at.glob("*.txnindex"))]
    zeros = site.random.random() < 0.5
    for path in found:
        path.write_bytes(bytes(path.stat().st_size)) if zeros else path.unlink()
    return f"{len(found)} transaction indexes are {'zeros' if zeros else 'removed'}" if found else None


def other_election(site: Site) -> str | None:
    """Write another epoch, another leader or other voters into the quorum-state of the target."""
    path = site.log_dirs[0] / METADATA / "quorum-state" if site.log_dirs else None
    if path is None or not path.exists():
        return None
    text = path.read_text()
    old, new = site.random.choice((
        ('"leaderEpoch":', '"leaderEpoch":9'), ('"leaderId":', '"leaderId":7'), ('"voterId":', '"voterId":7'),
    ))  # fmt: skip
    if old not in text:
        return None
    path.write_text(text.replace(old, new))
    return f"{place(path)} is {path.read_text()}"


def remove_metadata_snapshots(site: Site) -> str | None:
    """Remove the snapshots of the target's metadata log and bootstrap.checkpoint."""
    if site.shape.mode == "zk" or not site.log_dirs:
        return None
    found = [*site.log_dirs[0].glob("*.checkpoint"), *(site.log_dirs[0] / METADATA).glob("*.checkpoint")]
    for path in found:
        path.unlink()
    return f"{', '.join(map(place, sorted(found)))} removed" if found else None


def dangling_link(site: Site) -> str | None:
    """Let a partition directory be a link to a place that is not mounted."""
    directory = site.partition()
    if directory is None:
        return None
    shutil.rmtree(directory)
    directory.symlink_to("not-mounted")
    return f"{place(directory)} links to a place that is not there"
