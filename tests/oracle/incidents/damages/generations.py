"""Damages by what is whole, but of another time or another cluster: every file is right where it came from."""

import shutil
from pathlib import Path

from tests.oracle.incidents.damages.checkpoints import HIGH_WATERMARK, LOG_START, RECOVERY
from tests.oracle.incidents.damages.site import (
    METADATA,
    Site,
    lines_of,
    logs,
    place,
    property_of,
    set_property,
    size,
    write_lines,
)

LINES = (RECOVERY, LOG_START, HIGH_WATERMARK)


def _put(source: Path, target: Path) -> None:
    """Put a directory in the place of another, which may be missing."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def _lines_too(source: Path, target: Path) -> None:
    """Give a partition directory the lines that the checkpoints of its source have."""
    topic, _, partition = target.name.rpartition("-")
    key = f"{topic} {partition} "
    for name in LINES:
        theirs = [line for line in lines_of(source.parent / name) if line.startswith(key)]
        mine = [line for line in lines_of(target.parent / name) if not line.startswith(key)]
        write_lines(target.parent / name, [*mine, *theirs])


def old_generation(site: Site) -> str | None:
    """Put a directory back whose topic was deleted and created again since."""
    pairs = [
        (old, new)
        for new in sorted(site.folder.glob("broker-*/data*/again-*"))
        for old in sorted((site.base / "old").glob(f"broker-*/data*/{new.name}"))
        if size(old)
    ]
    pairs = [pair for pair in pairs if pair[1].parent in site.log_dirs]
    if not pairs:
        return None
    old, new = site.random.choice(pairs)
    _put(old, new)
    if lines := site.random.random() < 0.5:
        _lines_too(old, new)
    return (
        f"{place(new)} is that of the topic's older generation, {'with' if lines else 'without'} its checkpoint lines"
    )


def old_partition_with_lines(site: Site) -> str | None:
    """Put an older copy of a partition directory back together with its lines in the checkpoints."""
    pairs = [(site.base / "old" / place(path), path) for path in site.partitions()]
    pairs = [(old, now) for old, now in pairs if size(old) and size(old) < size(now)]
    pairs = [(old, now) for old, now in pairs if list(site.folder.glob(f"broker-*/data*/{now.name}")) != [now]]
    if not pairs:
        return None
    old, now = site.random.choice(pairs)
    _put(old, now)
    _lines_too(old, now)
    return f"{place(now)} is an older copy, and so are its checkpoint lines"


def _elsewhere(site: Site) -> list[Path]:
    """Return the folders of other clusters that were made in the same run of the lab."""
    return sorted(
        path / "now" for path in site.base.parent.glob("base-*") if path != site.base and (path / "now").is_dir()
    )


def partition_of_other_cluster(site: Site) -> str | None:
    """Put the directory of another cluster's partition of the same name in the place of the target's."""
    pairs = [
        (theirs, mine)
        for folder in _elsewhere(site)
        for mine in site.partitions()
        for theirs in sorted(folder.glob(f"broker-*/data*/{mine.name}"))
        if size(theirs)
    ]
    if not pairs:
        return None
    theirs, mine = site.random.choice(pairs)
    id_of_topic = mine / "partition.metadata"
    keep = id_of_topic.read_bytes() if id_of_topic.exists() and site.random.random() < 0.5 else None
    _put(theirs, mine)
    if keep is not None:
        id_of_topic.write_bytes(keep)
    return f"{place(mine)} is another cluster's{'' if keep is None else ', but for its topic id'}"


def disks_of_other_cluster(site: Site) -> str | None:
    """Give the target the disks of another cluster's broker, with the ids of its own in meta.properties."""
    found = [
        path for folder in _elsewhere(site)
        for path in [folder / site.broker.name]
        if {each.name for each in path.glob("data*")} == {each.name for each in site.log_dirs}
    ]  # fmt: skip
    if not found:
        return None
    source = site.random.choice(found)
    for log_dir in site.log_dirs:
        meta = (log_dir / "meta.properties").read_bytes() if (log_dir / "meta.properties").exists() else None
        _put(source / log_dir.name, log_dir)
        if meta is not None:
            (log_dir / "meta.properties").write_bytes(meta)
    return f"the disks of {site.broker.name} are another cluster's, but for meta.properties"


def controller_of_other_cluster(site: Site) -> str | None:
    """Give the controller the metadata log of another cluster, and keep its meta.properties."""
    found = [folder / "controller" / "data1" / METADATA for folder in _elsewhere(site)]
    found = [path for path in found if path.is_dir()]
    if not found or site.metadata is None:
        return None
    _put(site.random.choice(found), site.metadata / METADATA)
    return f"{place(site.metadata / METADATA)} is another cluster's"


def other_cluster_of_controller(site: Site) -> str | None:
    """Write another cluster.id into the meta.properties of the controller."""
    path = site.metadata / "meta.properties" if site.metadata else None
    if path is None or not path.exists():
        return None
    set_property(path, "cluster.id", "aaaaaaaaQaaaaaaaaaaaaa")
    return f"{place(path)} names another cluster"


def old_metadata(site: Site) -> str | None:
    """Put an older copy of the target's metadata log back, and leave its partitions."""
    source = site.base / "old" / site.broker.name / "data1" / METADATA
    target = site.broker / "data1" / METADATA
    if not source.is_dir() or not target.is_dir():
        return None
    _put(source, target)
    return f"{place(target)} is an older copy"


def metadata_of_controller(site: Site) -> str | None:
    """Give the target the metadata log of the controller, with its quorum-state."""
    target = site.broker / "data1" / METADATA
    if site.metadata is None or not target.is_dir() or not (site.metadata / METADATA).is_dir():
        return None
    _put(site.metadata / METADATA, target)
    return f"{place(target)} is a copy of the controller's"


