"""What the files of a broker say about its release."""

import pytest

from kcheck.core.releases.release_evidence import (
    TABLE,
    Clue,
    EvidenceKind,
    ReleaseRange,
    age,
    evidence,
    line_named,
    line_of,
    line_of_level,
    possible,
    registered,
)
from kcheck.core.releases.releases import NEWEST_TESTED, lines, release
from kcheck.model.evidence import OtherEnd

E = EvidenceKind
NEWEST = lines()[-1]


def clues(*of: EvidenceKind) -> list[Clue]:
    """Return evidence that was found in one broker's files."""
    return [Clue(kind, f"data/{number}", 1) for number, kind in enumerate(of)]


def span(*of: EvidenceKind) -> tuple[str | None, str | None]:
    """Return the lines that evidence fits."""
    ranged = possible(clues(*of))
    return ranged.lowest, ranged.highest


def test_every_kind_of_evidence_has_its_row_with_known_lines() -> None:
    assert list(EvidenceKind) == list(TABLE)
    for row in TABLE.values():
        assert {row.first, row.last} - {None} <= set(lines())
        assert row.first is None or row.last is None or age(row.first) <= age(row.last)


def test_every_line_is_a_release() -> None:
    assert "0.8.2" == lines()[0]
    assert [release(line).name for line in lines()] == list(lines())
    assert ("3.9", "3.9", "0.10.2") == (line_of("3.9.2"), line_of("3.9"), line_of("0.10.2.1"))


@pytest.mark.parametrize(
    ("lowest", "highest", "line"),
    [
        (1, 7, "3.3"), (1, 8, "3.4"), (1, 11, "3.5"), (1, 14, "3.6"), (1, 19, "3.7"), (1, 20, "3.8"), (1, 21, "3.9"),
        (1, 23, "3.9"), (7, 23, "4.0"), (7, 25, "4.0"), (7, 27, "4.1"), (7, 29, "4.2"), (7, 30, "4.3"), (7, 31, "4.4"),
        (7, 99, NEWEST), (0, 0, "3.0"),
    ],
)  # fmt: skip
def test_registered_levels_name_the_line(lowest: int, highest: int, line: str) -> None:
    """3.9 numbered versions that it never released as 4.0 numbers its own; the lowest level tells them apart."""
    assert line == registered(lowest, highest)


def test_a_level_of_the_cluster_names_the_first_line_that_knows_it() -> None:
    assert ["3.3", "3.7", "4.2"] == [line_of_level(level) for level in (7, 17, 29)]


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ((), (None, None)),
        ((E.TOPIC_ID,), ("2.8", NEWEST)),
        ((E.BROKER_ID, E.CLUSTER_ID, E.TOPIC_ID, E.NO_DIRECTORY_ID), ("2.8", "3.9")),
        ((E.BROKER_ID, E.NO_PROCESS_ROLES, E.MAGIC_2, E.ZSTD), ("2.1", "3.9")),
        ((E.NO_CLUSTER_ID, E.NO_LEADER_EPOCHS), ("0.8.2", "0.10.2")),
        ((E.NODE_ID, E.PREVIEW_LOG), ("2.8", "2.8")),
    ],
)
def test_evidence_bounds_the_range(of: tuple[EvidenceKind, ...], expected: tuple[str | None, str | None]) -> None:
    assert expected == span(*of)


def test_what_is_there_wins_over_what_is_absent() -> None:
    """A lost partition.metadata or cluster.id does not make a new broker old."""
    assert ("3.7", NEWEST) == span(E.BROKER_EPOCH, E.NO_LEADER_EPOCHS, E.NO_CLUSTER_ID)
    assert (E.BROKER_EPOCH,) == tuple(
        reason.source for reason in possible(clues(E.NO_CLUSTER_ID, E.BROKER_EPOCH)).reasons
    )


def test_the_reasons_are_what_decides() -> None:
    """The lower bound first, each once; what proves the release alone stands alone."""
    ranged = possible([*clues(E.NO_DIRECTORY_ID, E.BROKER_ID, E.TOPIC_ID, E.LEADER_EPOCHS), *clues(E.TOPIC_ID)])
    assert [E.TOPIC_ID, E.NO_DIRECTORY_ID] == [reason.source for reason in ranged.reasons]
    assert ["2.8 or later", "3.9 or earlier"] == [reason.says for reason in ranged.reasons]
    exact = possible([*clues(E.METADATA_LOG, E.BOOTSTRAP), Clue(E.REGISTRATION, "log", 1, first="3.9", last="3.9")])
    assert [("3.9", "log")] == [(reason.says, reason.path) for reason in exact.reasons]
    assert ["3.0 to 3.2"] == [reason.says for reason in possible(clues(E.NO_METADATA_VERSION)).reasons]


