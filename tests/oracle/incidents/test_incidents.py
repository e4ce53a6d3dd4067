"""No green answer was wrong: incidents made on real brokers, asked before their start and compared with what came.

`fixtures/incidents` holds some with what happened, which needs no broker. One more is made here, on the disks of a kept
cluster that nothing was done to; with `KCHECK_SWEEP=1` some of every release are made from the start.
`python -m tests.oracle.incidents` makes as many as you like.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.oracle.ask import IS_WHOLE, SEED, SWEEP
from tests.oracle.clusters.recovered import Held
from tests.oracle.conftest import no_kafka
from tests.oracle.incidents import lab, recoveries, shapes
from tests.oracle.incidents.asked import ask
from tests.oracle.incidents.client import RELEASE
from tests.oracle.incidents.compare import COUNTED, FALSE_GREEN, OTHER, RIGHT, UNKNOWN, verdicts
from tests.oracle.incidents.damages.table import KINDS
from tests.oracle.incidents.kept import PLACE, RECOVERIES, paths, recovery, unpacked
from tests.oracle.incidents.recoveries import EQUAL, judged, others, said
from tests.oracle.incidents.recovering import bound, renewed, replaced
from tests.oracle.jars import NoKafkaError, classpath

OF_OWNERS = 25
"""The kinds that change no byte."""
OF_A_RELEASE = 6
"""Fresh incidents of a sweep."""
ALL_RIGHT = (
    "4.0.2-kraft-other-voters-z9e", "3.9.2-zk-other-epochs-z9b", "3.9.2-kraft-remove-middle-z9d",
    "4.3.1-kraft-lose-controller-n2", "4.3.1-kraft-other-cluster+swap-disks-p13",
    "4.3.1-kraft-quorum-state-of-other+remove-recovery-points-w29",
    "4.3.1-kraft-file-for-metadata-log+move-partition-p7", "3.9.2-zk-other-cluster-r2",
    "2.8.2-zk-other-chroot-l12b", "2.4.1-zk-garbage-meta+refused-setting-l12a", "3.9.2-kraft-live-copy-l12f",
    "3.9.2-kraft-linked-segment-l12f",
    "3.9.2-zk-log-dir-twice+log-dir-twice+log-dir-twice-l12g", "2.4.1-zk-freed-space-h42",
)  # fmt: skip
"""Incidents about which some verb was wrong, or did not know."""


def fresh(folder: Path) -> Iterator[lab.Incident]:
    """Make incidents: one on a kept cluster, or some of every release."""
    if IS_WHOLE:
        for release, mode in shapes.RELEASES:
            yield from (one for one, _ in lab.several(SEED, release, mode, folder, OF_A_RELEASE * SWEEP))
        return
    for number, packed in enumerate(path for path in paths() if path.name.startswith(f"{RELEASE}-kraft-nothing-")):
        kept = unpacked(packed, folder / "base" / "now")
        assert kept.known is not None
        one = lab.incident(f"{SEED}-{number}", kept.shape, kept.known, kept.folder.parent, folder / "incident")
        if one is not None:
            yield one
            return


@pytest.mark.sample(6)
@pytest.mark.parametrize("packed", paths(), ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_no_green_answer_about_a_kept_incident_was_wrong(packed: Path, tmp_path: Path) -> None:
    """Where kcheck says may start, will boot, nothing is lost, the real brokers started and lost nothing."""
    kept = unpacked(packed, tmp_path / "incident")
    answers = list(ask(kept.folder, kept.shape))
    judged = list(verdicts(answers, kept.truth, kept.course))
    assert [] == [row for row in judged if row.verdict == FALSE_GREEN]
    assert {row.verb for row in answers} >= set(COUNTED)


@pytest.mark.parametrize("name", ALL_RIGHT)
def test_every_answer_about_some_kept_incidents_was_right(name: str, tmp_path: Path) -> None:
    """Neither green nor red for nothing, nor unknown, but for a controller that is asked without other nodes."""
    kept = unpacked(PLACE / f"{name}.tar.xz", tmp_path / "incident")
    judged = verdicts(list(ask(kept.folder, kept.shape)), kept.truth, kept.course)
    of_brokers = (row for row in judged if row.subject != "controller")
    assert [] == [row for row in of_brokers if row.verdict not in (RIGHT, OTHER)]


@pytest.mark.parametrize("packed", paths(RECOVERIES), ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_what_the_plan_of_a_recovery_lost_was_said(packed: Path, tmp_path: Path) -> None:
    """To the record, in every partition; and each of them has the leader of the plan."""
    shape, course = recovery(packed, tmp_path / "incident")
    told = said(recoveries.ask(tmp_path / "incident", shape))
    assert judged(told, course) == EQUAL
    assert [*others(told, course)] == []


def test_kept_incidents_are_of_all_colours_and_most_kinds() -> None:
    """A lab in which nothing goes wrong, or everything, proves nothing."""
    names = [path.name for path in paths()]
    assert len({kind.number for kind in KINDS if any(kind.name in name for name in names)}) >= 15
    assert {release for release, _ in shapes.RELEASES} <= {name.split("-")[0] for name in names}


@pytest.mark.oracle
def test_no_green_answer_about_a_fresh_incident_is_wrong(tmp_path: Path) -> None:
    """The same, of brokers that are started now."""
    try:
        classpath(RELEASE)
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    places = list(fresh(tmp_path))
    assert places
    for one in places:
        assert [] == [row for row in one.verdicts if row.verdict == FALSE_GREEN and row.verb in COUNTED], one.what
    rows = [row for one in places for row in one.verdicts if row.verb in COUNTED]
    if IS_WHOLE:
        assert sum(row.verdict == UNKNOWN for row in rows) < 0.1 * len(rows)


def test_what_the_cleaner_removes_is_not_lost() -> None:
    """A newer record of the key is in the leader's log; of other topics, or without it, the record is lost."""
    old, new, plain = ("keys-0", 3, 0, b"k", b"1"), ("keys-0", 9, 1, b"k", b"2"), ("orders-0", 3, 0, b"k", b"1")
    unkeyed, other = ("keys-0", 4, 0, None, b"1"), ("keys-1", 3, 0, b"k", b"1")
    later = ("orders-0", 9, 0, b"k", b"2")
    assert replaced([old, new, plain, unkeyed, other], [new, later]) == {old}
    assert replaced([new], [old]) == set()
    before = {1: Held(frozenset({old, unkeyed}), frozenset()), 2: Held(frozenset({new}), frozenset())}
    assert bound(before) == (1, {"keys-0": 1})
    assert bound({**before, 3: Held(frozenset({new, unkeyed}), frozenset())}) == (0, {"keys-0": 3})


