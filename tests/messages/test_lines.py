"""What lines of brokers' logs say: their rules, exceptions, prefixes and loggers."""

import json
import re

import pytest

from kcheck.core.releases.releases import NEWEST_TESTED, lines
from kcheck.messages.frames import LogFrame, with_logger
from kcheck.messages.lines import pasted
from kcheck.messages.matching import match
from kcheck.messages.values import LogPlace, typed
from kcheck.registry import plug_names
from tests.messages.catalogue import CATALOGUE, filled, log_line, only, read

FOREIGN = (
    "org.apache.kafka.common.KafkaException: Found directory {}, 'backup' is not in the form of topic-partition or "
    "topic-partition.uniqueId-delete (if marked for deletion)."
)
BELOW = "[UnifiedLog partition=t-0, dir=/data/a b] Truncating t-0 to offset 5 below high watermark 7"


@pytest.mark.parametrize("rule", sorted({wording.rule.id for wording in CATALOGUE.wordings}))
def test_every_wording_has_its_own_rule_and_values(rule: str) -> None:
    for wording in CATALOGUE.of_rule(CATALOGUE.rules[rule]):
        message, values = filled(wording)
        matched = match(CATALOGUE, message, is_thrown=wording.is_thrown)
        assert matched is not None, wording.pattern
        assert wording.rule is matched.wording.rule, wording.pattern
        if matched.wording is wording:
            assert values == list(matched.values), wording.pattern


def test_the_catalogue_is_complete() -> None:
    """Each rule has a wording, known findings, and a command whose values it has a name for."""
    rules = {name.partition("_")[0].upper() for name in plug_names("kcheck.rules")}
    known = {name for wording in CATALOGUE.wordings for name in wording.names} | set(LogPlace._fields)
    for rule in CATALOGUE.rules.values():
        assert CATALOGUE.of_rule(rule) or rule.id == "L142" or rule in CATALOGUE.by_logger.values(), rule.id
        assert set(rule.findings) <= rules
        assert rule.severity in ("info", "warning", "error", "fatal")
        assert rule.means.endswith((".", "?")), rule.id
        assert not rule.look or rule.look.startswith("kcheck ")
        assert set(re.findall(r"\{([a-z_]+)\}", rule.look)) <= known


def test_exceptions_explain_the_message_above_them() -> None:
    lines = (
        log_line(
            "Fatal error during KafkaServer startup. Prepare to shutdown",
            level="ERROR",
            logger="kafka.server.KafkaServer",
        ),
        FOREIGN.format("/data/backup"),
        "\tat kafka.log.Log$.exception$1(Log.scala:2301)",
        "\tat Caused by nothing",
        "Caused by: java.lang.IllegalStateException",
        "Caused by: java.lang.IllegalStateException: of no wording",
        log_line("Something of no wording", level="ERROR"),
        "java.io.IOException: No space left on device",
        log_line("of no interest"),
    )
    events = read(*lines)
    assert [(1, "L143"), (2, "L038"), (8, "L165")] == [(one.line, one.rule and one.rule.id) for one in events]
    assert {"directory": "/data/backup", "name": "backup"} == events[1].values
    assert "/data" == events[1].place.log_dir
    assert ("ERROR", 1795395600123) == (events[2].level, events[2].time)
    assert ["L165"] == [one.rule and one.rule.id for one in pasted(CATALOGUE, "\n".join(lines[6:8]))]


def test_the_exception_in_a_message_is_its_cause() -> None:
    failed = "There was an error in one of the threads during logs loading: "
    found = "org.apache.kafka.common.KafkaException: Duplicate log directory found: /data/t-0"
    events = read(log_line(failed + found, level="ERROR"), log_line(f"x {found}", level="ERROR"))
    assert ["L037", "L006", "L037"] == [one.rule and one.rule.id for one in events]
    assert ["L037", "L006"] == sorted(
        (one.rule.id for one in pasted(CATALOGUE, failed + found) if one.rule), reverse=True
    )


