"""The layouts of lines: those of brokers, of pages and consoles, of JSON and of collectors."""

import json
from collections.abc import Callable

import pytest

from kcheck.messages.frames import frame, unwrapped, without_outer
from kcheck.messages.lines import pasted
from kcheck.messages.values import LogPlace
from tests.messages.catalogue import CATALOGUE, log_line, only, read

BELOW = "[UnifiedLog partition=t-0, dir=/data/a b] Truncating t-0 to offset 5 below high watermark 7"

LAYOUTS = (
    "[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "2026-11-23 01:02:03,456 WARN {} (kafka.log.UnifiedLog) [ReplicaFetcherThread-0-1]",
    "2026-11-23T01:02:03.456Z WARN  [main] UnifiedLog:66 - {}",
    "2026-11-23 01:02:03.456 [main] WARN  kafka.log.UnifiedLog - {}",
    "2026-11-23 02:02:03,456+0100 WARN kafka.log.UnifiedLog: {}",
    "[pod/kafka-0/kafka] [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "2026-11-23T01:02:04.1Z stdout F [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "Nov 23 01:02:03 host kafka-server-start.sh[12]: [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "kafka-1  | [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "server.log.1:77:[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "\x1b[33m[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)\x1b[m",
    "[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog:66)",
    "2026-11-23T01:02:04.123456789Z [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "my-cluster-kafka-0 kafka [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "WARN [2026-11-23 01:02:03,456] {} (kafka.log.UnifiedLog)",
    "kafka-1  | WARN 2026-11-23 01:02:03,456 kafka.log.UnifiedLog: {}",
    "2026/11/23 01:02:03,456 WARN {} (kafka.log.UnifiedLog)",
    "[2026-11-23 01:02:03,456 UTC] WARN {} (kafka.log.UnifiedLog)",
    "2026-11-23 02:02:03,456 +0100 WARN  [kafka.log.UnifiedLog] (main) {}",
    "2026-11-23 01:02:03,456 [main] WARN kafka.log.UnifiedLog [] - {}",
    "2026-11-23 01:02:03,456 - WARN - kafka.log.UnifiedLog - {}",
    "2026-11-23 01:02:03,456\tWARN\t{} (kafka.log.UnifiedLog)",
    "[2026-11-23T01:02:03,456][WARN ][kafka.log.UnifiedLog] {} (kafka.log.UnifiedLog)",
    "<165>1 2026-11-23T01:02:03.456Z host kafka 12 - - [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)",
    "<12>1 2026-11-23T01:02:03.456+00:00 host kafka 12 - [x@1 a='b'] WARN {} (kafka.log.UnifiedLog)",
    "2026-11-23T01:02:03.456+00:00 host kafka[12]: WARN {} (kafka.log.UnifiedLog)",
    "23 Nov 2026 01:02:03,456 WARN {} (kafka.log.UnifiedLog)",
    "23 Nov 2026 01:02:03,456 [main] WARN kafka.log.UnifiedLog - {}",
    "[23/Nov/2026:01:02:03 +0000] WARN {} (kafka.log.UnifiedLog)",
    "Mon Nov 23 01:02:03 UTC 2026 WARN {} (kafka.log.UnifiedLog)",
    "Nov 23, 2026 1:02:03 AM WARNING: {} (kafka.log.UnifiedLog)",
    "20261123 01:02:03.456 WARN [main] kafka.log.UnifiedLog: {}",
    "[2026-11-22 20:02:03,456 EST] WARN {} (kafka.log.UnifiedLog)",
    "1795395723456 WARN {} (kafka.log.UnifiedLog)",
    "2026-11-23 01:02:03.456 kafka.log.UnifiedLog - WARN - {}",
    "2026-11-23 01:02:03.456  WARN 12 --- [kafka] [           main] kafka.log.UnifiedLog                     : {}",
    "2026-11-23 01:02:03,456 | WARN  | main             | kafka.log.UnifiedLog | {}",
    "2026-11-23 01:02:03,456|WARN|main|kafka.log.UnifiedLog|{}",
    "2026-11-23 01:02:03,456 WARN  k.l.UnifiedLog [main] {}",
    "2026-11-23 01:02:03,456 WARN  kafka.log.UnifiedLog:66 [main] [method] {}",
    "2026-11-23 01:02:03,456 WARN kafka.log.UnifiedLog {}",
    "[2026-11-23 01:02:03,456] [warn] [kafka.log.UnifiedLog] {}",
    "\ufeff[2026-11-23 01:02:03,456]WARN {} (kafka.log.UnifiedLog)",
    'ts=2026-11-23T01:02:03.456Z level=warn logger=kafka.log.UnifiedLog msg="{}"',
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    event = only(layout.format(BELOW))
    assert event.rule is not None
    assert ("L063", "WARN", {"partition": "t-0", "offset": 5, "high_watermark": 7}) == (
        event.rule.id,
        event.level,
        event.values,
    )
    assert event.time is not None
    assert event.time // 1000 == 1795395723
    assert LogPlace("t", 0, "/data/a b") == event.place
    assert event.logger is not None
    assert event.logger.endswith("UnifiedLog")


UNTIMED = (
    "01:02:03,456 WARN  [kafka.log.UnifiedLog] (main) {}",
    "WARN  01:02:03.456 [main] kafka.log.UnifiedLog - {}",
    "[main] WARN kafka.log.UnifiedLog - {}",
    "kafka.log.UnifiedLog - WARN - {}",
    "1234 [main] WARN kafka.log.UnifiedLog  - {}",
    "Nov 23 01:02:03 host kafka[12]: WARN {} (kafka.log.UnifiedLog)",
    "WARN: {} (kafka.log.UnifiedLog)",
    "[WARN] kafka.log.UnifiedLog: {}",
    "WARN [kafka.log.UnifiedLog] {}",
)
"""They have no date, or no year."""
PASTED = (
    "`[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)`",
    "{{code:java}}[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog){{code}}",
    "> | [2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog) |",
    "<pre>[2026-11-23 01:02:03,456] WARN {} (kafka.log.UnifiedLog)</pre>",
)


@pytest.mark.parametrize("layout", [*UNTIMED, *PASTED])
def test_layouts_of_pages_and_consoles(layout: str) -> None:
    event = only(layout.format(BELOW))
    assert event.rule is not None
    assert ("L063", "WARN", LogPlace("t", 0, "/data/a b")) == (event.rule.id, event.level, event.place)
    assert ("kafka.log.UnifiedLog", layout in PASTED) == (event.logger, event.time is not None)


JSON_ROWS: tuple[dict[str, object], ...] = (
    {"@timestamp": "2026-11-23T01:02:03.456Z", "level": "warning", "logger_name": "kafka.log.UnifiedLog"},
    {"instant": {"epochSecond": 1795395723, "nanoOfSecond": 456000000}, "level": "WARN", "loggerName": "x.UnifiedLog"},
    {"timeMillis": 1795395723456, "level": "WARN", "loggerName": "x.UnifiedLog"},
    {"time": "2026-11-23 01:02:03,456", "log": {"level": "WARN", "logger": "x.UnifiedLog"}},
    {"ts": 1795395723.456, "level": "warn", "logger": "x.UnifiedLog"},
    {"timestamp": 1795395723.456, "level": 4, "_logger": "x.UnifiedLog"},
    {"@timestamp": "2026-11-23T01:02:03.456Z", "log.level": "WARN", "log.logger": "x.UnifiedLog", "ecs.version": "1.2"},
    {"Timestamp": "2026-11-23T01:02:03.456Z", "Level": "Warn", "Logger": "x.UnifiedLog"},
    {"date": "2026-11-23 01:02:03,456", "priority": "WARN", "category": "x.UnifiedLog"},
    {"timeUnixNano": "1795395723456000000", "severityText": "WARN", "scope": {"name": "x.UnifiedLog"}},
)


@pytest.mark.parametrize("row", JSON_ROWS)
def test_json_layouts(row: dict[str, object]) -> None:
    line = json.dumps({**row, "message": BELOW})
    for text in (line, f"kafka-0 kafka {line}", json.dumps({"jsonPayload": {**row, "message": BELOW}})):
        event = only(text)
        assert event.rule is not None
        assert ("L063", "WARN", 1795395723) == (event.rule.id, event.level, (event.time or 0) // 1000)


@pytest.mark.parametrize("name", ["textPayload", "_raw", "body"])
def test_a_line_in_a_field_of_a_cloud(name: str) -> None:
    line = log_line(BELOW, level="WARN")
    event = only(json.dumps({"result": {name: line, "severity": "INFO", "host": "h"}}))
    assert event == only(json.dumps({"body": {"stringValue": line}}))
    assert event.rule is not None
    assert ("L063", "WARN", "kafka.log.UnifiedLog") == (event.rule.id, event.level, event.logger)


def test_a_value_of_a_pair_can_be_quoted() -> None:
    event = only('level=error msg="Error while loading log dir C:\\\\data\\n\\"x\\"" a=')
    assert event.rule is not None
    assert ("L005", 'Error while loading log dir C:\\data\n"x"') == (event.rule.id, event.message)


@pytest.mark.parametrize("text", ["a=b", "level=warn", 'level=warn msg="unclosed', "msg=x", "x level=warn msg=y"])
def test_what_is_no_line_of_pairs(text: str) -> None:
    assert frame(text) is None


def test_json_around_a_line() -> None:
    """Docker keeps the line of the broker in a field; a message can be a line too."""
    line = log_line(BELOW, level="WARN")
    for name in ("log", "message"):
        event = only(json.dumps({name: line + "\n" * (name == "log"), "stream": "stdout"}))
        assert event.rule is not None
        assert ("L063", "kafka.log.UnifiedLog") == (event.rule.id, event.logger)
    no_frame = only(json.dumps({"log": BELOW, "time": "2026-11-23T01:02:03.456789Z"}))
    assert no_frame.rule is not None
    assert 1795395723456 == no_frame.time


def test_a_message_with_its_own_frame_has_the_level_in_it() -> None:
    """Agents of clouds add a level of their own."""
    event = only(json.dumps({"severity": "INFO", "message": log_line(BELOW, level="WARN")}))
    assert ("WARN", "kafka.log.UnifiedLog") == (event.level, event.logger)


def test_graylog_has_a_short_message() -> None:
    event = only(json.dumps({"short_message": BELOW, "level": 3, "timestamp": 1795395723.456}))
    assert ("ERROR", 1795395723456) == (event.level, event.time)


def test_a_default_layout_has_no_day() -> None:
    event = only(f"01:02:03.456 [main] WARN  kafka.log.UnifiedLog - {BELOW}")
    assert event.rule is not None
    assert ("L063", "WARN", None) == (event.rule.id, event.level, event.time)


WRAPPERS = (
    lambda line: json.dumps({"log": f"{line}\n", "stream": "stdout"}),
    lambda line: json.dumps({"MESSAGE": line, "PRIORITY": "6"}),
    lambda line: json.dumps({"MESSAGE": [*line.encode()], "PRIORITY": "6"}),
    lambda line: f"my-cluster-kafka-0 kafka {line}",
    lambda line: f"[pod/kafka-0/kafka] {line}",
)


@pytest.mark.parametrize("wrapped", WRAPPERS)
def test_a_stack_trace_is_unwrapped_line_by_line(wrapped: Callable[[str], str]) -> None:
    """Collectors write each of its lines as one of their own; journald has those with odd characters as bytes."""
    lines = (
        log_line("Error while writing to checkpoint file /d/replication-offset-checkpoint", level="ERROR"),
        "java.io.IOException: No space left on device",
        "\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:349)",
    )
    expected = [(1, "L027"), (2, "L165")]
    assert expected == [(one.line, one.rule and one.rule.id) for one in read(*map(wrapped, lines))]
    assert expected == [
        (one.line, one.rule and one.rule.id) for one in pasted(CATALOGUE, "\n".join(map(wrapped, lines)))
    ]


def test_all_that_collectors_write_in_front_of_a_line_goes() -> None:
    """One collector can have read what another has written; colours go too."""
    assert without_outer("[pod/kafka-0/kafka] 2025-06-30T12:00:00.000Z stdout F \x1b[31mERROR\x1b[0m") == "ERROR"
    assert without_outer("kafka-0 kafka at java", "kafka-0 kafka ") == "at java"


@pytest.mark.parametrize(
    "line",
    [
        '{"log": ',
        '{"log": []}',
        '{"log": [256]}',
        '{"log": [true]}',
        '{"message": "m", "level": "INFO"}',
        '{"a": 1}',
        "a",
    ],
)
def test_what_wraps_no_line_stays(line: str) -> None:
    assert line == unwrapped(line)


@pytest.mark.parametrize("text", ["{", "{}", "[1]}", '{"a": {"b": 1}}', '{"message": {}}', "{" * 9000 + "}" * 9000])
def test_what_is_no_json_of_a_log_is_no_frame(text: str) -> None:
    assert frame(text) is None
