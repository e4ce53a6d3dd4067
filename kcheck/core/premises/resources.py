"""Premises about the host (writable mounts, bytes, maps, and open files)."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.model.premises import JudgedPremise, PremiseEvidence

_ROOT = 0
_ROOM_MIN = 1 << 20
"""With less the first records, or the metadata log, fill the disk within minutes."""
_MAPS_PER_SEGMENT = 2
"""A broker maps the offset index and the time index of a segment."""
_FILES_BESIDE = 100
"""A broker has about as many files open besides its segments (jars, sockets, logs)."""


def is_writable(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for log dirs that are mounted read-only; in a container kcheck's view may differ from the broker's.

    Another premise covers the log dir of the metadata log, and an only log dir. Without them the broker does not start.
    """
    seen = [(log_dir.path, log_dir.volume) for log_dir in facts.log_dirs if log_dir.volume is not None]
    decisive = [row.path for row in facts.log_dirs if row.has_metadata_log or len(facts.log_dirs) == 1]
    seen = [(path, volume) for path, volume in seen if (path in decisive) is premise.ends_start]
    for path, volume in seen:
        if not volume.is_read_only:
            continue
        evidence = PremiseEvidence(volume.mount_point, "mounted read-only here")
        sentence = f"{path} is mounted read-only here, mount point {volume.mount_point}"
        if volume.is_seen_in_container:
            yield not_seen(premise, facts, f"{sentence}; the broker may see another mount", None, evidence)
        else:
            yield refuted(premise, facts, sentence, evidence, log_dir=path)
    if seen and not any(volume.is_read_only for _, volume in seen):
        yield proven(premise, facts, *(PremiseEvidence(path, "can be written") for path, _ in seen))


def written_at_least(start: LogDirPrediction) -> int:
    """Return how many bytes a broker certainly adds to a log dir when it starts.

    Indexes grow by holes, which take no space.
    """
    size = 0
    for partition in start.partitions:
        changes = partition.changes
        if partition.lost is None and not changes.removed and not changes.unknown:
            size += sum(partition.after[name].filled for name in changes.created if name in partition.after)
    return size


def has_room(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the free bytes of each file system with the bytes that the next start writes at least."""
    needed, free = dict[str, int](), dict[str, int]()
    for log_dir in facts.log_dirs:
        volume = log_dir.volume
        if volume is None:
            continue
        is_root = log_dir.rights is not None and log_dir.rights.user.user == _ROOT
        free[volume.mount_point] = volume.free_for_root if is_root else volume.free
        # Checkpoints are written anew and renamed, so each log dir needs one more block.
        needed[volume.mount_point] = needed.get(volume.mount_point, 0) + volume.block_size + log_dir.written
    for place, size in needed.items():
        if free[place] < size:
            sentence = f"{free[place]:,} bytes are free in {place}, the broker writes at least {size:,}"
            yield refuted(premise, facts, sentence, PremiseEvidence(place, f"{free[place]} bytes free"))
        elif free[place] < _ROOM_MIN:
            sentence = (
                f"only {free[place]:,} bytes are free in {place}: the broker continues to write after it has started"
            )
            provide = f"a disk with more room; or --allow {premise.id} if that is enough"
            yield not_seen(premise, facts, sentence, provide, PremiseEvidence(place, f"{free[place]} bytes free"))
    if needed and all(free[place] >= max(size, _ROOM_MIN) for place, size in needed.items()):
        yield proven(
            premise, facts, *(PremiseEvidence(place, f"room for {size} bytes") for place, size in needed.items())
        )


def has_maps(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare two maps a segment with vm.max_map_count of this host."""
    counts = [log_dir.rights.segment_count for log_dir in facts.log_dirs if log_dir.rights is not None]
    if facts.limits.maps is None or not counts:
        return
    segments, limit = sum(counts), facts.limits.maps
    if segments * _MAPS_PER_SEGMENT <= limit:
        yield proven(premise, facts, PremiseEvidence("/proc/sys/vm/max_map_count", f"enough for {segments} segments"))
        return
    sentence = (
        f"{segments:,} segments need up to {segments * _MAPS_PER_SEGMENT:,} maps, but vm.max_map_count is {limit:,}"
        " here; raise it with sysctl"
    )
    yield refuted(premise, facts, sentence, PremiseEvidence("/proc/sys/vm/max_map_count", str(limit)))


def has_files(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the count of segments with the limit of this session. The broker's service may have a higher limit."""
    counts = [log_dir.rights.segment_count for log_dir in facts.log_dirs if log_dir.rights is not None]
    if facts.limits.open_files is None or not counts:
        return
    segments, limit = sum(counts), facts.limits.open_files
    if segments + _FILES_BESIDE <= limit:
        yield proven(premise, facts, PremiseEvidence("ulimit -Hn", f"enough for {segments} segments"))
        return
    sentence = (
        f"{segments:,} segments and about {_FILES_BESIDE} other files are to be open, but ulimit -Hn is {limit:,} here"
    )
    provide = f"--allow {premise.id} if LimitNOFILE of the broker's service is higher"
    yield not_seen(premise, facts, sentence, provide, PremiseEvidence("ulimit -Hn", str(limit)))


TABLE = (
    Premise(
        "P402", PremiseKind.RESOURCES, "No log dir is mounted read-only.",
        "statvfs shows no ST_RDONLY for any log dir.",
        "A read-only mount. Not seen in a container.",
        "The log dir goes offline.",
        "Mount it read-write, after a check of the disk.",
        "LogManager.lockLogDirs 4.3.1", is_writable, ends_start=False, takes_offline=True,
    ),
    Premise(
        "P403", PremiseKind.RESOURCES, "The disks have room for the files that the broker writes when it starts.",
        "The file system of each log dir has at least the bytes that recovery and the checkpoints take.",
        "Fewer bytes are free than the broker writes when it starts. Less than 1 MiB: not seen.",
        "No space left on device, so the log dir goes offline.",
        "Make room (kcheck help disk-full).",
        "CheckpointFile.write, LogSegment.recover", has_room,
    ),
    Premise(
        "P404", PremiseKind.RESOURCES, "The host allows enough maps.",
        "vm.max_map_count is at least twice the count of segments.",
        "A lower limit on this host.",
        "Map failed. A log dir goes offline as soon as an index is mapped beyond the limit.",
        "Raise vm.max_map_count by sysctl.",
        "AbstractIndex.createMappedBuffer, LazyIndex 2.3 to 4.3.1", has_maps, ends_start=False,
        takes_offline=True,
    ),
    Premise(
        "P843", PremiseKind.RESOURCES, "The broker may open all of its segments.",
        "The hard limit of this session (ulimit -Hn) is above the count of segments, by 100 or more.",
        "Nothing. Not seen: a lower limit in this session, because the service of the broker may have another.",
        "FileNotFoundException: Too many open files. The log dir goes offline, or the process ends.",
        "Raise LimitNOFILE of the service, or nofile in limits.conf.",
        "LogLoader.load, FileRecords.open 4.3.1", has_files,
    ),
    Premise(
        "P405", PremiseKind.RESOURCES, "The log dir with the metadata log, or the only one, is not mounted read-only.",
        "statvfs shows no ST_RDONLY for it.",
        "A read-only mount. Not seen in a container.",
        "The process ends: shutdown broker because the metadata log dir has failed, or all log dirs have.",
        "Mount it read-write, after a check of the disk.",
        "LogManager.lockLogDirs, LogDirFailureChannel 4.3.1", is_writable,
    ),
)  # fmt: skip