def test_the_exception_of_a_json_layout() -> None:
    thrown = {"name": "java.io.IOException", "message": "No space left on device", "extendedStackTrace": "a\nb"}
    for fields in ({"thrown": thrown}, {"stack_trace": "java.io.IOException: No space left on device\n\tat x"}):
        row = {"level": "ERROR", "message": "Error while loading log dir /data", **fields}
        assert ["L005", "L165"] == [one.rule and one.rule.id for one in read(json.dumps(row))]
        assert ["L165"] == [one.rule and one.rule.id for one in read(json.dumps({**row, "message": "?"}))]


def test_the_configuration_names_the_broker() -> None:
    events = read(
        "\tbroker.id = 7", log_line("KafkaConfig values: "), "\tbroker.id = 7", "\tnode.id = 8", "\tother = 9"
    )
    assert [(3, 7), (4, 8)] == [(one.line, one.place.broker) for one in events]


def test_pasted_texts() -> None:
    """A line of no wording is an answer; a text without frames is one message."""
    unknown = only(log_line("Nothing that a catalogue has"))
    assert (None, "INFO") == (unknown.rule, unknown.level)
    without = only("WARN Truncating t-0 to offset 5 below high watermark 7")
    assert without.rule is not None
    assert ("L063", "WARN") == (without.rule.id, without.level)
    assert only("nothing\nat all").rule is None
    trace = only("nothing\njava.io.IOException: Input/output error")
    assert trace.rule is not None
    assert "L165" == trace.rule.id
    assert [] == [*pasted(CATALOGUE, " \n")]
    two = [*pasted(CATALOGUE, f"{log_line('no wording', level='WARN')}\n{log_line(BELOW)}\n{log_line('the last')}")]
    assert [None, "L063", None] == [one.rule and one.rule.id for one in two]


def test_a_message_may_go_on() -> None:
    """After a long text; a value that ends it takes the rest."""
    event = only("Attempting recovery for all logs in /data since no clean shutdown file was found, of course")
    assert event.rule is not None
    assert "L002" == event.rule.id
    assert only("Loading logs. And more").rule is None
    assert only("Expected [3] entries in checkpoint file [/x], but found only [2] of them").rule is None


