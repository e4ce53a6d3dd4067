"""Damages that restores and moves make: some of the files, at another place, under other names."""

import shutil

from tests.oracle.incidents.damages.site import METADATA, Site, logs, place, property_of, set_property

META = "meta.properties"


def rsync_topic(site: Site) -> str | None:
    """Copy older files of a topic over the newer ones, and delete none, as rsync without --delete does."""
    names = {path.name.rpartition("-")[0] for path in site.partitions()}
    found = [
        (old, new)
        for new in site.partitions()
        for old in sorted((site.base / "old" / site.broker.name).glob(f"*/{new.name}"))
        if old.name.rpartition("-")[0] in names
    ]
    if not found:
        return None
    topic = site.random.choice(found)[0].name.rpartition("-")[0]
    some = [(old, new) for old, new in found if old.name.rpartition("-")[0] == topic]
    for old, new in some:
        shutil.copytree(old, new, dirs_exist_ok=True)
    return f"older files copied over those of {', '.join(place(new) for _, new in some)}"


def stopped_restore(site: Site) -> str | None:
    """Stop a restore of a log dir in its midst: what comes later by its name is missing, one file is half there."""
    log_dir = site.log_dir()
    found = [path for path in site.partitions() if path.parent == log_dir and path.name != METADATA]
    if log_dir is None or len(found) < 2:
        return None
    last, *missing = found[site.random.randrange(len(found) - 1) :]
    for path in missing:
        shutil.rmtree(path)
    log = logs(last)[-1]
    data = log.read_bytes()
    part = log.with_name(f".{log.name}.Xa19bQ") if site.random.random() < 0.5 else log
    log.unlink()
    part.write_bytes(data[: len(data) // 2])
    return f"the restore of {place(log_dir)} ended in {place(part)}: {len(missing)} directories are missing"


def without_empty_files(site: Site) -> str | None:
    """Restore the disks from a bucket, which keeps neither empty files nor empty directories."""
    found = [path for log_dir in site.log_dirs for path in sorted(log_dir.rglob("*"))]
    empty = [path for path in found if path.is_file() and not path.stat().st_size]
    for path in empty:
        path.unlink()
    for path in reversed(found):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    return f"{len(empty)} empty files of {site.broker.name} are gone, and directories without any" if empty else None


def segments_alone(site: Site) -> str | None:
    """Restore a backup that holds nothing but .log files, and meta.properties."""
    found = [path for at in site.partitions() for path in sorted(at.iterdir()) if path.suffix != ".log"]
    for path in found:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (path for log_dir in site.log_dirs for path in log_dir.iterdir()):
        if path.is_file() and path.name != META:
            path.unlink()
    return f"{site.broker.name} has only .log files and {META}"


def deeper_mount(site: Site) -> str | None:
    """Put all of a log dir one level deeper, as `cp -r` and a wrong mount point do."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    aside = log_dir.with_name("aside")
    log_dir.rename(aside)
    inner = log_dir / site.random.choice((log_dir.name, "kafka-logs"))
    log_dir.mkdir()
    aside.rename(inner)
    if kept := site.random.random() < 0.5:
        shutil.copy(inner / META, log_dir / META)
    return f"all of {place(log_dir)} is in {place(inner)}{f', {META} in both' * kept}"


def settings_of_other(site: Site) -> str | None:
    """Copy the server.properties of another broker; the ids or the log dirs may be corrected."""
    if not site.others:
        return None
    source, own = site.random.choice(site.others) / "server.properties", site.broker / "server.properties"
    names = site.random.choice(((), ("log.dirs",), ("log.dirs", "node.id", "broker.id", "listeners")))
    values = {name: property_of(own, name) for name in names}
    shutil.copyfile(source, own)
    for name, value in values.items():
        set_property(own, name, value)
    return f"{place(own)} is that of {source.parent.name}{' but for ' * bool(names)}{', '.join(names)}"


def copied_number(site: Site) -> str | None:
    """Copy a partition directory to a partition number that its topic does not have."""
    directory = site.partition()
    if directory is None:
        return None
    target = directory.with_name(f"{directory.name.rpartition('-')[0]}-{site.random.choice((7, 50, 99))}")
    if target.exists():
        return None
    shutil.copytree(directory, target)
    return f"{place(directory)} copied to {target.name}"


def other_case(site: Site) -> str | None:
    """Write names in capitals, as a file system that ignores case gives them back."""
    directory = site.partition()
    if directory is None:
        return None
    if site.random.random() < 0.5:
        target = directory.with_name(directory.name.upper())
        directory.rename(target)
        return f"{place(directory)} has the name {target.name}"
    ending = site.random.choice((".log", ".index", ".snapshot"))
    found = sorted(directory.glob(f"*{ending}"))
    for path in found:
        path.rename(path.with_suffix(ending.upper()))
    return f"the {ending} files of {place(directory)} are in capitals" if found else None


def adopted_partitions(site: Site) -> str | None:
    """Move what another broker has into the log dir of the target, where it has none of that name itself."""
    target = site.log_dir()
    if target is None or not site.others:
        return None
    source = site.random.choice(site.others)
    own = {path.name for log_dir in site.log_dirs for path in log_dir.iterdir()}
    found = [path for path in site.partitions(source) if path.name not in own]
    copied = site.random.random() < 0.5
    for path in found:
        shutil.copytree(path, target / path.name) if copied else shutil.move(path, target / path.name)
    what = f"{', '.join(path.name for path in found)} of {source.name}"
    return f"{what} {'copied' if copied else 'moved'} into {place(target)}" if found else None


def copied_log_dir(site: Site) -> str | None:
    """Copy a log dir to a new disk, and name both in log.dirs."""
    settings, log_dir = site.broker / "server.properties", site.log_dir()
    value = property_of(settings, "log.dirs")
    if log_dir is None or value is None:
        return None
    target = site.broker / "data9"
    how = site.random.choice(("all", "no metadata log", "a partition"))
    shutil.copytree(log_dir, target)
    for path in sorted(target.iterdir()):
        if path.is_dir() and (how == "a partition" or (how == "no metadata log" and path.name == METADATA)):
            shutil.rmtree(path)
    if how == "a partition":
        found = [path for path in site.partitions() if path.parent == log_dir]
        for path in found[:1]:
            shutil.copytree(path, target / path.name)
    set_property(settings, "log.dirs", f"{value},{place(target)}")
    return f"{place(log_dir)} copied to {place(target)} ({how}), which log.dirs names as well"


def oldest_removed(site: Site) -> str | None:
    """Remove all but the last segment of every partition of the target, as `find -mtime -delete` does."""
    gone = 0
    for directory in site.partitions():
        for log in logs(directory)[:-1]:
            for path in sorted(directory.glob(f"{log.stem}.*")):
                path.unlink()
            gone += 1
    return f"{gone} segments of {site.broker.name} removed, all but the last ones" if gone else None


def home_of_other(site: Site) -> str | None:
    """Mount the disk of another broker at a log dir of the target, with the meta.properties of the target."""
    log_dir = site.log_dir()
    found = [path for other in site.others for path in sorted(other.glob("data*"))]
    if log_dir is None or not found:
        return None
    source, meta = site.random.choice(found), (log_dir / META).read_bytes()
    keeps = [path for path in log_dir.iterdir() if path.name == METADATA and site.random.random() < 0.5]
    for path in log_dir.iterdir():
        if path not in keeps:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in source.iterdir():
        if path.name not in (META, METADATA):
            shutil.copytree(path, log_dir / path.name) if path.is_dir() else shutil.copy(path, log_dir / path.name)
    (log_dir / META).write_bytes(meta)
    return f"{place(log_dir)} is a copy of {place(source)}, with its own {META}"
