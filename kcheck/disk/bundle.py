"""Reads bundles of `kcheck capture`, which are zip files with a manifest of the files of log dirs.

Nothing is unpacked. A path below a bundle is looked up in the manifest, and its bytes are made as they are read.
Bundles come from strangers. A bundle that contradicts itself is refused before anything is read from it.
"""

import errno
import json
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from kcheck.bundles.manifest import BATCHES, FORMAT, LOGS, MANIFEST, NAME_SIZE_MAX, TYPES, BundleEntry, entries_of
from kcheck.bundles.small_files import BadBundleError, BadMemberError, ZeroEndedSource
from kcheck.disk.contents import ContentTree
from kcheck.disk.listing import DirectoryContent
from kcheck.disk.refusals import readable
from kcheck.errors import UsageError
from kcheck.model.names import BUNDLE_SUFFIX
from kcheck.model.plan import Digest, listed
from kcheck.model.source import Source, small_size_max
from kcheck.model.unreadable import UnreadableCause, UnreadableError

_MANIFEST_SIZE_MAX = 256 << 20
_MEMBERS_MAX = 2_000_000
_DIRECTORY_SIZE_MAX = 512 << 20
_RATIO_MAX = 1 << 17
"""Maximum ratio of unpacked to packed size, as a batch of 1 MiB needs 20 bytes, preallocated zeros nearly none."""
_RATIO_FREE = 64 << 30
_SMALL_RATIO_MAX = 100
"""Maximum ratio for all small files together, where zip could reach a ratio of a thousand."""
_SMALL_RATIO_FREE = 1 << 30
_LOCAL = struct.Struct("<4s5H3I2H")
_END = struct.Struct("<4s4H2IH")
_FLAGS_KNOWN = 0x800
_BAD_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, EOFError, struct.error)
"""The exceptions of Python's zip reader on bytes that are no zip."""


class ZipMember(NamedTuple):
    """A member of the zip."""

    at: int
    """The position of its local header."""
    size: int
    """Its size in bytes."""
    packed: int
    """Its compressed size in bytes."""
    deflated: bool
    """True if it is compressed."""


class SizesError(UsageError):
    """The files of a bundle are too large for its size. Reading them could take any time."""