def test_the_level_chooses_what_is_shown_without_a_rule() -> None:
    assert ["WARN", "ERROR", "FATAL"] == [
        one.level
        for one in read(*(log_line("nothing", level=level) for level in ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")))
    ]


@pytest.mark.parametrize(
    ("prefix", "place"),
    [
        ("[Log partition=t-0, dir=C:\\kafka data] ", LogPlace("t", 0, "C:\\kafka data")),
        ("[LogLoader partition=a.b-c-12, dir=/data-1] ", LogPlace("a.b-c", 12, "/data-1")),
        ("[RaftLog partition=__cluster_metadata-0, nodeId=3] ", LogPlace("__cluster_metadata", 0, None, 3)),
        ("[ProducerStateManager partition=t-0] ", LogPlace("t", 0)),
        ("[LeaderEpochCache t-0] ", LogPlace("t", 0)),
        ("[Partition t-0 broker=2] ", LogPlace("t", 0, None, 2)),
        ("Partition [t,0] on broker 2: ", LogPlace("t", 0, None, 2)),
        ("[Replica Manager on Broker 4]: ", LogPlace(broker=4)),
        ("[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] ", LogPlace(None, None, None, 1, 2)),
        ("[Kafka Server 5], ", LogPlace()),
        ("[Partition not a partition broker=2] ", LogPlace(broker=2)),
    ],
)
def test_prefixes(prefix: str, place: LogPlace) -> None:
    event = only(f"{prefix}Truncating to offset -1")
    assert event.rule is not None
    assert ("L064", {"offset": -1}, place) == (event.rule.id, event.values, event.place)


def test_prefixes_have_limits() -> None:
    for text in ("[a] [b] [c] [d] Truncating to offset 1", "[unclosed Truncating to offset 1"):
        assert only(text).rule is None


def test_places_of_values() -> None:
    log = "UnifiedLog(dir=/d/t-0, topicId=x, topic=t, partition=0)"
    stray = f"Found stray log dir {log}: the topicId x does not exist in the metadata image."
    assert LogPlace("t", 0, "/d") == only(stray).place
    assert LogPlace(log_dir="/d") == only("Error while loading log dir /d").place
    assert LogPlace() == only(FOREIGN.format("backup")).place._replace(log_dir=None)
    assert LogPlace("t", 0) == only("Completed load of log t-0 with log end offset 5").place
    assert LogPlace() == only("Completed load of log ? with log end offset 5").place


def test_loggers() -> None:
    assert ("x", "a.b") == with_logger(LogFrame("x (a.b)"))[0::3]
    assert ("x (y z)", None) == with_logger(LogFrame("x (y z)"))[0::3]
    assert ("Found: x", None) == with_logger(LogFrame("Found: x"))[0::3]
    event = only(log_line("Epoch of producer 1 at offset 2 in t-0 is 3, which is below the last seen epoch 4 (TV2)"))
    assert event.rule is not None
    assert "L158" == event.rule.id


def test_the_releases_of_a_wording() -> None:
    wording = next(one for one in CATALOGUE.wordings if one.releases == "1.0-2.8,3.2-4.3")
    assert [False, True, True, False, True] == [wording.has(line) for line in ("0.11.0", "1.0", "2.8", "3.0", "4.3")]
    assert ("1.0-2.8,3.2-", True) == (wording.spans, wording.has(lines()[-1]))


def test_no_wording_ends_with_the_newest_tested_release() -> None:
    """A wording that the newest release has is open: later releases have it until a row says otherwise."""
    assert [] == [one for one in CATALOGUE.wordings if one.spans.endswith(NEWEST_TESTED)]
    assert {f"3.0-{NEWEST_TESTED}", NEWEST_TESTED, "2.8"} <= {one.releases for one in CATALOGUE.wordings}


def test_prefixes_of_collectors_before_a_stack_trace() -> None:
    pod, full = "[pod/kafka-0/kafka] ", "java.io.IOException: No space left on device"
    events = read(pod + log_line("no wording", level="ERROR"), f"{pod}\x1b[31m{full}")
    assert [(2, "L165")] == [(one.line, one.rule and one.rule.id) for one in events]
    alone = only(full)
    assert alone.rule is not None
    assert "L165" == alone.rule.id
    assert [alone] == read(full)


def test_an_exception_in_a_message_of_no_wording() -> None:
    """It must be of a wording; another wording's text is no exception."""
    assert [None] == [one.rule for one in read(log_line("x java.io.IOException: y", level="WARN"))]
    assert [None] == [one.rule for one in read(log_line("x java.io.IOException: Loading logs.", level="WARN"))]


def test_an_exception_alone() -> None:
    denied = only("java.io.FileNotFoundException: /d/t-0/00000000000000000000.log (Permission denied)")
    assert denied.rule is not None
    assert ("L233", LogPlace("t", 0, "/d")) == (denied.rule.id, denied.place)


def test_hostile_values_take_linear_time() -> None:
    """Nothing is tried twice: each of these would take longer than the universe is old."""
    assert isinstance(typed(("isr",), ("1" * 60_000 + "x",))["isr"], str)
    assert isinstance(typed(("isr",), ("1, " * 20_000,))["isr"], str)
    for text in (
        "a" * 60_000 + "Exception: x",
        "[" * 60_000,
        "Exception: " * 6_000,
        "topic=" * 10_000,
        "{" * 60_000 + "}",
    ):
        assert all(event.rule is None for event in read(log_line(text, level="ERROR"), text))


@pytest.mark.parametrize(
    ("thrown", "rule"),
    [
        ("java.nio.file.AccessDeniedException: /d1/t-0/00000000000000000000.log", "L233"),
        ("java.nio.file.NoSuchFileException: /d1/t-0/00000000000000000000.log", "L232"),
        ("java.nio.file.FileSystemException: /d1/t-0/00000000000000000000.log: Structure needs cleaning", "L165"),
        ("java.io.FileNotFoundException: /d1/t-0/00000000000000000000.log (Disk quota exceeded)", "L165"),
        ("java.nio.file.FileAlreadyExistsException: /d1/t-0/00000000000000000000.log -> /d1/x", "L236"),
    ],
)
def test_exceptions_of_the_system_name_their_file(thrown: str, rule: str) -> None:
    """Java has the path alone, before the text of the system, or before it in brackets."""
    events = read(log_line("of no wording", level="ERROR"), thrown)
    assert [(rule, LogPlace("t", 0, "/d1"))] == [(one.rule and one.rule.id, one.place) for one in events]
    assert "/d1/t-0/00000000000000000000.log" == events[0].values["file"]


EXITS = log_line("Exiting Kafka due to fatal exception", level="ERROR", logger="kafka.Kafka$")
FAULT = log_line("Encountered fatal fault: Error starting LogManager", level="ERROR")
LOADER = "[MetadataLoader id=1] maybePublishMetadata(LOG_DELTA): "
VOTERS = (
    "java.lang.IllegalArgumentException: requirement failed: If process.roles contains just the 'broker' role, the node"
    " id 1 must not be included in the set of voters controller.quorum.voters=Set(1)"
)
CONFIG = "org.apache.kafka.common.config.ConfigException: "


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        ([EXITS, "java.lang.IllegalArgumentException: No MetadataVersion with feature level 30"], ["L143", "L241"]),
        (
            [EXITS, f'{CONFIG}Missing required configuration "process.roles" which has no default value.'],
            ["L143", "L239"],
        ),
        ([EXITS, f'{CONFIG}Missing required configuration "log.dirs" which has no default value.'], ["L143", "L238"]),
        (
            [FAULT, f"{CONFIG}Invalid value 16000 for configuration segment.bytes: Value must be at least 1048576"],
            ["L243", "L240"],
        ),
        ([EXITS, "a.b.MyException: of no wording", "\tat a.b.C", "Caused by: a.CError: why"], ["L143", None]),
        ([EXITS, "", "Caused: of no exception"], ["L143"]),
        ([EXITS, VOTERS], ["L143", "L248"]),
        ([log_line(f"{LOADER}the loader is still catching up because we still don't know the high water mark yet.")],
         ["L245"]),
        ([log_line(f"{LOADER}The loader is still catching up because we have loaded up to offset 0, but ...")],
         ["L163"]),
        ([log_line("Unexpected error INCONSISTENT_CLUSTER_ID in FETCH response: x", level="ERROR")], ["L246"]),
        ([log_line("No readable meta.properties files found.", level="ERROR")], ["L244"]),
        (["java.io.IOException: Map failed"], ["L235"]),
        (["java.nio.file.DirectoryNotEmptyException: /d1/a-0"], ["L234"]),
        (["Kafka server is still starting up, cannot shut down!"], []),
        (["java.lang.IllegalStateException: Kafka server is still starting up, cannot shut down!"], ["L247"]),
    ],
)  # fmt: skip
def test_what_ends_a_start(lines: list[str], rules: list[str | None]) -> None:
    """The exception below the message says why; one of no wording is shown, the innermost of its trace."""
    events = read(*lines)
    assert rules == [one.rule and one.rule.id for one in events]
    if rules[-1:] == [None]:
        assert ("Caused by: a.CError: why", "ERROR") == (events[-1].message, events[-1].level)


