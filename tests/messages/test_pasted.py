"""Lines as people paste them from pages, mails, tickets, terminals and exports."""

import json

import pytest

from kcheck.messages.lines import LogEvent, pasted
from kcheck.messages.values import LogPlace
from tests.messages.catalogue import CATALOGUE, log_line

TRUNCATED = "Truncating orders-3 to offset 512 below high watermark 734"
BELOW = f"[UnifiedLog partition=orders-3, dir=/var/lib/kafka/data] {TRUNCATED}"
LINE = log_line(BELOW, level="WARN")
PLACE = LogPlace("orders", 3, "/var/lib/kafka/data")


def rules(text: str) -> list[tuple[int, str | None]]:
    """Return the line and rule of each message in a text."""
    return [(one.line, one.rule and one.rule.id) for one in pasted(CATALOGUE, text)]


def first(text: str) -> LogEvent:
    """Return the first message in a text."""
    return next(iter(pasted(CATALOGUE, text)))


@pytest.mark.parametrize(
    "text",
    [
        f"```log\r\n{LINE}\r\n```\r\n",
        f"&gt; {LINE}",
        f"* {LINE}",
        f"“{LINE}”",
        f"[broker-1] {LINE}",
        f"kafka1  | {LINE}",
        f"^[[33m{LINE}^[[0m",
        LINE.replace("[", "&#91;").replace("]", "&#93;"),
        LINE.replace("=", "&#61;").replace(" high", "&nbsp;high"),
        LINE.replace(" ", "\u00a0"),
        f"2026-11-23T01:00:00.000Z\tbroker-1\t{LINE}",
        json.dumps({"timestamp": 1795395600123, "message": LINE, "ingestionTime": 1795395601000}),
        json.dumps({"@timestamp": "2026-11-23T01:00:01Z", "@message": LINE, "@logStream": "x/Broker-1"}),
        f'2026-11-23T01:00:00.123Z,broker-1,"{LINE}"',
        f'2026-11-23T01:00:00+00:00 {{app="kafka", pod="kafka-0"}} {LINE}',
        f"host=kafka-1 source=/var/log/kafka/server.log sourcetype=kafka {LINE}",
        *(f"{LINE[:at]}\n{LINE[at:]}" for at in range(60, len(LINE) - 24)),
        *(f"> {LINE[:at]}\n> {LINE[at + 1 :]}" for at in range(60, len(LINE) - 24) if LINE[at] == " "),
        "\n".join(LINE[at : at + 50] for at in range(0, len(LINE), 50)),
    ],
)
def test_a_line_says_the_same_however_it_is_pasted(text: str) -> None:
    """Wrapped, quoted, fenced, escaped for HTML, exported: with its numbers and its place."""
    event = first(text)
    expected = {"partition": "orders-3", "offset": 512, "high_watermark": 734}
    assert (expected, PLACE, 1795395600) == (event.values, event.place, (event.time or 0) // 1000)


@pytest.mark.parametrize("size", range(10, 20))
def test_a_line_that_was_cut_between_its_values_has_the_first_ones(size: int) -> None:
    """The end within a text proves that the value before it is complete."""
    text = LINE[: LINE.index(" below") + size]
    assert {"partition": "orders-3", "offset": 512} == first(text).values
    assert {"partition": "orders-3", "offset": 512} == first(f"{text}...").values
    assert {"partition": "orders-3", "offset": 512} == first(f"{LINE.partition(' (')[0]}…").values
    assert first(LINE[: LINE.index(" below") - 1]).rule is None


def test_a_text_below_a_message_that_says_no_more_is_not_part_of_it() -> None:
    full = "java.io.IOException: No space left on device"
    assert [(1, "L063"), (2, "L165")] == rules(f"{LINE}\n{full}")
    assert [(1, "L063")] == rules(f"{LINE}\n\tat x\nand then it stopped")
    assert [(2, "L165")] == rules(f"{log_line('no wording')}\n{full}")
    assert [(1, None)] == rules("\n".join([log_line("no wording"), *"abcdefghijkl"]))


def test_the_first_line_of_a_text_need_not_be_a_message() -> None:
    lost = (
        "The Cluster ID a doesn't match stored clusterId Some(b) in meta.properties. The broker is trying to join the "
    )
    text = (
        f"Execution error (InconsistentClusterIdException) at kafka.server.KafkaServer/startup.\n{lost}wrong cluster."
    )
    assert [(2, "L246")] == rules(text)
    assert [(1, None)] == rules("nothing\nand nothing")


def test_java_util_logging_has_two_lines() -> None:
    """The time and the class are in the line above."""
    text = "Nov 23, 2026 1:00:00 AM kafka.log.LogManager warn\nWARNING: Stopping serving logs in dir /data1"
    event = first(text)
    assert ("WARN", 1795395600000, "kafka.log.LogManager", LogPlace(log_dir="/data1")) == (
        event.level,
        event.time,
        event.logger,
        event.place,
    )
    assert [None] == [one.time for one in pasted(CATALOGUE, text.replace(" warn", ""))]


@pytest.mark.parametrize("date", ["1123", "20261123"])
def test_glog_names_no_year(date: str) -> None:
    event = first(f"W{date} 01:00:00.123456 12345 UnifiedLog.scala:76] {BELOW}")
    assert ("WARN", None, "UnifiedLog", PLACE) == (event.level, event.time, event.logger, event.place)


USED = "The process cannot access the file because it is being used by another process."


@pytest.mark.parametrize("error", [USED, "另一个程序正在使用此文件，进程无法访问。", "Invalid cross-device link"])
def test_a_rename_that_failed_names_the_file_that_was_there(error: str) -> None:
    """Java has both names, and the reason in the words of the system."""
    log = "C:\\kafka\\logs\\t-0\\00000000000000000042.log"
    event = first(f"java.nio.file.FileSystemException: {log} -> {log}.deleted: {error}")
    assert event.rule is not None
    assert ("L165", log, LogPlace("t", 0, "C:\\kafka\\logs")) == (event.rule.id, event.values["file"], event.place)


@pytest.mark.parametrize(
    ("thrown", "rule"),
    [
        ("java.net.UnknownHostException: zookeeper: Temporary failure in name resolution", "L201"),
        ("java.net.UnknownHostException: kafka-0.kafka", "L201"),
        ("java.net.BindException: Address already in use", "L227"),
        ("java.lang.OutOfMemoryError: Java heap space", "L228"),
        ("java.lang.OutOfMemoryError: Map failed", "L235"),
    ],
)
def test_what_ends_a_start_without_a_file(thrown: str, rule: str) -> None:
    assert [(1, rule)] == rules(thrown)


def test_a_partition_can_be_followed_by_the_id_of_its_topic() -> None:
    changed = (
        "UNCLEAN partition change for orders-3 with topic ID AAAAAAAAAAAAAAAAAAAAAA: isr: [2] -> [1], leader: 2 -> 1"
    )
    event = first(f"[QuorumController id=1] {changed}")
    assert ("orders-3", LogPlace("orders", 3, None, 1)) == (event.values["partition"], event.place)


def test_local_log_names_the_directory_of_its_partition() -> None:
    event = first("[LocalLog partition=orders-3, dir=/var/lib/kafka/data/orders-3] Truncating to offset 5")
    assert PLACE == event.place
    assert LogPlace("t", 0) == first(
        log_line("Found 3 messages in segment t-0/00000000000000000042.log")
    ).place._replace(topic="t", partition=0)
