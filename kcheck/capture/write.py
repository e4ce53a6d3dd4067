"""Writes a bundle: a zip with its manifest first, the same bytes for the same directories."""

import errno
import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote

from kcheck import __version__
from kcheck.bundles.log import records_row
from kcheck.bundles.manifest import BATCHES, FORMAT, LOGS, MANIFEST
from kcheck.bundles.rows import MAGIC, Packer
from kcheck.capture.batch_rows import BatchMask, BatchRows, records_before_zstd
from kcheck.capture.contents import How, masked_lines, numbers_only
from kcheck.capture.group_offsets import masked_commits
from kcheck.capture.hashed_source import HashedSource
from kcheck.capture.logs import redacted
from kcheck.capture.metadata import rewritten
from kcheck.capture.pseudonyms import Pseudonyms
from kcheck.capture.remote_segments import masked_segments
from kcheck.capture.settings import kept_settings
from kcheck.capture.tree import CapturedPath
from kcheck.disk.bundle import BundleTree, SizesError
from kcheck.disk.local import LOCAL
from kcheck.disk.output import discard, is_log_dir, keep_outside
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.java import INT_MAX
from kcheck.model.names import BUNDLE_SUFFIX, parse_file
from kcheck.model.source import SMALL_FILE_SIZE_MAX, Source
from kcheck.model.unreadable import UnreadableError, too_large
from kcheck.verbs.explain_log import BrokerLog, messages_of
from kcheck.views.targets import is_configuration

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_CHUNK_SIZE = 1 << 20
_README = """This is a bundle of `kcheck capture` ({version}): evidence about Kafka log directories.

Open it:          kcheck check {name}        (also inspect, predict, dump, truncation, elect, repair)
Without kcheck:   it is a zip. manifest.json lists every file with its size, why it is in, and its sha256.
                  files/ holds small files as they were. A *.batches member holds the headers of record batches.

Not in it:        record keys, values and headers; host names; secrets; ACLs; values of settings outside of a list.
                  Letters of lines that a checkpoint does not have are x. The bytes of records are zeros.
In it:            names of topics{topics}, numbers of brokers, ids of clusters, offsets, sizes, times, producer ids.
"""


class CaptureProgress(NamedTuple):
    """The progress of a capture."""

    done: int
    """Bytes read."""
    name: str
    """The file that comes next."""


class Captured(NamedTuple):
    """The result of a capture."""

    manifest: dict[str, Any]
    """The manifest of the bundle."""
    size: int
    """The size of the bundle in bytes."""
    digest: str
    """Its SHA-256."""
    complete: bool
    """True if everything was read: False after ^C, or beyond the limit."""
    interrupted: bool
    """True if ^C ended the reading."""
    refused: tuple[str, ...]
    """The files that could not be read, with the error."""


class _Part(NamedTuple):
    """A member in the spool."""

    name: str
    """Its name in the zip."""
    at: int
    """Its beginning."""
    size: int
    """Its size in bytes."""
    stored: bool
    """True if it is compressed already."""


class _OutputError(Exception):
    """The disk of the bundle failed, not the disk of a read file."""


