"""Rows that come in blocks, read one by one, and what a next command repeats."""

from kcheck.model.finding import Finding, Location, Severity, is_repairable
from kcheck.model.report import Block, CommandLine, Rows, RowSlice


def test_a_slice_gives_the_next_rows_of_its_source() -> None:
    """The rest is left for the next slice."""
    rows = Rows(iter([Block({"n": (1, 2)}), Block({"n": (3,)})]))
    assert [{"n": 1}, {"n": 2}] == [*RowSlice(rows, 2)]
    assert [{"n": 3}] == [*rows]


def test_a_next_command_repeats_the_options_that_it_takes() -> None:
    """A flag has no value."""
    typed = CommandLine(("d",), (("--kafka", "3.6"), ("--tidy", None), ("--topic", "a"), ("--topic", "b")))
    assert ("--kafka", "3.6", "--tidy") == typed.carried({"--kafka", "--tidy"})
    assert ("--topic", "a", "--topic", "b") == typed.carried(["--topic"])


def test_repair_mends_errors_that_have_a_repair() -> None:
    """Neither what nobody notices, nor what the broker mends itself."""
    item = Finding("KC211", "x", Severity.ERROR, Location(), "", "", "", repair={"names": ("y",)})
    assert is_repairable(item)
    assert not is_repairable(item._replace(repair=None))
    assert not is_repairable(item._replace(severity=Severity.WARNING))


def test_a_repair_that_discards_records_counts_only_beside_another_one() -> None:
    """It needs --accept-loss or --against."""
    item = Finding("KC141", "x", Severity.ERROR, Location(), "", "", "", repair={"names": ("cut-log",)})
    assert not is_repairable(item)
    assert is_repairable(item._replace(repair={"names": ("cut-log", "patch-batch-headers")}))
    assert not is_repairable(item._replace(id="KC144"))
    assert is_repairable(item._replace(id="KC143"))


def test_the_directory_of_a_file_system_has_no_repair() -> None:
    """Other names that no broker knows are moved aside."""
    item = Finding("KC301", "x", Severity.FATAL, Location(dir="old"), "", "", "", repair={"names": ("y",)})
    assert is_repairable(item)
    assert not is_repairable(item._replace(where=Location(dir="lost+found")))
