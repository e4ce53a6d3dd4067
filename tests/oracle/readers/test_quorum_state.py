"""A quorum-state that predict takes is one that FileQuorumStateStore reads, up to 3.7 FileBasedStateStore."""

import json
from collections.abc import Iterator
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.quorum_state import broker_reads
from tests.oracle.ask import BAD_UTF8, SEED, SWEEP, Ask, assert_equal, cuts, encoded, flips, sampled

pytestmark = pytest.mark.oracle

OLD = {"clusterId": "", "leaderId": 100, "leaderEpoch": 1, "votedId": -1, "appliedOffset": 0,
       "currentVoters": [{"voterId": 100}], "data_version": 0}  # fmt: skip
NEW = {"leaderId": -1, "leaderEpoch": 2, "votedId": 1, "votedDirectoryId": "J8aAPcfLQt2bqs1JT_rMgQ", "data_version": 1}
VALUES: tuple[object, ...] = (
    None, True, 0, 1, -1, 2, 1.5, 1e300, 1 << 31, 1 << 40, 65536, 65537, 1 << 70, "", "0", "1", "x", "A" * 22, "A" * 23,
    "A" * 22 + "==", [], [1], [{}], [{"voterId": 1}], [{"voterId": 1 << 31}], [None], {},
)  # fmt: skip


@pytest.mark.parametrize("version", sampled(("3.3.2", "3.6.2", "3.8.1", "3.9.2", "4.0.2", "4.3.1")))
def test_quorum_states(version: str, ask: Ask) -> None:
    """The same are refused, and up to 3.7 the same are removed: QuorumState goes on after an UncheckedIOException."""
    files = list(_files(Random(f"{SEED} {version}")))
    answers = ask(version, "Readers.java", encoded(files), "quorum-state")
    chosen = release(version)
    reads = [broker_reads(file, chosen) for file in files]
    ours = ["ends" if read.value is None else "removed" if read.value.removed_because else "taken" for read in reads]
    ends = ("!",) if chosen.version >= (3, 8) else ("!RuntimeException", "!NumberFormat", "!NullPointer")
    theirs = ["ends" if each.startswith(ends) else "removed" if each[0] == "!" else "taken" for each in answers]
    assert_equal(files, ours, theirs)


def _files(random: Random) -> Iterator[bytes]:
    for whole in (OLD, NEW):
        text = json.dumps(whole).encode()
        yield from (text, text + b"\n", text + b"x", b" " + text, b"\n" + text, b"[" + text + b"]", text + b"\n\xff")
        yield from cuts(text)
        yield from flips(random, text, 100 * SWEEP)
        yield from (text + bad for bad in BAD_UTF8)
        for name in (*OLD, *NEW):
            yield json.dumps({key: value for key, value in whole.items() if key != name}).encode()
            yield from (json.dumps(whole | {name: value}).encode() for value in VALUES)
    yield from (b"", b"null", b"0", b'""', b"NaN", b"{}", bytes(64), b'{"data_version":NaN}', b'{"data_version":01}')