def test_a_line_about_remote_storage_is_none_about_a_disk() -> None:
    failed = "org.apache.kafka.server.log.remote.storage.RemoteStorageException: "
    copied = log_line("Error occurred while copying log segments of partition: t-0", level="ERROR")
    full = "java.io.IOException: No space left on device"
    assert ["L180"] == [one.rule and one.rule.id for one in read(copied, full)]
    assert ["L180"] == [one.rule and one.rule.id for one in read(copied, f"{failed}{full}")]
    assert ["L180"] == [one.rule and one.rule.id for one in read(copied.replace(" (", f" {full} ("))]
    assert ["L180"] == [one.rule and one.rule.id for one in read(f"{failed}java.nio.file.NoSuchFileException: /r")]
    row = {"@timestamp": "2026-11-24T00:00:00.000Z", "level": "ERROR", "logger_name": "x", "stack_trace": full}
    row["message"] = "Error occurred while copying log segments of partition: t-0"
    assert ["L180"] == [one.rule and one.rule.id for one in read(json.dumps(row))]


@pytest.mark.parametrize(
    ("directory", "place"),
    [("None", LogPlace("t", 3)), ("Some(/d1)", LogPlace("t", 3, "/d1")), ("Optional[/d1]", LogPlace("t", 3, "/d1"))],
)
@pytest.mark.parametrize("state", ["Topic: t; Partition: 3; Leader: None", "Partition(topic=t, partition=3, leader=1)"])
def test_a_path_that_is_not_there(state: str, directory: str, place: LogPlace) -> None:
    """Scala writes None for it; the partition is that of the line."""
    text = f"Error while making broker the follower for partition {state} in dir {directory}"
    (event,) = read(log_line(text, level="ERROR", logger="kafka.server.ReplicaManager"))
    assert place == event.place