class _Spool:
    """The members until the manifest is known."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.size = stream, 0
        self.parts: list[_Part] = []

    def add(self, name: str, pieces: Iterable[bytes], *, stored: bool = False) -> str:
        """Append a member; return its SHA-256."""
        digest, begin = hashlib.sha256(), self.size
        for piece in pieces:
            try:
                self.stream.write(piece)
            except OSError as error:
                raise _OutputError(error) from error
            digest.update(piece)
            self.size += len(piece)
        self.parts.append(_Part(name, begin, self.size - begin, stored))
        return digest.hexdigest()

    def forget(self, size: int, parts: int) -> None:
        """Forget what was added since."""
        self.stream.seek(size)
        self.size = size
        del self.parts[parts:]


def check_output(output: str, paths: list[str]) -> None:
    """Raise UsageError for a bundle that no command would take, or that would be in a captured directory."""
    if not output.endswith(BUNDLE_SUFFIX):
        raise UsageError(f"-o {output}: the name of a bundle ends in {BUNDLE_SUFFIX}")
    keep_outside(paths, output, "is captured")
    around = os.path.dirname(os.path.realpath(output))
    if is_log_dir(around):
        raise UsageError(f"-o {output} is inside the log dir {around}; choose a file outside")


def capture(
    paths: Sequence[CapturedPath],
    out: str,
    *,
    decode: bool = True,
    digests: bool = True,
    limit: int | None = None,
    pseudonyms: Pseudonyms | None = None,
    logs: Sequence[str] = (),
    tell: Callable[[CaptureProgress], None] = lambda _: None,
) -> Captured:
    """Write a bundle of the parts that could be read until ^C; UsageError if it exists or cannot be written.

    `decode` judges records. `digests` keeps the SHA-256 of each file, which a plan needs. `limit` is the maximum of
    bytes of all members before compression. `logs` are logs of brokers.
    """
    if os.path.lexists(out):
        raise UsageError(f"{out} already exists")
    folder, interrupted = os.path.dirname(os.path.abspath(out)), False
    try:
        with tempfile.TemporaryFile(prefix="kcheck-", dir=folder) as stream:
            reader = _CaptureReader(_Spool(stream), decode=decode, digests=digests, limit=limit, pseudonyms=pseudonyms)
            done = 0
            entries: list[dict[str, Any]] = []
            log_rows: list[dict[str, Any]] = []
            try:
                log_rows += (reader.log(path, number) for number, path in enumerate(logs))
                for path in paths:
                    tell(CaptureProgress(done, path.name))
                    entries.append(reader.entry(path))
                    done += path.size
            except KeyboardInterrupt:
                interrupted = True
            entries += (reader.skipped(path, "capture was interrupted") for path in paths[len(entries) :])
            manifest: dict[str, Any] = {
                "format": FORMAT,
                "kcheck": __version__,
                "complete": not any("missing" in entry for entry in entries),
                "pseudonyms": pseudonyms is not None,
                "records_judged": decode,
                "entries": entries,
                **({"logs": log_rows} if logs else {}),
            }
            size, digest = _write_bundle(out, manifest, reader.spool, pseudonyms=pseudonyms is not None)
    except (OSError, _OutputError) as error:
        failed = error if isinstance(error, OSError) else error.__cause__
        assert isinstance(failed, OSError)
        raise UsageError(f"cannot write {out}: {word_for(failed)}") from error
    refused = tuple(
        f"{entry['path']}: {entry['error']['message']}" for entry in (*log_rows, *entries) if "error" in entry
    )
    return Captured(manifest, size, digest, bool(manifest["complete"]), interrupted, refused)


class _CaptureReader:
    """Reads what is captured, one path after another, into a spool."""

    def __init__(
        self, spool: _Spool, *, decode: bool, digests: bool, limit: int | None, pseudonyms: Pseudonyms | None
    ) -> None:
        self.spool, self._digests = spool, digests and pseudonyms is None
        self._decode, self._limit, self._pseudonyms = decode, limit, pseudonyms
        self._rename = None if pseudonyms is None else pseudonyms.topic

    def _row(self, path: CapturedPath) -> dict[str, Any]:
        name = path.name if self._pseudonyms is None else self._pseudonyms.path(path.name)
        row: dict[str, Any] = {"path": name, "type": path.kind, "size": path.size}
        row |= {"mode": f"{path.mode:04o}", "modified_ns": path.modified}
        if path.error is not None:
            row["error"] = {"errno": path.error[0], "message": path.error[1]}
        if path.content is not None:
            row["why"] = path.content.why
        return row

    def skipped(self, path: CapturedPath, why: str) -> dict[str, Any]:
        """Return the manifest's entry of a path that is not read."""
        row = self._row(path)
        if path.kind == "file" and path.error is None and path.size:
            row["missing"] = why
        return row

    def entry(self, path: CapturedPath) -> dict[str, Any]:
        """Return the manifest's entry of a path, after adding its members to the spool."""
        row, content = self._row(path), path.content
        if content is None or path.error is not None:
            return row
        if content.how is How.NAME:
            return row | self._digest_alone(path)
        if path.size > INT_MAX:  # No broker writes or reads such a file; a sparse one could take hours.
            return self.skipped(path, f"its {path.size} bytes are more than any file of a broker has")
        before = self.spool.size, len(self.spool.parts)
        member = "files/" + quote(row["path"].encode("utf-8", "surrogatepass"), safe="/._-")
        folder, name = os.path.split(path.path)
        try:
            with LOCAL.directory(folder or ".").open(name) as file:
                source = HashedSource(file)
                row["size"] = source.size
                if content.how in (How.BATCHES, How.COMMITS, How.SEGMENTS):
                    mask = {How.COMMITS: self._mask, How.SEGMENTS: self._mask_segments}.get(content.how)
                    row |= self._batches(source, name, f"{member}.batches", mask)
                else:
                    row |= self._small(source, path, member, content.how)
                row |= self._digest(path, source)
        except UnreadableError as error:
            self.spool.forget(*before)
            cause = error.__cause__
            number = cause.errno if isinstance(cause, OSError) and cause.errno else errno.EIO
            row["error"] = {"errno": number, "message": str(error)}
            return row
        if self._limit is not None and self.spool.size > self._limit:
            self.spool.forget(*before)
            return self.skipped(path, f"the bundle would be larger than {self._limit} bytes")
        return row

    def _digest_alone(self, path: CapturedPath) -> dict[str, str]:
        """Return the digest of a file of which nothing else goes in; nothing if it cannot be read."""
        with suppress(UnreadableError), LOCAL.open(path.path) as source:
            return self._digest(path, HashedSource(source))
        return {}

    def _digest(self, path: CapturedPath, source: HashedSource) -> dict[str, str]:
        """Return the digest to include; empty for a configuration, which has secrets and is in no plan."""
        if not self._digests or source.size > INT_MAX or is_configuration(path.path):
            return {}
        return {"file_sha256": source.digest()}

    def log(self, path: str, number: int) -> dict[str, Any]:
        """Return the manifest's entry of the log of a broker, after adding what goes in to the spool."""
        row: dict[str, Any] = {
            "path": f"{LOGS}/log-{number}",
            "type": "file",
            "size": 0,
            "why": "messages of the catalog, redacted",
        }
        before, member, failed = (self.spool.size, len(self.spool.parts)), f"logs/{number}", list[Finding]()
        lines = redacted(messages_of(BrokerLog(path), failed), self._rename or str)
        digest = self.spool.add(member, (line.encode() for line in lines))
        size = self.spool.size - before[0]
        if failed or size > SMALL_FILE_SIZE_MAX or (self._limit is not None and size > self._limit):
            self.spool.forget(*before)
            words = failed[0].message if failed else f"its messages have {size} bytes"
            return row | {"error": {"errno": errno.EIO, "message": words.removeprefix("cannot be read: ")}}
        return row | {"size": size, "member": member, "encoding": "raw", "sha256": digest}

    def _small(self, source: Source, path: CapturedPath, member: str, how: How) -> dict[str, Any]:
        if source.size > SMALL_FILE_SIZE_MAX:
            raise too_large(source.size)
        data = source.pread(source.size, 0)
        if how is How.LINES:
            data = masked_lines(os.path.basename(path.path), data, self._rename)
        elif how is How.SETTINGS:
            data = kept_settings(data, path.log_dirs or {})
        elif how is How.METADATA:
            data = rewritten(data, self._rename)
        else:
            data = numbers_only(data).rstrip(b"\0")
        return {"member": member, "encoding": "raw", "sha256": self.spool.add(member, [data])}

    def _mask(self, batch: bytes) -> bytes | None:
        names = (str, str) if self._pseudonyms is None else (self._pseudonyms.group, self._pseudonyms.topic)
        return masked_commits(batch, names)

    def _mask_segments(self, batch: bytes) -> bytes | None:
        return masked_segments(batch, str if self._pseudonyms is None else self._pseudonyms.topic)

    def _batches(self, source: Source, name: str, member: str, mask: BatchMask | None) -> dict[str, Any]:
        if source.size == 0:
            return {}
        reader = BatchRows(source, parse_file(name).offset or Offset(0), decode=self._decode, mask=mask)
        digest = self.spool.add(member, _packed(reader, source.size), stored=True)
        row: dict[str, Any] = {"member": member, "encoding": BATCHES, "sha256": digest}
        if reader.records is not None:
            verdicts = {"any": records_row(reader.records)}
            if reader.has_zstd:
                verdicts["before_2.1"] = records_row(records_before_zstd(source))
            row["records"] = f"{member}.records.json"
            self.spool.add(row["records"], [json.dumps(verdicts, separators=(",", ":")).encode()])
        return row


