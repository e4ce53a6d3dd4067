"""The SHA-256 of a file that is read anyway, so that a capture reads it once."""

from hashlib import sha256

from kcheck.model.source import Source

_CHUNK_SIZE = 1 << 20


class HashedSource:
    """An open file that is hashed as far as it is read without a gap; `digest` reads the rest."""

    def __init__(self, source: Source) -> None:
        """Take an open file."""
        self.size: int = source.size
        self._source = source
        self._sha256 = sha256()
        self._hashed = 0

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        data = self._source.pread(count, position)
        self._take(data, position)
        return data

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `Source.pread_into`."""
        count = self._source.pread_into(buffer, position)
        self._take(buffer[:count], position)
        return count

    def next_data(self, position: int) -> int | None:
        """Return the next data as `Source.next_data`."""
        return self._source.next_data(position)

    def digest(self) -> str:
        """Return the SHA-256 of the complete file, in hexadecimal."""
        while self._hashed < self.size and self.pread(_CHUNK_SIZE, self._hashed):
            pass
        return self._sha256.hexdigest()

    def _take(self, data: bytes | memoryview, position: int) -> None:
        new = data[self._hashed - position :] if position <= self._hashed < position + len(data) else b""
        self._sha256.update(new)
        self._hashed += len(new)
