"""`--kafka`, `--ibp` and `--message-format` select one row; what else a release does is one table."""

import ast
import functools
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.releases import TABLE, release, with_profile
from kcheck.errors import UsageError
from kcheck.model.behaviour import Behaviour
from kcheck.model.behaviours import BEHAVIOURS
from kcheck.model.release import HashTable, Release

KCHECK = Path(kcheck.__file__).parent
COMPARES = KCHECK / "model" / "behaviour.py"
"""The only module that compares a version."""


@pytest.mark.parametrize(
    ("kafka", "ibp", "profile"),
    [
        ("0.8.2", None, "P0"), ("0.10.2.2", None, "P0"), ("0.11.0.2", None, "P1a"), ("0.11.0", None, "P1b"),
        ("1.0.1", None, "P1a"), ("1.0", None, "P1b"), ("1.1.0", None, "P1a"), ("1.1.1", None, "P1b"),
        ("2.0.0", None, "P2"), ("2.0", None, "P3"), ("2.6.0", None, "P3"), ("2.6", None, "P4"), ("2.7", None, "P4"),
        ("2.8.0", None, "P5_280"), ("2.8", None, "P5"), ("3.9", None, "P5"), ("4.3", None, "P5"),
        ("2.8", "2.6", "P4"), ("3.9", "2.7-IV0", "P4"), ("3.9", "2.7-IV1", "P5"), ("2.3", "0.10.2", "P0"),
        ("2.0.0", "1.0", "P2"), ("2.3", "1.1", "P4v0"), ("2.7", "0.11.0-IV2", "P4v0"), ("2.7", "0.11.0-IV1", "P0"),
        ("1.1", "0.10.2", "P0"), ("1.1", "0.11.0", "P1b"), ("4.3", "3.3-IV3", "P5"), ("3.9", "2.7.1", "P5"),
    ],
)  # fmt: skip
def test_profile(kafka: str, ibp: str | None, profile: str) -> None:
    """A line means its newest release; a lower protocol version selects the older behaviour."""
    assert profile == release(kafka, ibp=ibp).profile


@pytest.mark.parametrize(
    ("kafka", "ibp"),
    [
        ("9.9", None), ("4.3.9", None), ("x", None), ("4", None), ("4.3.1.1", None), ("", None), ("4.³", None),
        ("4.3", "3.3-IV2"), ("4.3", "2.8"), ("2.8", "3.0"), ("2.8", "2.7-IV9"), ("2.8", "2.7-IV"), ("2.8", "x"),
        ("2.8", "2.7-IVx"), ("2.8", "2.7-IV²"), ("3.9", "5.0"),
    ],
)  # fmt: skip
def test_unknown_is_a_usage_error(kafka: str, ibp: str | None) -> None:
    """It names what is known."""
    with pytest.raises(UsageError):
        release(kafka, ibp=ibp)


def test_rows_follow_each_other() -> None:
    """Every release from the first to the last of a row selects it."""
    for row in TABLE:
        for name in (row.first, row.last):
            resolved = release(name)
            assert (row.profile, row.reader, row.epoch_load) == (
                resolved.profile,
                resolved.reader,
                resolved.epoch_load,
            ), name
            assert name == resolved.name


def test_levels_ascend() -> None:
    """Each line begins with a metadata.version level that the line before does not begin with."""
    levels = [row.level for row in TABLE if row.level is not None]
    assert levels == sorted({*levels})


def test_message_format_counts_where_the_broker_looks_at_it() -> None:
    """From 2.1.1 to 3.x with a protocol below 3.0 an old format leaves no cache."""
    assert not release("2.4", message_format="0.10.2").epoch_cache
    assert release("2.4", message_format="0.11.0").epoch_cache
    assert release("2.1.0", message_format="0.10.2").epoch_cache
    assert release("3.9", message_format="0.10.2").epoch_cache
    assert not release("3.9", ibp="2.8", message_format="0.10.2").epoch_cache
    assert not release("0.10.2").epoch_cache


def test_a_profile_can_be_forced() -> None:
    """`--profile` changes the dialogue, not the files."""
    forced = with_profile(release("4.3"), "p1A")
    assert (forced.profile, forced.lookup, forced.reader) == ("P1a", "L1a", "R6")
    assert with_profile(release("4.3"), "P0").lookup is None
    with pytest.raises(UsageError, match="P5_280"):
        with_profile(release("4.3"), "P9")


@pytest.mark.parametrize("row", BEHAVIOURS, ids=lambda row: row.name)
def test_a_row_names_known_releases_and_one_sentence(row: Behaviour) -> None:
    """Each limit is a line or a release, `since` is older than `until`, and the row has one sentence."""
    limits = [name for name in (row.since, row.but_not, row.until) if name is not None]
    numbers = [[*map(int, name.split("."))] for name in limits]
    assert all(release(name).version for name in limits)
    assert numbers == sorted(numbers)
    assert row.since or row.until
    assert row.says[0].isupper()
    assert row.says.endswith(".")
    assert ". " not in row.says
    assert row.reference is None or row.reference.startswith(("KAFKA-", "KIP-"))