def _packed(reader: BatchRows, size: int) -> Iterator[bytes]:
    packer = Packer()
    yield MAGIC
    for position, block in reader:
        yield packer.packed(position, block)
    yield packer.index(size)


def _write_bundle(out: str, manifest: dict[str, Any], spool: _Spool, *, pseudonyms: bool) -> tuple[int, str]:
    """Write a bundle that kcheck reads, without the largest sparse files; return its size and SHA-256."""
    while True:
        try:
            return _write_zip(out, manifest, spool, pseudonyms=pseudonyms)
        except SizesError:
            rows = [row for row in manifest["entries"] if "member" in row]
            row = max(rows, key=itemgetter("size"))
            dropped = {row.pop("member"), row.pop("records", None)}
            row["missing"] = f"its {row['size']} bytes are mostly holes: they could take any time to read"
            spool.parts = [part for part in spool.parts if part.name not in dropped]
            manifest["complete"] = False


def _write_zip(out: str, manifest: dict[str, Any], spool: _Spool, *, pseudonyms: bool) -> tuple[int, str]:
    """Write the zip under a temporary name, and give it its own; return its size and SHA-256.

    UsageError if kcheck would not read it.
    """
    temporary = f"{out}.{os.urandom(8).hex()}.tmp"
    readme = _README.format(version=__version__, name=os.path.basename(out), topics=" (pseudonyms)" * pseudonyms)
    try:
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w+b") as stream:
            with zipfile.ZipFile(stream, "w", allowZip64=True) as archive:
                document = json.dumps(manifest, indent=1, ensure_ascii=True).encode()
                archive.writestr(_info(MANIFEST, stored=True), document)
                archive.writestr(_info("README.txt", stored=False), readme)
                for part in spool.parts:
                    with archive.open(_info(part.name, stored=part.stored), "w", force_zip64=False) as member:
                        for piece in _pieces(spool.stream, part.at, part.size):
                            member.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
            digest, size = hashlib.sha256(), stream.seek(0, os.SEEK_END)
            for piece in _pieces(stream, 0, size):
                digest.update(piece)
        BundleTree(temporary).close()
        os.link(temporary, out)
    finally:
        discard(temporary)
    return size, digest.hexdigest()


def _info(name: str, *, stored: bool) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _ZIP_TIME)
    info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o100600 << 16
    return info


def _pieces(stream: BinaryIO, at: int, size: int) -> Iterator[bytes]:
    while size > 0:
        stream.seek(at)
        piece = stream.read(min(_CHUNK_SIZE, size))
        if not piece:
            return
        yield piece
        at, size = at + len(piece), size - len(piece)
