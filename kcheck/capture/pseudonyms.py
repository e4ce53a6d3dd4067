"""Pseudonyms of topics and groups by a keyed permutation of the names of one length. No two names become one.

It is a Feistel cipher whose rounds are HMAC-SHA256. The key stays in a file of the user, with the names it was used
for.
"""

import hashlib
import hmac
import json
import os
import re

from kcheck.disk.local import LOCAL
from kcheck.disk.output import discard
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError
from kcheck.model.names import is_legal_topic, parse_directory
from kcheck.model.unreadable import UnreadableError

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_BASE = len(_ALPHABET)
_ROUNDS = 10
_KEY_SIZE = 32
_FORMAT = "kcheck.pseudonyms/1"
_SIZE_MAX = 64 << 20


class Pseudonyms:
    """Names of topics and groups, replaced under a key; remembers what it replaced."""

    def __init__(self, key: bytes, names: dict[str, str] | None = None) -> None:
        """Take the key, and the name of each pseudonym so far."""
        self.key = key
        self.names: dict[str, str] = {} if names is None else names

    def topic(self, name: str) -> str:
        """Return the pseudonym of a topic, which has its length; topics of Kafka itself keep their names."""
        if name.startswith("__") or not is_legal_topic(name):
            return name
        other = self._permuted(name)
        while other.startswith("__") or not is_legal_topic(other):
            other = self._permuted(other)
        self.names[other] = name
        return other

    def group(self, name: str) -> str:
        """Return the pseudonym of a group, with the same size in bytes.

        A group with a legal topic name gets the pseudonym of a topic of that name.
        """
        if not name.startswith("__") and is_legal_topic(name):
            return self.topic(name)
        size = len(name.encode())
        other = _text(self._random(b"group " + name.encode(), size) % _BASE**size, size)
        self.names[other] = name
        return other

    def directory(self, name: str) -> str:
        """Return the name of a partition directory with the pseudonym of its topic; any other name as it is."""
        parsed = parse_directory(name)
        if parsed is None or not name.startswith(parsed.topic):
            return name
        return self.topic(parsed.topic) + name[len(parsed.topic) :]

    def path(self, path: str) -> str:
        """Return a path in a bundle with pseudonyms."""
        return "/".join(map(self.directory, path.split("/")))

    def translated(self, text: str) -> str:
        """Return an answer with the names on this host."""
        if not self.names:
            return text
        longest_first = sorted(self.names, key=lambda name: (-len(name), name))
        pattern = re.compile(rf"(?<![A-Za-z0-9_.])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-z0-9_])")
        return pattern.sub(lambda match: self.names[match[0]], text)

    def _permuted(self, name: str) -> str:
        half = (len(name) + 1) // 2
        left, right = _number(name[:half]), _number(name[half:])
        sizes = half, len(name) - half
        for turn in range(_ROUNDS):
            if turn % 2 or not sizes[1]:
                left = (left + self._round(turn, sizes, right)) % _BASE ** sizes[0]
            else:
                right = (right + self._round(turn, sizes, left)) % _BASE ** sizes[1]
        return _text(left, sizes[0]) + _text(right, sizes[1])

    def _round(self, turn: int, sizes: tuple[int, int], half: int) -> int:
        return self._random(f"{turn} {sizes[0]} {sizes[1]} {half}".encode(), sizes[0])

    def _random(self, words: bytes, size: int) -> int:
        """Return a number far larger than any text of this size, always the same for these words."""
        blocks = (size * 7 + 7) // 256 + 2
        digests = (hmac.digest(self.key, b"%d " % block + words, hashlib.sha256) for block in range(blocks))
        return int.from_bytes(b"".join(digests), "big")


def _number(text: str) -> int:
    number = 0
    for character in text:
        number = number * _BASE + _ALPHABET.index(character)
    return number


def _text(number: int, size: int) -> str:
    characters = []
    for _ in range(size):
        number, digit = divmod(number, _BASE)
        characters.append(_ALPHABET[digit])
    return "".join(reversed(characters))


def load(path: str, *, create: bool) -> Pseudonyms:
    """Return the pseudonyms of a key file; `create` makes a missing one. UsageError for another file."""
    if create and not os.path.lexists(path):
        made = Pseudonyms(os.urandom(_KEY_SIZE))
        save(path, made)
        return made
    try:
        document = json.loads(LOCAL.read_whole(path, follow=True, size_max=_SIZE_MAX))
        key, names = bytes.fromhex(document["key"]), document["names"]
        if document["format"] != _FORMAT or len(key) != _KEY_SIZE or not isinstance(names, dict):
            raise ValueError("it has another format")  # noqa: TRY301 - one answer for all that it can lack
    except (UnreadableError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is not a key file of kcheck capture: {error}") from error
    return Pseudonyms(key, {str(other): str(name) for other, name in names.items()})


def save(path: str, pseudonyms: Pseudonyms) -> None:
    """Write the key file, for this user alone; UsageError if that fails."""
    document = {"format": _FORMAT, "key": pseudonyms.key.hex(), "names": dict(sorted(pseudonyms.names.items()))}
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(document, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        discard(temporary)
        raise UsageError(f"cannot write {path}: {word_for(error)}") from error