class BundleTree(ContentTree):
    """An open bundle."""

    is_bundle = True

    def __init__(self, path: str) -> None:
        """Open a bundle; UsageError if it is not one, or is not safe to read."""
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
        try:
            self._read()
        except BaseException:
            os.close(self._descriptor)
            raise

    def close(self) -> None:
        """Close the file; nothing can be read then."""
        os.close(self._descriptor)

    def __reduce__(self) -> tuple[object, ...]:
        return bundle_of, (self.path,)

    def _read(self) -> None:
        """Read the list of members and the manifest."""
        path = self.path
        try:
            self._size = os.fstat(self._descriptor).st_size
            self._members = dict(self._listed())
            self.manifest: Mapping[str, Any] = self._manifest()
            self._entries = entries_of(self.manifest)
            self._children = _children(self._entries)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
        except (*_BAD_ZIP, RecursionError, zlib.error) as error:
            raise UsageError(f"{path} is not a bundle of kcheck capture: {error}") from error
        self._check_sizes()

    def _listed(self) -> Iterator[tuple[str, ZipMember]]:
        """Yield the members by name."""
        tail = os.pread(self._descriptor, _END.size, max(self._size - _END.size, 0))
        if len(tail) < _END.size or tail[:4] != b"PK\5\6":
            raise BadBundleError("it is no complete zip")
        _, _, _, _, count, size, _, _ = _END.unpack(tail)
        if count != 0xFFFF and size > _DIRECTORY_SIZE_MAX:
            raise BadBundleError(f"its list of members has {size} bytes")
        names = set[str]()
        with os.fdopen(os.dup(self._descriptor), "rb") as stream, zipfile.ZipFile(stream) as archive:
            infos = archive.infolist()
            if len(infos) > _MEMBERS_MAX:
                raise BadBundleError(f"{len(infos)} members are too many")
            for info in infos:
                _check_name(info.filename)
                if info.filename in names:
                    raise BadBundleError(f"two members have the name {info.filename}")
                if info.flag_bits & ~_FLAGS_KNOWN or info.compress_type not in (0, 8):
                    raise BadBundleError(f"{info.filename} is encrypted or compressed in an unknown way")
                if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                    raise BadBundleError(f"{info.filename} is a link, not a file")
                names.add(info.filename)
                packed, at = info.compress_size, info.header_offset
                if not 0 <= at <= self._size - packed or (info.compress_type == 0 and packed != info.file_size):
                    raise BadBundleError(f"{info.filename} is outside of the file")
                yield info.filename, ZipMember(at, info.file_size, packed, info.compress_type == 8)

    def _manifest(self) -> Mapping[str, Any]:
        data = self._content(MANIFEST, _MANIFEST_SIZE_MAX)
        document = json.loads(data)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadBundleError(f"its {MANIFEST} does not say {FORMAT}")
        return document

    def _check_sizes(self) -> None:
        total, small, named = 0, 0, set[str]()
        for name, entry in self._entries.items():
            total += 0 if entry.member is None else entry.size  # Without a member there are no bytes to read.
            for member in (entry.member, entry.records):
                if member is None:
                    continue
                if member not in self._members or member in named:
                    many = "two files have the" if member in named else f"{name} has no"
                    raise UsageError(f"{self.path}: {many} member {member}")
                named.add(member)
                small += 0 if member is entry.member and entry.encoding == BATCHES else self._members[member].size
            if entry.member is not None and entry.encoding == "raw" and self._members[entry.member].size > entry.size:
                raise UsageError(f"{self.path}: the member of {name} is larger than the file was")
        for size, free, ratio in ((total, _RATIO_FREE, _RATIO_MAX), (small, _SMALL_RATIO_FREE, _SMALL_RATIO_MAX)):
            if size > free + self._size * ratio:
                raise SizesError(f"{self.path}: {self._size} bytes cannot contain files of {size} bytes")

    def _data_at(self, member: ZipMember) -> int:
        header = os.pread(self._descriptor, _LOCAL.size, member.at)
        if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
            raise BadMemberError("its local header is missing")
        fields = _LOCAL.unpack(header)
        at = member.at + _LOCAL.size + fields[-2] + fields[-1]
        if at + member.packed > self._size:
            raise BadMemberError("it ends after the bundle")
        return int(at)

    def _content(self, name: str, size_max: int) -> bytes:
        """Return the bytes of a member, at most `size_max`."""
        member = self._members.get(name)
        if member is None:
            raise BadMemberError(f"it has no member {name}")
        if member.size > size_max or member.packed > size_max + 1024:
            raise BadMemberError(f"{name} has {member.size} bytes")
        data = os.pread(self._descriptor, member.packed, self._data_at(member))
        if member.deflated:
            try:
                data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, member.size + 1)
            except zlib.error as error:
                raise BadMemberError(f"{name} cannot be decompressed") from error
        if len(data) != member.size:
            raise BadMemberError(f"{name} is not {member.size} bytes long")
        return data

    def content(self, path: str) -> DirectoryContent:
        """Return the content of a directory; an OSError if it could not be listed, or is not a directory."""
        name = self._name(path)
        entry = self._entries.get(name)
        if entry is not None and entry.error is not None:
            raise OSError(*entry.error)
        content = self._children.get(name)
        if content is None:
            missing = entry is None
            raise OSError(
                errno.ENOENT if missing else errno.ENOTDIR, os.strerror(errno.ENOENT if missing else errno.ENOTDIR)
            )
        return content

    def logs(self) -> tuple[str, ...]:
        """Return the paths of the logs of brokers, in the order of the capture."""
        return tuple(f"{self.path}/{name}" for name in self._entries if name.startswith(f"{LOGS}/"))

    def is_empty(self, path: str) -> bool:
        """Return whether a directory is known to be empty."""
        content = self._children.get(self._name(path))
        return content is not None and not (content.sizes or content.directories or content.others)

    @property
    def has_digests(self) -> bool:
        """True if it has the digests of files on this host."""
        return any(entry.sha256 is not None for entry in self._entries.values())

    def file_type(self, path: str) -> int | None:
        """Return the type of a path as `Tree.file_type`; None if nothing of it was captured."""
        entry = self._entries.get(self._name(path))
        return None if entry is None else TYPES[entry.kind]

    @readable
    def digest(self, path: str, *, directory: bool = False) -> Digest | None:
        """Return the digest of a file or directory on this host; UnreadableError if the bundle does not have it."""
        if directory:
            content = self.content(path)
            return listed([*content.sizes.items(), *((name, None) for name in (*content.directories, *content.others))])
        entry = self._file(path)
        if entry.sha256 is None:
            raise UnreadableError("its digest is not in the bundle")
        return Digest(entry.sha256, entry.size)

    @readable
    def size(self, path: str) -> int:
        """Return the size of a file as `Tree.size`."""
        return self._file(path).size

    def source(self, path: str) -> Source:
        """Return an open file."""
        entry = self._file(path)
        if entry.member is None:
            if entry.size == 0:
                return ZeroEndedSource(b"", 0)
            raise OSError(errno.ENODATA, "not in the bundle")
        member = self._members[entry.member]
        if entry.encoding == BATCHES:
            if member.deflated:
                raise BadMemberError("its batches are compressed twice")
            from kcheck.bundles.log import BatchSource, MemberBytes  # imports numpy

            data = MemberBytes(partial(os.pread, self._descriptor), self._data_at(member), member.size)
            verdicts = None if entry.records is None else self._content(entry.records, _MANIFEST_SIZE_MAX)
            return BatchSource(data, entry.size, verdicts)
        return ZeroEndedSource(self._content(entry.member, small_size_max(path)), entry.size)

    def refuse(self, *_: object) -> Any:
        """Refuse to write into a bundle."""
        raise OSError(errno.EROFS, "a bundle is never written to")

    stream: Callable[..., Any] = refuse
    create: Callable[..., Any] = refuse
    write: Callable[..., Any] = refuse
    try_to_write: Callable[..., Any] = refuse
    remove: Callable[..., Any] = refuse
    move: Callable[..., Any] = refuse
    rename: Callable[..., Any] = refuse

    def _file(self, path: str) -> BundleEntry:
        entry = self._entries.get(self._name(path))
        if entry is None:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if entry.error is not None:
            raise OSError(*entry.error)
        if entry.kind != "file":
            if entry.kind == "link":
                raise UnreadableError("a symbolic link: not followed", UnreadableCause.LINK)
            raise UnreadableError("not a regular file")
        return entry

    def _name(self, path: str) -> str:
        return "/".join(part for part in path[len(self.path) :].split("/") if part not in ("", "."))


