"""Partition directories for the tests of a start: files in memory, and the folder that a simulated start acts on."""

import struct
from collections.abc import Iterable, Mapping

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode, Settings
from kcheck.model.names import segment_prefix
from kcheck.startup.inputs import Context
from kcheck.startup.log_loader import LogLoader
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import Folder, contents_of
from tests.builders import BytesFiles, Made, batch_of, log, record

TRANSACTIONAL, CONTROL = 0x10, 0x20
ABORT, COMMIT = 0, 1


def name(base: int, ending: str = ".log") -> str:
    """Return the name of a file of a segment."""
    return segment_prefix(base) + ending


def folder_of(files: Mapping[str, bytes]) -> Folder:
    """Return a directory with these files, in memory."""
    disk = BytesFiles(files)
    return Folder(disk, contents_of(disk.entries().sizes))


def folder_of_logs(logs: Mapping[int, Iterable[Made]], files: Mapping[str, bytes] | None = None) -> Folder:
    """Return a directory with segments by base offset, each with an empty index, and other files."""
    data = {name(base): log(batches) for base, batches in logs.items()}
    return folder_of({**data, **{name(base, ".index"): b"" for base in logs}, **(files or {})})


def context_of(kafka: str = "4.3", mode: Mode = Mode.KRAFT, settings: Settings = Settings()) -> Context:  # noqa: B008 - an immutable value
    """Return a broker that starts."""
    return Context(settings=settings, mode=mode, release=release(kafka))


def segment_of(batches: Iterable[Made], kafka: str = "4.3", **settings: int) -> Segment:
    """Return a segment of base offset 0, or of the setting `base`."""
    base = settings.pop("base", 0)
    folder = folder_of({name(base): log(batches)})
    return Segment(folder, base, context_of(kafka, settings=Settings()._replace(**settings)))


def loader_of(folder: Folder, kafka: str = "4.3", *, clean: bool = False, **inputs: int) -> LogLoader:
    """Return the loader of a directory."""
    return LogLoader(
        folder,
        context_of(kafka),
        clean=clean,
        log_start=inputs.get("log_start"),
        recovery_point=inputs.get("recovery_point", 0),
        deleted=bool(inputs.get("deleted", 0)),
    )


def data_batch(base: int, count: int = 1, *, producer: int = 7, epoch: int = 0, transactional: bool = True) -> Made:
    """Return a batch of a producer."""
    records = [record(number) for number in range(count)]
    attributes = TRANSACTIONAL if transactional else 0
    return batch_of(base, *records, producer=(producer, epoch), sequence=base, attributes=attributes)


def marker(
    base: int,
    kind: int = COMMIT,
    *,
    producer: int = 7,
    epoch: int = 0,
    key: bytes | None = b"",
    value: bytes | None = b"",
) -> Made:
    """Return the control batch that ends a transaction; an empty key or value stands for the one a broker writes."""
    key = struct.pack(">hh", 0, kind) if key == b"" else key
    value = struct.pack(">hi", 0, 0) if value == b"" else value
    ends = record(key=key, value=value)
    return batch_of(base, ends, producer=(producer, epoch), attributes=TRANSACTIONAL | CONTROL)
