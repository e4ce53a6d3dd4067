"""What two runs do not share: each finding is told once, those of one place together."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.fleet.run import open_run
from kcheck.fleet.runs import diff as fleet_diff
from kcheck.fleet.runs.diff import diff
from kcheck.model.finding import Severity
from tests.fleets import Rows, finding, forged
from tests.reports import document


def every(rule: str, severity: Severity) -> bool:
    del rule, severity
    return True


def compared(
    folder: Path, before: Rows, after: Rows, shown: Any = every, fails: Any = every
) -> tuple[dict[str, Any], bool]:
    """Return the differences as a document, and whether something that fails is new."""
    seen = [{name: row.get(name) for name in ("cluster", "broker", "log_dir")} for row in (*before, *after)]
    log_dirs = [*{str(row): row for row in seen}.values()]
    runs = [
        open_run(str(forged(folder, name, findings=rows, log_dirs=log_dirs)))
        for name, rows in (("a", before), ("b", after))
    ]
    report, failed = diff(runs[0], runs[1], shown, fails)
    return document(report), failed()


def told(found: Mapping[str, Any], *names: str) -> list[tuple[Any, ...]]:
    """Return fields of the differences."""
    return [tuple(row[name] for name in ("change", *names)) for row in found["changes"]]


def counts(found: Mapping[str, Any]) -> dict[str, int]:
    """Return how many of each change there are."""
    return {row["change"]: row["findings"] for row in found["counts"]}


def test_what_is_the_same_is_only_counted(tmp_path: Path) -> None:
    """Also if what to do about it is said in other words, and where rows stand in another order."""
    rows = [finding(), finding(), finding(line=4), finding(id="KC101")]
    other = [{**row, "advice": "other", "effect": "other", "broker_id": None} for row in reversed(rows)]
    found, failed = compared(tmp_path, rows, other)
    assert ([], {"new": 0, "gone": 0, "unknown": 0, "changed": 0, "same": 4}, False) == (
        found["changes"],
        counts(found),
        failed,
    )
    assert ("a", "b") == (found["before"]["run"], found["after"]["run"])


def test_what_is_new_and_gone_is_told(tmp_path: Path) -> None:
    """By every part of its place; one more of what there was is new, too."""
    names = ("cluster", "broker", "log_dir", "dir", "file", "id")
    found, failed = compared(tmp_path, [finding()], [finding(), finding(), *(finding(**{name: "x"}) for name in names)])
    assert Counter({"new": 7}) == Counter(change for (change,) in told(found))
    assert failed
    found, failed = compared(tmp_path / "x", [finding(), finding(topic="gone", dir=None)], [])
    assert [("gone", None), ("gone", "t-0")] == told(found, "dir")
    assert not failed
    assert {"info": 0, "warning": 0, "error": 0, "fatal": 0} == found["summary"]


def test_what_moved_or_is_said_otherwise_has_changed(tmp_path: Path) -> None:
    """It is told with what was before; where several are about a file, those of one line belong together."""
    before = [finding(line=3, message="was", data='{"n": 1}'), *(finding(id="KC102", line=line) for line in (1, 2, 3))]
    after = [
        finding(line=9, message="is", data='{"n": 2}'), finding(id="KC102", line=2, severity="fatal"),
        *(finding(id="KC102", line=line) for line in (1, 4, 5)),
    ]  # fmt: skip
    found, _ = compared(tmp_path, before, after)
    assert [
        ("changed", "KC102", 2, "fatal"), ("gone", "KC102", 3, "error"), ("new", "KC102", 4, "error"),
        ("new", "KC102", 5, "error"), ("changed", "KC201", 9, "error"),
    ] == told(found, "id", "line", "severity")  # fmt: skip
    last = found["changes"][-1]
    was = {"severity": "error", "line": 3, "position": None, "message": "was", "data": {"n": 1}}
    assert (was, {"n": 2}) == (last["before"], last["data"])
    assert {"new": 2, "gone": 1, "unknown": 0, "changed": 2, "same": 1} == counts(found)
    assert (0, 2) == (found["summary"]["fatal"], found["summary"]["error"])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], ["warning"], False),
        ([], ["error"], True),
        (["error"], ["error"], False),
        (["error"], [], False),
        (["warning"], ["error"], True),
        (["error"], ["fatal"], False),
        (["fatal"], ["info"], False),
    ],
)
def test_only_what_is_new_fails(before: Sequence[str], after: Sequence[str], expected: bool, tmp_path: Path) -> None:
    """And what has become one that does; whether it is shown or not."""
    rows = [[finding(severity=severity) for severity in each] for each in (before, after)]
    for shown in (every, lambda *_: False):
        folder = tmp_path / str(shown is every)
        found, failed = compared(
            folder, rows[0], rows[1], shown, lambda _, severity: severity.rank >= Severity.ERROR.rank
        )
        assert expected == failed
        assert (shown is every and before != after) == bool(found["changes"])


def test_a_change_is_shown_by_one_of_its_sides(tmp_path: Path) -> None:
    """What became harmless is told to whoever looks for errors."""
    found, _ = compared(
        tmp_path, [finding(), finding(id="KC101", severity="info")], [finding(severity="info")],
        lambda _, severity: severity is Severity.ERROR,
    )  # fmt: skip
    assert [("changed", "KC201", "info")] == told(found, "id", "severity")
    assert {"new": 0, "gone": 0, "unknown": 0, "changed": 1, "same": 0} == counts(found)


FEW = st.lists(
    st.builds(
        finding, broker=st.sampled_from(["1", "2", None]), id=st.sampled_from(["KC101", "KC201"]),
        line=st.sampled_from([None, 1, 2]), severity=st.sampled_from(["info", "error"]),
        dir=st.sampled_from(["t-0", None]),
    ),
    max_size=12,
)  # fmt: skip


@given(before=FEW, after=FEW)
def test_each_finding_is_told_once(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    """As new or changed or the same, as gone or changed or the same; in order."""
    names = ("broker", "id", "dir", "line", "severity")
    at = [fleet_diff._NAMES.index(name) for name in names]
    sides = [[(*(row.get(name) for name in fleet_diff._NAMES), "d") for row in each] for each in (before, after)]
    said = {"same": 0}
    found = [*fleet_diff._compared(sides[0], sides[1], said)]
    told = [
        Counter(row for row in each if row is not None)
        for each in ((change.before for change in found), (change.after for change in found))
    ]
    same = [Counter(side) - each for side, each in zip(sides, told, strict=True)]
    assert same[0] == same[1]
    assert said["same"] == same[0].total() == len(before) - told[0].total() == len(after) - told[1].total()
    lonely = [
        {tuple(row[number] for number in at[:4]) for row in rows if row is not None}
        for rows in (
            [change.after for change in found if change.before is None],
            [change.before for change in found if change.after is None],
        )
    ]
    assert not lonely[0] & lonely[1]
    order = [
        tuple((change.after or change.before or ())[number] or "" for number in (at[0], at[2], at[1]))
        for change in found
    ]
    assert sorted(order) == order


@pytest.mark.parametrize(
    ("change", "after", "expected"),
    [
        ({}, {}, "gone"),
        ({"log_dir": "/e"}, {}, "unknown"),
        ({"broker": "2"}, {}, "unknown"),
        ({"log_dir": None}, {}, "gone"),
        ({"log_dir": None}, {"finished": False}, "unknown"),
        ({}, {"findings": [finding(id="KC001", dir=None)]}, "unknown"),
        ({}, {"findings": [finding(id="KC000")]}, "unknown"),
        ({}, {"findings": [finding(id="KC001", dir="u-0")]}, "gone"),
        ({"id": "KC141"}, {}, "gone"),
        ({"id": "KC141"}, {"depth": "checkpoints"}, "unknown"),
        ({"id": "KC201"}, {"depth": "checkpoints"}, "gone"),
    ],
)
def test_what_was_not_looked_at_is_not_gone(
    change: dict[str, Any], after: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """Log dirs that the later run lacks or could not read, and rules that it did not ask."""
    before = open_run(str(forged(tmp_path, "a", findings=[finding(**change)])))
    report, _ = diff(before, open_run(str(forged(tmp_path, "b", **after))), every, every)
    (row,) = (row for row in document(report)["changes"] if row["change"] != "new")
    assert expected == row["change"]


def mounted(root: str, *log_dirs: tuple[str, str | None], broker: str = "1") -> Rows:
    """Return the log dirs of a broker below a mount point."""
    return [
        {"cluster": "c", "broker": broker, "log_dir": f"{root}/{name}", "directory_id": directory_id}
        for name, directory_id in log_dirs
    ]


@pytest.mark.parametrize(
    ("before", "after", "log_dirs", "same"),
    [
        ((("d1", "A"), ("d2", "B")), (("e1", "A"), ("e2", "B")), ("d1", "e1"), 1),
        ((("d1", "A"), ("d2", "B")), (("d1", "B"), ("d2", "A")), ("d1", "d1"), 0),
        ((("d1", None), ("d2", None)), (("d1", None), ("d2", None)), ("d2", "d2"), 1),
        ((("d1", None),), (("e1", None),), ("d1", "e1"), 1),
        ((("x/d", None), ("y/d", None)), (("x/d", None), ("y/d", None)), ("x/d", "x/d"), 0),
    ],
)
def test_a_log_dir_is_the_same_wherever_it_is_mounted(
    before: Sequence[tuple[str, str | None]], after: Sequence[tuple[str, str | None]],
    log_dirs: tuple[str, str], same: int, tmp_path: Path,
) -> None:  # fmt: skip
    """By its directory id; without one by its name, if that is unique at its broker."""
    runs = [
        open_run(str(forged(
            tmp_path, name, log_dirs=mounted(root, *held),
            findings=[finding(cluster="c", broker="1", log_dir=f"{root}/{log_dir}")],
        )))
        for name, root, held, log_dir in (("a", "/mnt/a", before, log_dirs[0]), ("b", "/b", after, log_dirs[1]))
    ]  # fmt: skip
    report, _ = diff(runs[0], runs[1], every, every)
    assert same == counts(document(report))["same"]


def test_many_shares_tell_the_same_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same order."""
    sides = [
        [
            finding(broker=f"{at * factor % 5}", dir=f"t-{at % 7}", line=at % 3, message=f"{at % factor}")
            for at in range(90)
        ]
        for factor in (2, 3)
    ]
    whole, _ = compared(tmp_path / "one", sides[0], sides[1])
    monkeypatch.setattr(fleet_diff, "_HELD_COUNT", 20)
    assert whole["changes"] == compared(tmp_path / "many", sides[0], sides[1])[0]["changes"]
    assert len(whole["changes"]) > 20


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more findings are held than a share has, a few times over, and nothing is left of what was spread."""
    monkeypatch.setattr(fleet_diff, "_HELD_COUNT", 2000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    original, sizes = fleet_diff._compared, []

    def many(start: int) -> Iterator[dict[str, Any]]:
        for number in range(start, start + 20_000):
            yield finding(broker=str(number % 7), dir=f"t-{number % 97}", line=number)

    def measured(before: Any, after: Any, said: dict[str, int]) -> Any:
        held = [*before], [*after]
        sizes.append(len(held[0]) + len(held[1]))
        yield from original(held[0], held[1], said)

    monkeypatch.setattr(fleet_diff, "_compared", measured)
    found, _ = compared(tmp_path, [*many(0)], [*many(500)])
    told = counts(found)
    assert (19_500, 500, 500) == (told["same"], told["new"] + told["changed"], told["gone"] + told["changed"])
    assert (40_000, True) == (sum(sizes), max(sizes) < 3 * 2000)
    assert ["run=a", "run=b"] == sorted(path.name for path in tmp_path.iterdir())
