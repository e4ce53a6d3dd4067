"""KC225, KC226: what a broker makes of foreign files; tests/oracle/starts/test_file_names.py asks brokers."""

import pytest

from kcheck.model.finding import Severity
from kcheck.rules.kc225_stray_file import RULE as KC225
from kcheck.rules.kc226_leftover_file import RULE as KC226
from tests.rules.build import found_by, partition

FATAL, ERROR, WARNING, INFO = Severity.FATAL, Severity.ERROR, Severity.WARNING, Severity.INFO
LOG = "00000000000000000005.log"
UNNUMBERED = "leader-epoch-checkpoint.cleaned"


@pytest.mark.parametrize(
    ("kafka", "name", "severity", "effect"),
    [
        ("4.3", UNNUMBERED, FATAL, "fails when it starts"),
        ("2.8", "x.log.swap", FATAL, "fails when it starts"),
        ("4.3", "x.snapshot", FATAL, "fails when it starts"),
        ("4.3", "5.log", ERROR, "creates an empty segment at that offset"),
        ("4.3", "5.log.swap", ERROR, "creates an empty segment at that offset"),
        ("4.3", "5.snapshot", WARNING, "reads it as the producer snapshot of that offset"),
        ("4.3", "7.index", INFO, "deletes it when it starts"),
        ("4.3", "5.index", INFO, "ignores it"),
        ("4.3", "notes.txt", INFO, "ignores it"),
        ("0.10.2", "x.snapshot", INFO, "ignores it"),
    ],
)
def test_a_name_that_no_broker_writes(kafka: str, name: str, severity: Severity, effect: str) -> None:
    view = partition()._replace(files=frozenset({name, LOG}))
    (found,) = found_by(KC225, view, kafka)
    assert (severity, effect) == (found.severity, found.effect.removeprefix(f"Kafka {kafka} ").removesuffix("."))


@pytest.mark.parametrize(
    ("kafka", "name"),
    [("1.1", UNNUMBERED), ("2.8", "leader-epoch-checkpoint.swap"), ("1.0", "x.index.swap"), ("4.3", "5.index.swap")],
)
def test_what_ends_no_start_is_a_leftover_alone(kafka: str, name: str) -> None:
    """Up to 1.1 no number is looked for in a `.cleaned`, up to 2.8 only in the `.swap` of a segment file."""
    view = partition()._replace(files=frozenset({name, LOG}))
    assert not found_by(KC225, view, kafka)
    assert len(found_by(KC226, view, kafka)) == 1


def test_a_name_without_a_number_ends_the_start_before_leftovers_are_cleared() -> None:
    """Nothing else is said of `.cleaned` and `.swap`; up to that place `.deleted` are removed."""
    names = {UNNUMBERED, f"{LOG}.swap", "00000000000000000003.log.deleted"}
    view = partition()._replace(files=frozenset({LOG, *names}), swaps=())
    deleted, *others = sorted(found_by(KC226, view), key=lambda found: "removes" not in found.effect)
    assert deleted.effect == "Kafka 4.3 removes them when it starts."
    ends = f"Kafka 4.3 fails on the name of {UNNUMBERED} when it starts."
    assert [ends, ends] == [found.effect for found in others]


def test_many_files_that_no_start_looks_at_are_one_finding() -> None:
    """With their number and the first names; a name that ends the start has a finding of its own."""
    few = frozenset({LOG, *(f"x{number:03}.bak" for number in range(100))})
    assert 100 == len(found_by(KC225, partition()._replace(files=few)))
    many = partition()._replace(files=few | {"y.bak", "x.snapshot"}, strangers=7)
    of_all, fatal = sorted(found_by(KC225, many), key=lambda finding: finding.where.file or "")
    assert (None, INFO, 108) == (of_all.where.file, of_all.severity, of_all.data["count"])
    assert of_all.message.startswith("108 files are not Kafka files: x000.bak, ")
    assert of_all.message.endswith(" and 98 more")
    assert of_all.data["files"] == tuple(f"x{number:03}.bak" for number in range(100))
    assert ("x.snapshot", FATAL) == (fatal.where.file, fatal.severity)