def test_records_of_a_topic_that_was_created_again_are_no_loss(tmp_path: Path) -> None:
    """Of each time of a base the directories have the id of the topic that was there then."""
    for place, topic in (
        ("old/broker-1", b"a"), ("live/broker-1", b"b"), ("now/broker-1", b"c"), ("now/broker-2", b"a"),
    ):  # fmt: skip
        (tmp_path / place / "data1" / "again-0").mkdir(parents=True)
        (tmp_path / place / "data1" / "again-0" / "partition.metadata").write_bytes(topic)
    assert renewed(tmp_path) == {"again-0": {b"a", b"b"}}
    (tmp_path / "now/broker-1/data1/again-0/partition.metadata").write_bytes(b"b")
    assert renewed(tmp_path) == {"again-0": {b"a"}}
    (tmp_path / "now/broker-1/data1/again-0/partition.metadata").write_bytes(b"a")
    assert renewed(tmp_path) == {}


def contents(folder: Path) -> dict[str, bytes | bool]:
    """Return the bytes of each file by its path from a folder, and what else stands there."""
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize("mode", ["kraft", "zk"])
def test_every_damage_changes_its_target_and_says_what_it_did(mode: str, tmp_path: Path) -> None:
    """On a cluster that has what the kind needs."""
    packed = next(path for path in paths() if re.match(rf"(4\.3\.1|3\.9\.2)-{mode}-nothing-", path.name))
    kept = unpacked(packed, tmp_path / "base" / "now")
    before = contents(kept.folder)
    acted = set()
    for kind in KINDS:
        folder = tmp_path / "damaged"
        if kind.fits(kept.shape) and lab.damaged(Random(kind.name), kept.shape, kept.folder.parent, folder, (kind,)):
            acted.add(kind.name)
            assert (contents(folder) == before) is (kind.name == "nothing" or kind.number == OF_OWNERS), kind
    assert len(acted) > 60
