"""A log in brief: places, steps, causes."""

import pytest

from kcheck.messages.timeline import Timeline, severity_of, worst
from tests.messages.catalogue import log_line, read

DISK = "Error while writing to checkpoint file /d1/replication-offset-checkpoint"
STOP = "[ReplicaManager broker=1] Stopping serving replicas in dir /d1"
APPEND = "[UnifiedLog partition=t-0, dir=/d1] Error while appending records to t-0 in dir /d1"
CORRUPT = "[LogLoader partition=t-0, dir=/d1] Corruption found in segment 0, truncating to offset 5"
DELETED = "[LogLoader partition=t-0, dir=/d1] Deleting segments as part of log recovery: LogSegment(baseOffset=9)"


def timeline(*messages: str, level: str = "ERROR") -> Timeline:
    """Return the timeline of a log with these messages."""
    made = Timeline()
    lines = (log_line(text, level=level, second=at, logger="state.change.logger") for at, text in enumerate(messages))
    for event in read(*lines):
        made.add(event)
    return made


def summary(made: Timeline) -> list[tuple[object, ...]]:
    """Return place, and its steps: rule, count, line of the cause."""
    return [
        (
            place.key,
            *(
                (step.first.rule and step.first.rule.id, step.count, step.cause and step.cause.event.line)
                for step in place.steps
            ),
        )
        for place in made.places()
    ]


def test_a_disk_error_causes_what_follows_in_its_log_dir() -> None:
    """Up to the next start; another log dir has its own causes."""
    made = timeline(DISK, STOP, APPEND, APPEND, STOP.replace("/d1", "/d2"), "Loading logs.", STOP)
    assert [
        ((None, None, "/d1"), ("L027", 1, None), ("L048", 1, 1), ("L048", 1, None)),
        ((None, None, "/d2"), ("L048", 1, None)),
        (("t", 0, None), ("L054", 2, 1)),
        ((None, None, None), ("L001", 1, None)),
    ] == summary(made)
    assert [(1, 3, 4)] == [(one.event.line, one.followers, one.last_line) for one in made.causes()]


def test_causes_reach_their_own_partition() -> None:
    made = timeline(
        CORRUPT, DELETED, DELETED.replace("t-0", "u-0"), "[Partition t-0 broker=1] Partition t-0 marked as failed"
    )
    assert [
        (("t", 0, None), ("L008", 1, None), ("L011", 1, 1), ("L074", 1, 1)),
        (("u", 0, None), ("L011", 1, None)),
    ] == summary(made)


def test_a_cause_again_is_its_consequence() -> None:
    made = timeline(CORRUPT, CORRUPT)
    assert [(("t", 0, None), ("L008", 1, None), ("L008", 1, 1))] == summary(made)


def test_what_aborts_a_start_ends_the_broker() -> None:
    exits = "Exiting Kafka due to fatal exception"
    made = timeline("java.lang.IllegalStateException: Duplicate log directory found: /d1", exits)
    assert [((None, None, "/d1"), ("L037", 1, None)), ((None, None, None), ("L143", 1, 1))] == summary(made)
    reset = timeline(
        "Error occurred while reading recovery-point-offset-checkpoint file of directory /d1",
        "Resetting the recovery checkpoint to 0",
    )
    assert [(1, 1)] == [(one.event.line, one.followers) for one in reset.causes()]


def test_the_end_of_a_process_causes_nothing_in_another_log() -> None:
    """Logs that are read together may be of several brokers."""
    made = Timeline()
    for number in (0, 0, 1):
        (event,) = read(log_line("Exiting Kafka due to fatal exception", level="ERROR", logger="kafka.Kafka$"))
        made.add(event, number)
    assert [1] == [cause.followers for cause in made.causes()]


def test_the_worst_cause_comes_first() -> None:
    made = timeline(CORRUPT, DELETED, STOP, APPEND, APPEND)
    assert ["L048", "L008"] == [one.event.rule and one.event.rule.id for one in made.causes()]


def test_messages_of_no_rule_count_by_their_level() -> None:
    made = timeline("unknown", "unknown", level="FATAL")
    assert [((None, None, None), (None, 2, None))] == summary(made)
    assert {"info": 0, "warning": 0, "error": 0, "fatal": 2} == made.counts
    assert ("fatal", None) == (worst(made.counts), worst({}))
    assert ["fatal"] == [place.severity for place in made.places()]


def test_a_partition_without_a_log_dir_has_the_last_one() -> None:
    mark = "[Partition t-0 broker=1] Log loaded for partition t-0 with initial high watermark 5"
    (place,) = timeline(CORRUPT, mark, mark).places()
    assert [("/d1", 1, 1), ("/d1", 2, 3)] == [
        (step.first.place.log_dir, step.first.line, step.last_line) for step in place.steps
    ]


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places where nothing went wrong make room for others; causes and directories have limits too."""
    for name in ("_PLACES_MAX", "_CAUSES_MAX", "_DIRECTORIES_MAX"):
        monkeypatch.setattr(f"kcheck.messages.timeline.{name}", 2)
    load = "[Log partition=t-{}, dir=/d1] Truncating to offset 5"
    made = timeline(
        *(load.format(number) for number in range(4)), *(CORRUPT.replace("t-0", f"u-{number}") for number in range(3))
    )
    assert [("u", 0, None), ("u", 1, None)] == [place.key for place in made.places()]
    assert 5 == made.left_out
    several = timeline(
        CORRUPT,
        DELETED,
        "[LogLoader partition=t-0, dir=/d1] Found an orphaned index file x, with no corresponding log file.",
    )
    assert (1, 2) == (several.left_out, len(several.places()[0].steps))


def test_severities() -> None:
    event = read(log_line("unknown", level="WARN"))[0]
    assert ["warning", "info"] == [severity_of(event), severity_of(event._replace(level=None))]
