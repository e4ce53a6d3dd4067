"""The values in lines: numbers, lists, partitions, paths and times."""

import pytest

from kcheck.messages.times import milliseconds
from kcheck.messages.values import LogPlace, partition_of, path_place, typed


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("offset", "20", 20),
        ("offset", "-1", -1),
        ("offset", "20 [0 : 300]", 20),
        ("offset", "(offset=20 segment=[0:300])", 20),
        ("log_end_offset", "Some(7)", 7),
        ("high_watermark", "OptionalLong[7]", 7),
        ("offset", "unknown", "unknown"),
        ("offset", "1.5", "1.5"),
        ("base_offset", "LogSegment(baseOffset=42, size=1)", 42),
        ("base_offset", "/data/t-0/00000000000000000042.log", 42),
        ("base_offset", "?", "?"),
        ("isr", "1", (1,)),
        ("isr", "Set(1, 2)", (1, 2)),
        ("isr", "[1,2]", (1, 2)),
        ("isr", "", ()),
        ("isr", "one", "one"),
        ("partition", "t-0", "t-0"),
    ],
)
def test_values(name: str, text: str, value: object) -> None:
    assert {name: value} == typed((name,), (text,))


def test_values_inside_of_values() -> None:
    log = "Log(dir=/d/t-0, topic=t, partition=0, highWatermark=3, lastStableOffset=3, logStartOffset=1, logEndOffset=9)"
    assert {"log": log, "high_watermark": 3, "log_start_offset": 1, "log_end_offset": 9} == typed(("log",), (log,))
    segments = "LogSegment(baseOffset=5, size=1),LogSegment(baseOffset=9, size=1)"
    assert (5, 9) == typed(("segments",), (segments,))["base_offsets"]
    assert {"segments": "none"} == typed(("segments",), ("none",))


@pytest.mark.parametrize(
    ("text", "partition"),
    [
        ("t-0", ("t", 0)),
        ("[t,0]", ("t", 0)),
        ("AAAAAAAAAAAAAAAAAAAAAA:t-0", ("t", 0)),
        ("Partition(topic=t, partition=0)", ("t", 0)),
        ("'t-0'", ("t", 0)),
        ("t", None),
    ],
)
def test_partitions(text: str, partition: object) -> None:
    assert partition == partition_of(text)


@pytest.mark.parametrize(
    ("path", "is_file", "place"),
    [
        ("/d/t-0", False, LogPlace("t", 0, "/d")),
        ("/t-0", False, LogPlace("t", 0, "/")),
        ("t-0", False, LogPlace("t", 0)),
        ("/d/x", False, LogPlace()),
        ("/d/t-0/00000000000000000000.log", True, LogPlace("t", 0, "/d")),
        ("C:\\d\\t-0\\leader-epoch-checkpoint", True, LogPlace("t", 0, "C:\\d")),
        ("/data-0/recovery-point-offset-checkpoint", True, LogPlace(log_dir="/data-0")),
        ("/d/meta.properties", True, LogPlace(log_dir="/d")),
        ("x", True, LogPlace()),
    ],
)
def test_paths(path: str, is_file: bool, place: LogPlace) -> None:
    assert place == path_place(path, is_file=is_file)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1795395723456", 1795395723456),
        ("1795395723", 1795395723000),
        ("1795395723.456", 1795395723456),
        ("1795395723456789", 1795395723456),
        ("1795395723456789012", 1795395723456),
        ("2026-11-23 01:02:03,456", 1795395723456),
        ("2026-11-23T01:02:03.456789Z", 1795395723456),
        ("2026-11-23T02:02:03+01:00", 1795395723000),
        ("2026-11-22T20:02:03-0500", 1795395723000),
        ("2026-11-23T01:02:03.4", 1795395723400),
        ("2026-13-23 01:02:03", None),
        ("2026-11-23 01:02:03 PM", 1795438923000),
        ("Nov 23, 2026 1:02:03 AM", 1795395723000),
        ("Nov 23, 2026, 12:02:03 AM", 1795392123000),
        ("23 Nov 2026 01:02:03,456", 1795395723456),
        ("23/Nov/2026:01:02:03 +0000", 1795395723000),
        ("Mon Nov 23 01:02:03 UTC 2026", 1795395723000),
        ("Mon Nov 23 01:02:03 2026", 1795395723000),
        ("20261123T010203.456Z", 1795395723456),
        ("23.11.2026 01:02:03.456", 1795395723456),
        ("11/23/2026 01:02:03", 1795395723000),
        ("04/03/2026 01:02:03", None),
        ("03/03/2026 01:02:03", 1772499723000),
        ("2026-11-23 02:02:03,456 CET", 1795395723456),
        ("2026-11-22 20:02:03 EST", 1795395723000),
        ("2026-11-23 06:32:03+05:30", 1795395723000),
        ("2026-11-23 01:02:03 CST", None),
        ("2026-11-23 01:02:03 Europe/Berlin", None),
        ("26/11/23 01:02:03", None),
        ("yesterday", None),
        ("2026-11-23T01:02+01:00:00", None),
    ],
)
def test_times(text: str, time: int | None) -> None:
    assert time == milliseconds(text)