def _check_name(name: str) -> None:
    """Raise ValueError for the name of a member that no bundle has."""
    parts = name.split("/")
    bad = any(part in ("", ".", "..") for part in parts) or len(name) > NAME_SIZE_MAX
    if bad or re.search(r"[\x00-\x1f\\:\x7f-\x9f]", name):
        raise BadBundleError(f"a member has the name {name[:100]!r}")


def _children(entries: Mapping[str, BundleEntry]) -> Mapping[str, DirectoryContent]:
    """Return the content of every directory."""
    listed: dict[str, tuple[dict[str, int], list[str], list[str]]] = {
        name: ({}, [], []) for name, entry in entries.items() if entry.kind == "directory" and entry.error is None
    }
    for path, entry in entries.items():
        folder, _, name = path.rpartition("/")
        if not path or folder == LOGS:
            continue
        if folder not in entries or entries[folder].kind != "directory":
            raise BadBundleError(f"{path[:100]!r} is in no directory")
        if folder in listed:
            sizes, directories, others = listed[folder]
            if entry.kind == "file":
                sizes[name] = entry.size
            else:
                (directories if entry.kind == "directory" else others).append(name)
    return {
        name: DirectoryContent(sizes, tuple(sorted(directories)), {}, tuple(sorted(others)))
        for name, (sizes, directories, others) in listed.items()
    }


_OPEN: dict[str, BundleTree | None] = {}


def bundle_of(path: str) -> BundleTree | None:
    """Return the bundle that a path names or leads into; None without one."""
    at = path.find(BUNDLE_SUFFIX)
    while at >= 0:
        end = at + len(BUNDLE_SUFFIX)
        if end == len(path) or path[end] == "/":
            prefix = path[:end]
            if _OPEN.get(prefix) is None:
                _OPEN[prefix] = BundleTree(prefix) if _begins_as_bundle(prefix) else None
            if _OPEN[prefix] is not None:
                return _OPEN[prefix]
        at = path.find(BUNDLE_SUFFIX, end)
    return None


def _begins_as_bundle(path: str) -> bool:
    """Return whether a path is a regular file that begins as a zip with a manifest."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return False
    try:
        start = os.pread(descriptor, _LOCAL.size + len(MANIFEST), 0)
    finally:
        os.close(descriptor)
    return start[:4] == b"PK\3\4" and start[_LOCAL.size :] == MANIFEST.encode()