def test_a_message_may_begin_with_a_tab() -> None:
    """The cleaner writes one, up to 4.3."""
    (event,) = read(log_line("\tFound 3 invalid messages during compaction.", level="WARN"))
    assert event.rule is not None
    assert ("L237", {"count": 3}) == (event.rule.id, event.values)


@pytest.mark.parametrize(
    ("logger", "rule"),
    [
        ("kafka.server.KafkaServer", "L141"),
        ("kafka.server.BrokerServer", "L141"),
        ("KafkaServer", "L141"),
        ("k.s.KafkaServer", "L141"),
        ("state.change.logger", "L141"),
        ("org.eclipse.jetty.server.Server", "L225"),
        ("kafka.log.LogCleaner", None),
    ],
)
def test_a_short_text_needs_a_class_that_has_it(logger: str, rule: str | None) -> None:
    """Much software says that it has started."""
    (event,) = pasted(CATALOGUE, log_line("[KafkaServer id=1] started", logger=logger))
    assert rule == (event.rule and event.rule.id)


def test_a_text_of_a_caller_has_any_logger() -> None:
    for logger in ("kafka.server.ReplicaFetcherThread", "kafka.log.LogCleaner$CleanerThread", "a.B"):
        assert ["L150"] == [
            one.rule and one.rule.id for one in read(log_line("Error due to", level="ERROR", logger=logger))
        ]
    failed = log_line("Loaded stray log: x", level="WARN", logger="kafka.server.LogDirFailureChannel")
    assert ["L045"] == [one.rule and one.rule.id for one in read(failed)]


@pytest.mark.parametrize(
    ("logger", "rule"),
    [
        ("org.apache.kafka.clients.NetworkClient", "L222"),
        ("org.apache.kafka.clients.consumer.internals.ConsumerCoordinator", "L222"),
        ("org.apache.kafka.common.network.SslTransportLayer", "L223"),
        ("org.apache.zookeeper.ClientCnxn", "L224"),
        ("org.eclipse.jetty.util.thread.QueuedThreadPool", "L225"),
        ("kafka.log.UnifiedLog", None),
        ("other", None),
    ],
)
def test_who_wrote_a_message_of_no_wording(logger: str, rule: str | None) -> None:
    """Libraries and other software in the log of a broker say nothing about its files."""
    assert [rule] == [one.rule and one.rule.id for one in read(log_line("no wording", level="WARN", logger=logger))]


def test_pages_make_one_space_of_two() -> None:
    """The value between them is empty."""
    stopped = "Broker 1 stopped fetcher for partitions and stopped moving logs for partitions because they are in the "
    event = only(f"[ReplicaManager broker=1] {stopped}failed log directory /d. (kafka.server.ReplicaManager)")
    assert event.rule is not None
    assert ("L049", "", LogPlace(log_dir="/d", broker=1)) == (event.rule.id, event.values["partitions"], event.place)


def test_the_end_of_a_message_may_be_missing() -> None:
    """Within its last text: journalctl and tickets cut long lines."""
    event = only("[RaftManager id=1] Connection to node 2 (h/10.0.0.1:9094) could not be establ>")
    assert event.rule is not None
    assert ("L201", 1) == (event.rule.id, event.place.broker)
    assert only("[RaftManager id=1] Connection to node 2 (h/10.0.0.1:9094) could not be otherwise").rule is None


