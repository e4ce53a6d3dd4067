"""`broker_reads` of meta.properties agrees with BrokerMetadataCheckpoint and MetaProperties of each release.

More than a thousand files for each release; KCHECK_SWEEP multiplies the random ones, KCHECK_SEED chooses other ones.
"""

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.meta_properties import broker_reads
from tests.oracle.ask import (
    NUMBERS,
    SEED,
    SPACES,
    Ask,
    assert_equal,
    broken,
    cuts,
    encoded,
    flips,
    generated,
    sampled,
    text,
)

pytestmark = pytest.mark.oracle

DATE = "#\n#Sat Mar 02 09:14:55 UTC 2024\n"
V0 = DATE + "broker.id=7\nversion=0\ncluster.id=TzyYHphLTKC2YDT31HuF0g\n"
V1 = DATE + "cluster.id=TzyYHphLTKC2YDT31HuF0g\ndirectory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\nnode.id=7\nversion=1\n"

Answer = tuple[list[str], dict[str, str]] | str


@pytest.mark.parametrize("version", sampled(("0.10.2.2", "1.1.1", "2.4.1", "2.8.2", "3.6.2", "3.9.2", "4.3.1")))
def test_meta_properties(version: str, ask: Ask) -> None:
    """The same properties and, except in 2.8 to 3.6, version and id; or an exception of the same class."""
    files = list(_files(Random(f"{SEED} {version}")))
    answers = ask(version, "Readers.java", encoded(files), "meta.properties")
    chosen = release(version)
    ours: list[Answer] = []
    for file in files:
        read = broker_reads(file, chosen)
        if read.value is None:
            ours.append(str(read.error))
        else:
            raw = (2, 8) <= chosen.version < (3, 7)
            identity = [] if raw else [str(number) for number in (read.value.version, read.value.broker_id)]
            ours.append((identity, dict(read.value.properties)))
    assert_equal(files, ours, [_answer(answer, trimmed=chosen.version < (2, 8)) for answer in answers])


def _answer(answer: str, *, trimmed: bool) -> Answer:
    """Up to 2.7 the reader trims every value; here it is seen as it stands."""
    if error := broken(answer):
        return error
    words = answer.split()
    identity = ["".join(c for c in word if c in "-0123456789") or "None" for word in words if ":" not in word]
    properties = {text(key): text(value) for key, value in (word.split(":") for word in words if ":" in word)}
    white = "".join(map(chr, range(0x21)))
    return identity, {key: value.strip(white) if trimmed else value for key, value in properties.items()}


def _files(random: Random) -> Iterator[bytes]:
    for valid in (V0.encode(), V1.encode()):
        yield valid
        yield from cuts(valid)
        yield from flips(random, valid, generated(200))
    yield from (each.encode("iso-8859-1", "ignore") for each in (*_values(), *_lines()))
    yield from (bytes(64), b"", b"\xff\xfe", b"\xef\xbb\xbfversion=0\nbroker.id=1\n")
    pieces = (*b"\\\\\\=: \t\f\r\n#!uab0", b"\\u0041", b"\\u00e9", b"\\n")
    for _ in range(generated(400)):
        chosen = random.choices(pieces, k=random.randint(1, 12))
        yield b"version=0\nbroker.id=1\n" + b"".join(bytes([c]) if isinstance(c, int) else c for c in chosen)


def _values() -> Iterator[str]:
    for number in NUMBERS:
        yield f"version={number}\nbroker.id=1\nnode.id=1\ncluster.id=c\n"
        yield f"version=0\nbroker.id={number}\n"
        yield f"version=1\nnode.id={number}\ncluster.id=c\n"
    for number, space in product(("version", "broker.id", "cluster.id", "directory.id"), SPACES):
        lines = {"version": "0", "broker.id": "1", "cluster.id": "c", "directory.id": "tYaS4r3WQ8Ky_ObhEGQ-Bw"}
        for value in (space, space + lines[number], lines[number] + space):
            yield "".join(f"{key}={text}\n" for key, text in (lines | {number: value}).items())
    keys = (
        "version=0",
        "version=1",
        "broker.id=1",
        "node.id=2",
        "cluster.id=c",
        "cluster.id=",
        f"directory.id={'A' * 22}",
    )
    for present in product((False, True), repeat=len(keys)):
        yield "".join(f"{key}\n" for key, there in zip(keys, present, strict=True) if there)
    directory_ids = [*("A" * size + filling for size in range(19, 25) for filling in ("", "==", "B")), "=" * 22]
    for directory_id in (*directory_ids, "tYaS4r3WQ8Ky_ObhEGQ+Bw", "tYaS4r3WQ8Ky/ObhEGQ-Bw", "tYaS4r3WQ8Ky_ObhEGQ-Bx"):
        yield f"version=1\nnode.id=1\ncluster.id=c\ndirectory.id={directory_id}\n"


def _lines() -> Iterator[str]:
    """Separators, escapes, comments and continued lines of java.util.Properties."""
    letters = (r"\u0041", r"\u00zz", r"\u004", r"\U0041", r"\ud800", r"\ud83d\ude00", r"\x41", r"\101", r"\t", r"\\")
    for escape in (*letters, "\\"):
        yield f"version=0\nbroker.id=1\ncluster.id={escape}\n"
        yield f"version=0\nbroker.id=1\n{escape}=1\n"
        yield f"version=0\nbroker.id=1\n#{escape}=1\n"
        yield f"version=0\nbroker.id=1\n{escape}"
    separators = ("=", ":", " ", "\t", "\f", " = ", " : ", "==", "=:", ":=", r"\=", r"\:", r"\ ", "", "\x0b", "\xa0")
    for separator in separators:
        yield f"version{separator}0\nbroker.id{separator}1\ncluster.id{separator}c\n"
    for start in (" ", "\t", "\f", "#", "!", " #", " !", "\\#", "\\!", "\\", "=", ":", "\x0b", "\xa0"):
        yield f"{start}version=0\n{start}broker.id=1\n{start}cluster.id=c\n"
    continued = ("\\\n", "\\\r\n", "\\\n  ", "\\\n#", "\\\n\n", "\\\\\n", "\\\\\\\n")
    for end in ("\n", "\r\n", "\r", "\n\r", *continued, *SPACES):
        yield f"version=0{end}broker.id=1{end}cluster.id=c{end}"
    yield from (f"version=0\nbroker.id=1\n\\{end}" for end in ("\n", "\r", "\r\n", "\n\r\n", "\r\n\\\r\n", "\n\\\n"))
    yield from ("version=0\nbroker.id=1\nbroker.id=2\n", "version=0\nversion=1\nbroker.id=1\nnode.id=2\ncluster.id=c\n")