@pytest.mark.parametrize(
    ("name", "does", "does_not"),
    [
        ("checks_indexes", "0.8.2.0 2.2.2", "2.3.0 4.4.0"), ("reads_zstd", "2.1.0 4.4.0", "0.8.2.0 2.0.1"),
        ("makes_missing_indexes", "1.1.0 2.2.2", "1.0.2 2.3.0"), ("is_kraft_only", "4.0.0 4.4.0", "3.9.2"),
        ("begins_empty_log_with_batch", "1.0.2 1.1.1 2.0.0", "1.0.1 1.1.0"),
        ("splits_batch_by_batch", "3.9.1 3.9.2 4.0.1 4.1.0", "3.9.0 4.0.0"),
        ("exits_out_of_range_without_unclean_election", "0.8.2.0 2.0.0", "2.0.1"),
        ("recovery_skips_epoch_zero", "2.1.1 2.6.0", "2.1.0 2.6.1"), ("keeps_wiped_snapshots", "3.0.2", "2.8.2 3.1.0"),
        ("needs_segment_to_delete", "2.2.1", "2.2.0 2.2.2"), ("aborts_without_topic_id", "3.7.0", "3.6.2 3.7.1"),
        ("cuts_deleted_names_at_dot", "0.10.2.0 0.10.2.1", "0.10.1.1 0.10.2.2"),
        ("throws_several_snapshot_errors", "0.11.0.0", "0.10.2.2 0.11.0.1"),
        ("marker_leaves_timestamp", "1.0.0 2.4.0", "0.11.0.3 2.4.1"),
        ("outlives_bad_partition_files", "3.2.1 4.4.0", "3.2.0"), ("applies_diverging_fetches", "2.8.0 3.4.0", "3.4.1"),
    ],
)  # fmt: skip
def test_a_behaviour_has_its_releases(name: str, does: str, does_not: str) -> None:
    """The first release does it, the one of `until` does not, and a release may be left out."""
    answers = {version: getattr(release(version), name) for version in f"{does} {does_not}".split()}
    assert dict.fromkeys(does.split(), True) | dict.fromkeys(does_not.split(), False) == answers


def test_hash_tables_follow_scala_and_java() -> None:
    """The producers of a snapshot moved to Java's map before those of a replay."""
    tables = {name: (release(name).producer_table, release(name).replay_table) for name in ("2.3", "2.4", "3.5", "4.0")}
    assert tables == {
        "2.3": (HashTable.SCALA_2_12, HashTable.SCALA_2_12),
        "2.4": (HashTable.SCALA_2_13, HashTable.SCALA_2_13),
        "3.5": (HashTable.JAVA, HashTable.SCALA_2_13),
        "4.0": (HashTable.JAVA, HashTable.JAVA_COMPUTED),
    }


def test_a_release_that_was_asked_is_the_same_value() -> None:
    """An answer is kept, but neither compared, nor printed, nor pickled, nor taken over to another version."""
    asked, fresh = release("2.2"), release("2.2")
    assert asked.checks_indexes
    assert (asked, hash(asked), repr(asked), pickle.dumps(asked)) == (
        fresh, hash(fresh), repr(fresh), pickle.dumps(fresh),
    )  # fmt: skip
    assert pickle.loads(pickle.dumps(asked)) == asked
    assert not asked._replace(version=(2, 3, 0)).checks_indexes


def test_a_row_can_be_read_from_the_class() -> None:
    """The class has the row, a value has the answer."""
    assert Release.has_kraft.since == "3.0"
    assert Release.has_kraft in BEHAVIOURS


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax of each module of kcheck."""
    return {path: ast.parse(path.read_text("utf-8")) for path in KCHECK.rglob("*.py")}


def test_no_version_is_compared_outside_of_the_table() -> None:
    """A decision that changes with the release asks a behaviour by its name."""
    assert not [f"{path}:{line}" for path, tree in trees().items() if path != COMPARES for line in _compared(tree)]


def test_every_behaviour_is_asked() -> None:
    """A row that nobody asks says nothing about kcheck."""
    names = {node.attr for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {row.name for row in BEHAVIOURS} - names


@pytest.mark.parametrize(
    "text",
    [
        "release.version >= (3, 3)", "self._release.version < LIMIT", "(2, 8) <= version", "f(context.release.version)",
        "LIMIT = (3, 7)\nversion < LIMIT",
    ],
)  # fmt: skip
def test_a_comparison_would_be_seen(text: str) -> None:
    """Whatever it is written like."""
    assert [*_compared(ast.parse(text))]


def _compared(tree: ast.Module) -> Iterator[int]:
    """Return the lines that ask a release for its version, or order anything by the numbers of a version."""
    limits = {
        target.id for node in tree.body if isinstance(node, ast.Assign) and _is_version(node.value)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "version" and "release" in ast.unparse(node.value):
            yield node.lineno
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            sides = (node.left, *node.comparators)
            if any(_is_version(side) or (isinstance(side, ast.Name) and side.id in limits) for side in sides):
                yield node.lineno


def _is_version(node: ast.expr) -> bool:
    numbers = node.elts if isinstance(node, ast.Tuple) else []
    return bool(numbers) and all(
        isinstance(number, ast.Constant) and isinstance(number.value, int) for number in numbers
    )