def test_exceptions_in_exceptions() -> None:
    size = "Found record size -15 smaller than minimum record overhead (14) in file /d/t-3/00000000000000000012.log."
    for text in (size, f"java.lang.RuntimeException: org.apache.kafka.common.errors.CorruptRecordException: {size}"):
        event = only(f"org.apache.kafka.common.errors.CorruptRecordException: {text}")
        assert event.rule is not None
        assert ("L221", LogPlace("t", 3, "/d")) == (event.rule.id, event.place)
    index = "index file (/d/t-0/00000000000000000069.index) has non-zero size but the last offset is 69"
    failed = "java.lang.IllegalArgumentException: requirement failed: Corrupt index found"
    event = only(f"{failed}, {index} and the base offset is 69")
    assert event.rule is not None
    assert ("L020", 69, "t") == (event.rule.id, event.values["last_offset"], event.place.topic)


def test_an_exception_in_what_stands_before_a_logger_is_none() -> None:
    events = read("2026-11-23 01:02:03,456 WARN [x Exception: y] kafka.log.UnifiedLog - Loaded stray log: x-0")
    assert ["kafka.log.UnifiedLog"] == [one.logger for one in events]


def test_lines_of_info_are_known_by_their_first_words() -> None:
    """A log is read as its lines are when they are pasted one by one, with every wording at level INFO."""
    prefixes = ("", "[GroupId x] ", "[Log partition=t-0, dir=/d] ", "[a] [b] ", "Cleaner 0: ", "[x]: ", "[x], y ")
    texts = [filled(one)[0] for one in CATALOGUE.wordings if not one.is_thrown]
    texts += ["Nothing that a catalogue has"] * len(prefixes)
    messages = [f"{prefixes[number % len(prefixes)]}{text}" for number, text in enumerate(texts)]
    lines = [log_line(message, logger="state.change.logger") for message in messages]
    known = [(number, *one[5:]) for number, line in enumerate(lines, 1) for one in pasted(CATALOGUE, line) if one.rule]
    assert known == [(one.line, *one[5:]) for one in read(*lines)]


def test_an_exception_can_follow_a_line_of_info() -> None:
    events = read(log_line("Nothing that a catalogue has"), "java.io.IOException: No space left on device")
    assert [(2, "L165", 1795395600123)] == [(one.line, one.rule and one.rule.id, one.time) for one in events]


NOT_LEADER = "org.apache.kafka.common.errors.NotLeaderOrFollowerException"


@pytest.mark.parametrize(
    ("thrown", "rule"),
    [
        (NOT_LEADER, "L171"),
        (f"{NOT_LEADER}: a text that nobody knows", "L171"),
        (f"Caused by: {NOT_LEADER}", "L171"),
        (f"java.util.concurrent.ExecutionException: {NOT_LEADER}", "L171"),
        ("org.apache.kafka.common.errors.OffsetMetadataTooLarge", "L214"),
        ("java.nio.channels.ClosedByInterruptException", "L229"),
        ("java.util.concurrent.TimeoutException", "L230"),
        ("java.lang.OutOfMemoryError", "L228"),
        ("java.io.IOException: Connection reset by peer", "L201"),
        ("java.io.IOException: No locks available", "L165"),
        ("org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists", "L193"),
        ("java.lang.NullPointerException", None),
        ("java.io.IOException", None),
    ],
)
def test_the_name_of_an_exception_explains_it(thrown: str, rule: str | None) -> None:
    """Alone, inside of another one, and with a text of no wording."""
    assert [rule] == [one.rule and one.rule.id for one in pasted(CATALOGUE, thrown)]


def test_the_name_of_an_exception_adds_nothing_to_what_is_explained() -> None:
    """Neither to a message with a rule nor to one of INFO; a message of no rule has that of the exception."""
    known, unknown = log_line(BELOW, level="WARN"), log_line("no wording", level="WARN")
    calm = log_line("no wording")
    for above, expected in ((known, ["L063"]), (unknown, ["L171"]), (calm, [])):
        assert expected == [one.rule and one.rule.id for one in read(above, NOT_LEADER, f"Caused by: {NOT_LEADER}")]
    for level, message, expected in (
        ("WARN", BELOW, ["L063"]),
        ("WARN", "no wording", ["L171"]),
        ("INFO", "no wording", []),
        ("WARN", "x java.io.IOException: No space left on device", ["L165"]),
    ):
        row = json.dumps({"level": level, "message": message, "stack_trace": f"{NOT_LEADER}\n\tat x"})
        assert expected == [one.rule and one.rule.id for one in read(row)]