def test_several_brokers_have_what_all_ranges_have() -> None:
    one, other = possible(clues(E.TOPIC_ID, E.EMPTY_MARKER)), possible(clues(E.TOPIC_ID, E.NO_DIRECTORY_ID))
    both = evidence([one, other, ReleaseRange()])
    assert ("2.8", "3.6", "3.6", True) == (both.lowest, both.highest, both.used, both.agrees)
    apart = evidence([one, possible(clues(E.DIRECTORY_ID))])
    assert ("2.8", NEWEST, NEWEST_TESTED, False) == (apart.lowest, apart.highest, apart.used, apart.agrees)
    old = evidence([one, possible(clues(E.NO_LEADER_EPOCHS))])
    assert ("0.8.2", "3.6", "3.6", False) == (old.lowest, old.highest, old.used, old.agrees)


def test_the_answer_is_for_the_newest_tested_release() -> None:
    """Later only where nothing else is possible."""
    assert NEWEST_TESTED == evidence([possible(clues(E.DIRECTORY_ID))]).used
    assert "4.4" == evidence([possible([Clue(E.REGISTRATION, "log", 1, first="4.4", last="4.4")])]).used
    unknown = evidence([ReleaseRange()])
    assert (None, None, NEWEST_TESTED, ()) == (unknown.lowest, unknown.highest, unknown.used, unknown.reasons)


def test_a_named_release_is_held_against_the_files() -> None:
    ranges = [possible(clues(E.TOPIC_ID, E.NO_DIRECTORY_ID))]
    inside, outside, unknown = evidence(ranges, "3.4.1"), evidence(ranges, "4.0"), evidence([], "2.8")
    assert [("3.4.1", True, False), ("4.0", True, True), ("2.8", True, False)] == [
        (said.used, said.given, said.contradicted) for said in (inside, outside, unknown)
    ]


def test_the_row_of_a_document() -> None:
    said = evidence([possible(clues(E.PREVIEW_LOG))])
    reason = {"says": "2.8", "from": "@metadata-0", "path": "data/0", "broker_id": 1}
    expected = {
        "lowest": "2.8",
        "highest": "2.8",
        "used": "2.8",
        "given": False,
        "given_by": None,
        "other": None,
        "reasons": (reason,),
    }
    assert expected == said.row()
    other = said._replace(other=OtherEnd("2.4", ("KC201",)))
    assert expected | {"other": {"kafka": "2.4", "differs_in": ("KC201",)}} == other.row()


@pytest.mark.parametrize("software", [E.REGISTRATION, E.BROKER_LOG])
def test_files_newer_than_the_software_leave_two_stories(software: EvidenceKind) -> None:
    """An upgrade that has not registered yet, or a downgrade: the range holds both, and the answer says so."""
    said = Clue(software, "log", 1, first="3.6", last="3.6")
    ranged = possible([*clues(E.DIRECTORY_ID, E.TOPIC_ID), said])
    assert ("3.6", NEWEST, True) == (ranged.lowest, ranged.highest, ranged.contradicts)
    assert [software, E.DIRECTORY_ID] == [reason.source for reason in ranged.reasons]
    assert not evidence([ranged]).agrees
    assert not possible([*clues(E.TOPIC_ID), said]).contradicts


def test_the_log_of_a_broker_is_newer_than_its_registration() -> None:
    registration, log = (
        Clue(kind, "x", 1, first=v, last=v) for kind, v in ((E.REGISTRATION, "3.8"), (E.BROKER_LOG, "3.9"))
    )
    assert ("3.9", "3.9") == possible([registration, log])[:2]


@pytest.mark.parametrize(
    ("version", "line"),
    [("3.9.2-ccs", "3.9"), ("2.7-IV1", "2.7"), ("0.10.2.2", "0.10.2"), ("3.99.1", None), ("x", None), ("", None)],
)
def test_a_version_in_a_text_is_of_a_line(version: str, line: str | None) -> None:
    assert line == line_named(version)