def checkpoints_of_other(site: Site) -> str | None:
    """Put the checkpoints of another broker in the place of the target's."""
    found = [path / site.log_dirs[0].name for path in site.others] if site.log_dirs else []
    found = [path for path in found if lines_of(path / HIGH_WATERMARK)]
    if not found:
        return None
    source = site.random.choice(found)
    for path in source.glob("*-offset-checkpoint"):
        if path.is_file() and not (site.log_dirs[0] / path.name).is_dir():
            shutil.copyfile(path, site.log_dirs[0] / path.name)
    return f"the checkpoints of {place(site.log_dirs[0])} are those of {place(source)}"


def swap_one_disk(site: Site) -> str | None:
    """Let two brokers exchange one log dir of several."""
    others = [path / "data2" for path in site.others if (path / "data2").is_dir()]
    mine = site.broker / "data2"
    if not others or not mine.is_dir():
        return None
    theirs, aside = site.random.choice(others), site.folder / "aside"
    theirs.rename(aside)
    mine.rename(theirs)
    aside.rename(mine)
    return f"{place(mine)} and {place(theirs)} are swapped"


def swap_log_dirs(site: Site) -> str | None:
    """Mount two log dirs of the target in each other's place."""
    if len(site.log_dirs) < 2:
        return None
    one, two = site.log_dirs[:2]
    aside = one.with_name("aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)
    return f"{place(one)} and {place(two)} are swapped"


def move_metadata(site: Site) -> str | None:
    """Move or copy the metadata log into the other log dir; the settings may name its new place."""
    source = site.broker / "data1" / METADATA
    if len(site.log_dirs) < 2 or not source.is_dir():
        return None
    target = site.log_dirs[1] / METADATA
    twice, named = site.random.random() < 0.4, site.random.random() < 0.5
    shutil.copytree(source, target)
    if not twice:
        shutil.rmtree(source)
    if named:
        set_property(site.broker / "server.properties", "metadata.log.dir", place(target.parent))
    how = "copied" if twice else "moved"
    return f"{place(source)} {how} to {place(target)}, metadata.log.dir {'names it' if named else 'is not set'}"


def other_meta_version(site: Site) -> str | None:
    """Write a meta.properties of the other version: both ids, or the id of the other mode alone."""
    found = [path / "meta.properties" for path in site.log_dirs if (path / "meta.properties").exists()]
    if not found:
        return None
    path = site.random.choice(found)
    mine, theirs = ("broker.id", "node.id") if site.shape.mode == "zk" else ("node.id", "broker.id")
    number = property_of(path, mine)
    if number is None:
        return None
    set_property(path, "version", "1" if site.shape.mode == "zk" else "0")
    set_property(path, theirs, number)
    if alone := site.random.random() < 0.5:
        set_property(path, mine, None)
    return f"{place(path)} is of the other version{', without' if alone else ', with'} {mine}"


def fewer_voters(site: Site) -> str | None:
    """Leave the target alone, or two, in controller.quorum.voters: in its own settings or in all."""
    path = site.broker / "server.properties"
    voters = (property_of(path, "controller.quorum.voters") or "").split(",")
    if len(voters) < 3:
        return None
    first = [one for one in voters if one.startswith(f"{site.number}@")]
    left = ",".join([*first, *[one for one in voters if one not in first][: site.random.choice((0, 0, 1))]])
    everywhere = site.random.random() < 0.5
    for each in sorted(site.folder.glob("*/server.properties")) if everywhere else [path]:
        set_property(each, "controller.quorum.voters", left)
    return (
        f"controller.quorum.voters is {len(left.split(','))} of {len(voters)} {'everywhere' if everywhere else 'here'}"
    )


def quorum_state_of_other(site: Site) -> str | None:
    """Put the quorum-state of another node in the place of the target's."""
    mine = site.broker / "data1" / METADATA / "quorum-state"
    found = sorted(site.folder.glob(f"*/data1/{METADATA}/quorum-state"))
    found = [path for path in found if mine.exists() and path.read_text() != mine.read_text()]
    if not found:
        return None
    source = site.random.choice(found)
    shutil.copyfile(source, mine)
    return f"{place(mine)} is that of {place(source)}"


def spoil_metadata_snapshot(site: Site) -> str | None:
    """Cut, empty or flip the newest snapshot of the metadata, of the target or of the controller."""
    log_dirs = [path for path in {site.broker / "data1", site.metadata} if path is not None]
    found = [path for log_dir in sorted(log_dirs) for path in sorted((log_dir / METADATA).glob("*.checkpoint"))[-1:]]
    if not found:
        return None
    path = site.random.choice(found)
    data = bytearray(path.read_bytes())
    if len(data) < 2:
        return None
    match site.random.randrange(3):
        case 0:
            del data[len(data) - site.random.randrange(1, len(data)) :]
        case 1:
            data[site.random.randrange(len(data))] ^= 1
        case _:
            data = bytearray()
    path.write_bytes(data)
    return f"{place(path)} is spoilt, {len(data)} bytes"


def later_metadata_log(site: Site) -> str | None:
    """Remove the segments of a metadata log, of the target or the controller, and leave its snapshots."""
    log_dirs = [path for path in {site.broker / "data1", site.metadata} if path is not None]
    found = [log_dir / METADATA for log_dir in sorted(log_dirs) if logs(log_dir / METADATA)]
    if not found:
        return None
    directory = site.random.choice(found)
    for path in logs(directory):
        path.unlink()
    return f"{place(directory)} has lost its segments, its snapshots are left"
