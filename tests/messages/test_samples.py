"""What real brokers in trouble wrote, in every layout in which it can be pasted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.messages.frames import frame, without_logger
from kcheck.messages.lines import LogEvent
from kcheck.messages.values import LogPlace
from tests.messages.catalogue import read
from tests.messages.test_layouts import JSON_ROWS, LAYOUTS, WRAPPERS

FOLDER = Path(__file__).parents[2] / "fixtures" / "logs"
SAMPLES = sorted(FOLDER.glob("*/*ed.log"))
SHOWN = {"troubled": {"L008", "L048", "L143", "L164"}, "contested": {"L005", "L071", "L143", "L233"}}
"""Rules that each kind of sample shows."""
LINES = [line for path in SAMPLES for line in path.read_text("utf-8").splitlines()]
MESSAGES = sorted({without_logger(framed.message) for line in LINES if (framed := frame(line)) is not None})


def said(events: list[LogEvent]) -> list[object]:
    """Return what messages say, apart from their frame."""
    return [(one.rule and one.rule.id, dict(one.values), one.place) for one in events]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_each_line_is_explained(path: Path) -> None:
    """Frozen, on failed disks, with spoilt files: no WARN or ERROR of the broker is unknown.

    Below one that ends the broker its exception is shown even if it is: here that of a remote storage for tests.
    """
    events = read(*path.read_text("utf-8").splitlines())
    unknown = {one.message.partition(" '")[0] for one in events if one.rule is None}
    assert unknown <= {"java.lang.RuntimeException: Not able to create the storage directory"}
    assert SHOWN[path.stem] <= {one.rule.id for one in events if one.rule}


def test_the_numbers_are_those_of_the_lines() -> None:
    """They were read by hand, in the log of 4.3.1."""
    path = FOLDER / "4.3.1" / "troubled.log"
    events = {one.rule.id: one for one in reversed(read(*path.read_text("utf-8").splitlines())) if one.rule}
    assert {"broker": 2, "offset": 387, "new_offset": 1} == events["L190"].values
    assert {"partition": "prices-0", "offset": 500, "log_end_offset": 0, "log_start_offset": 0} == events["L108"].values
    assert (2, "/var/lib/kafka/data2") == (events["L048"].place.broker, events["L048"].place.log_dir)
    assert ("orders", 0, 2) == events["L145"].place[:2] + events["L145"].place[3:4]


@pytest.mark.sample(22)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_message_says_the_same_in_each_layout(layout: str) -> None:
    for message in MESSAGES:
        plain = read(f"[2026-11-23 01:02:03,456] WARN {message} (kafka.log.UnifiedLog)")
        assert said(plain) == said(read(layout.format(message))), message
        assert said(plain) == said(read(layout.format(message) + "\r")), message


@pytest.mark.parametrize("row", JSON_ROWS)
def test_each_message_says_the_same_in_json(row: dict[str, object]) -> None:
    for message in MESSAGES:
        plain = read(f"[2026-11-23 01:02:03,456] WARN {message} (kafka.log.UnifiedLog)")
        assert said(plain) == said(read(json.dumps({**row, "message": message}))), message


@pytest.mark.parametrize("wrapped", WRAPPERS)
def test_a_wrapped_log_says_the_same(wrapped: Callable[[str], str]) -> None:
    """Line by line, with its exceptions."""
    assert said(read(*LINES)) == said(read(*map(wrapped, LINES)))


def test_the_numbers_of_a_contested_broker_are_those_of_the_lines() -> None:
    """They were read by hand in the log of 4.3.1: an end below the log start, a forbidden file, remote storage."""
    text = (FOLDER / "4.3.1" / "contested.log").read_text("utf-8")
    events = {one.rule.id: one for one in reversed(read(*text.splitlines())) if one.rule}
    assert {"partition": "expiring-0", "offset": 5, "leader_log_start_offset": 15} == events["L071"].values
    assert {"event": "writeNoOpRecord", "ms": 3508} == events["L231"].values
    assert LogPlace("orders", 1, "/var/lib/kafka/data1") == events["L233"].place
    assert LogPlace("tiered", 0, None, 1) == events["L180"].place
    assert LogPlace("tiered", 0) == events["L181"].place
