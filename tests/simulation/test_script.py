"""What a history may say, and where an error is."""

import json

import pytest

from kcheck.errors import UsageError
from kcheck.simulation.events import Event, EventKind
from kcheck.simulation.replay import replay
from kcheck.simulation.script import Expected, event_text, parse
from kcheck.simulation.state import CONTROLLER, Acks

HEAD = "brokers A B C\nA leads\n"
LINES = {
    "append 10": Event(EventKind.APPEND, amount=10),
    "append 1 acks=1 to B": Event(EventKind.APPEND, 1, acks=Acks.LEADER),
    "append 2 acks=0": Event(EventKind.APPEND, amount=2, acks=Acks.NONE),
    "fetch B": Event(EventKind.FETCH, 1),
    "fetch B x3": Event(EventKind.FETCH, 1, amount=3),
    "fetch all": Event(EventKind.FETCH_ALL),
    "checkpoint A": Event(EventKind.CHECKPOINT, 0),
    "flush A": Event(EventKind.FLUSH, 0),
    "crash A": Event(EventKind.CRASH, 0),
    "power-loss A from 7": Event(EventKind.POWER_LOSS, 0, offset=7),
    "power-loss A": Event(EventKind.POWER_LOSS, 0),
    "power-loss A from 7 torn": Event(EventKind.POWER_LOSS, 0, offset=7, torn=True),
    "lose A from 7": Event(EventKind.POWER_LOSS, 0, offset=7),
    "stop A": Event(EventKind.STOP, 0),
    "start A": Event(EventKind.START, 0),
    "fence A": Event(EventKind.FENCE, 0),
    "shrink C": Event(EventKind.SHRINK, 2),
    "expand C": Event(EventKind.EXPAND, 2),
    "elect B": Event(EventKind.ELECT, 1),
    "elect B unclean": Event(EventKind.ELECT, 1, unclean=True),
    "B leads": Event(EventKind.ELECT, 1),
    "controller new": Event(EventKind.CONTROLLER),
    "delay A->A": Event(EventKind.DELAY, 0, target=0),
    "delay A->B": Event(EventKind.DELAY, 0, target=1),
    "deliver controller->B": Event(EventKind.DELIVER, CONTROLLER, target=1),
    "drop A->controller": Event(EventKind.DROP, 0, target=CONTROLLER),
    "delay B": Event(EventKind.DELAY, CONTROLLER, target=1),
    "wait 30s": Event(EventKind.WAIT, amount=30_000),
    "wait 500ms": Event(EventKind.WAIT, amount=500),
    "wait 2": Event(EventKind.WAIT, amount=2000),
    "wait 30 s": Event(EventKind.WAIT, amount=30_000),
    "append 5 records acks=0": Event(EventKind.APPEND, amount=5, acks=Acks.NONE),
    "read B 0..5": Event(EventKind.READ, 1, offset=0, end=5),
    "read 0..5 from B": Event(EventKind.READ, 1, offset=0, end=5),
    "reassign A C": Event(EventKind.REASSIGN, brokers=(0, 2)),
    "trim A to 5": Event(EventKind.TRIM, 0, offset=5),
    "expect B leo 10 hw 8 epochs 0@0,2@8 isr A,B": Expected(
        "replica", 1, values=(("leo", 10), ("hw", 8), ("epochs", ((0, 0), (2, 8))), ("isr", (0, 1)))
    ),
    "expect B epochs none running": Expected("replica", 1, values=(("epochs", ()), ("running", True))),
    "expect B stopped": Expected("replica", 1, values=(("stopped", False),)),
    "expect leader none": Expected("partition", values=(("leader", -1),)),
    "expect isr none elr A epoch 3": Expected("partition", values=(("isr", ()), ("elr", (0,)), ("epoch", 3))),
    "expect lost 8..9 acked": Expected("lost", start=8, end=9),
    "expect withdrawn 5..6": Expected("withdrawn", start=5, end=6),
    "expect diverged A B at 8": Expected("diverged", 0, 1, start=8),
    "expect diverged A B": Expected("diverged", 0, 1, start=-1),
    "expect stuck B": Expected("stuck", 1),
    "expect nothing lost": Expected("nothing", nothing="lost"),
    "expect withdrawn none": Expected("nothing", nothing="withdrawn"),
}


@pytest.mark.parametrize(("line", "action"), LINES.items(), ids=list(LINES))
def test_a_line(line: str, action: Event | Expected) -> None:
    """With and without a comment."""
    (read,) = parse(HEAD + line + "   # why", "f").lines
    assert (3, line, action) == read


@pytest.mark.parametrize("line", [line for line, action in LINES.items() if isinstance(action, Event)])
def test_an_event_is_written_as_it_is_read(line: str) -> None:
    """Where a search can find it; others have no brokers or times."""
    (read,) = parse(HEAD + line, "f").lines
    assert isinstance(read.action, Event)
    if read.action.kind in (
        EventKind.CONTROLLER,
        EventKind.WAIT,
        EventKind.READ,
        EventKind.REASSIGN,
        EventKind.TRIM,
        EventKind.FETCH_ALL,
    ):
        return
    (again,) = parse(HEAD + event_text(read.action, ("A", "B", "C")), "f").lines
    assert read.action == again.action


AS_TYPED = {
    "\ufeffbrokers A B C\r\nA leads\r\nappend 10\r\n": "append 10",
    "brokers\tA\tB\tC\rA\tleads\rappend\t10": "append\t10",
    "brokers A, B, C\nA leads\nfetch B": "fetch B",
    "brokers A,B,C\nisr A,B\nA leads\nreassign A, C": "reassign A, C",
    "Brokers A B C\nA leads\nAppend 10": "Append 10",
    HEAD + "kill A": "kill A",
    HEAD + "produce 10": "produce 10",
    HEAD + "shutdown A": "shutdown A",
    HEAD + "powerloss A": "powerloss A",
    HEAD + "delay A → B": "delay A → B",
    HEAD + "delay A -> B": "delay A -> B",
    HEAD + "delay A→B": "delay A→B",
}
MEANT = {
    "append\t10": "append 10", "reassign A, C": "reassign A C", "Append 10": "append 10", "kill A": "crash A",
    "produce 10": "append 10", "shutdown A": "stop A", "powerloss A": "power-loss A", "delay A → B": "delay A->B",
    "delay A -> B": "delay A->B", "delay A→B": "delay A->B",
}  # fmt: skip


@pytest.mark.parametrize(("text", "line"), AS_TYPED.items())
def test_a_history_as_people_type_it(text: str, line: str) -> None:
    """With the line ends and the mark of Windows, tabs, commas, arrows, capitals and other words for an event."""
    (read,) = parse(text, "f").lines
    assert (3 + text.count("isr"), line, LINES[MEANT.get(line, line)]) == read


def test_only_the_ends_of_lines_end_lines() -> None:
    """Editors do not count form feeds and Unicode's separators, so an error would name another line."""
    for mark in ("\x0b", "\x0c", "\x1c", "\x85", "\u2028"):
        with pytest.raises(UsageError, match="line 3, column"):
            parse(f"{HEAD}append 1{mark}fetch B", "f")


def test_what_a_follower_asks_again_without_end_costs_no_more_than_once() -> None:
    """Its request or the answer is held, or it has all: 10,000 such lines end, and nothing piles up."""
    for head in ("", "delay B->A\n", "delay A->B\n"):
        once, often = (
            replay(parse(f"brokers A B\nA leads\n{head}append 1\nfetch B{times}\n", "f"), "4.3").steps[-1]
            for times in (" x2", " x999")
        )
        assert once.state == often.state
        assert len(often.messages) <= 6


WRONG = {
    "A leads": "line 1, column 1: expected 'brokers', which comes first; found 'A'",
    "brokers": "line 1, column 8: expected a broker; the line ends",
    "brokers A A": "line 1, column 11: expected a new name of a broker: letters, digits, '.', '_' or '-'; found 'A'",
    "brokers A/B": "line 1, column 9: expected a new name",
    "brokers a b c d e f g h i j": "line 1, column 27: expected at most 9 brokers; found 'j'",
    "brokers A B": "expected a line that begins the history: A leads",
    "brokers A\nappend 1": "line 2, column 1: expected the first leader",
    "brokers A\nA leads\nfly A": "line 3, column 1: expected an event: append, checkpoint",
    "brokers A\nA leads\nappned 1": "line 3, column 1: expected 'append', or another event; found 'appned'",
    "brokers A\nA leads\nA crashes": "line 3, column 1: expected the event before the broker, such as 'crash A'",
    "brokers A\nkafka v3.9": "line 2, column 7: expected a release such as 4.3; found 'v3.9'",
    "brokers A\nA leads\nreassign ,": "line 3, column 10: expected a broker: A; found ','",
    "brokers A\nA leads\ndelay A ->": "line 3, column 11: expected the other end of the link; the line ends",
    "brokers A\nA leads\ncrash Z": "line 3, column 7: expected a broker: A; found 'Z'",
    "brokers A\nA leads\ncrash": "line 3, column 6: expected a broker: A; the line ends",
    "brokers A\nA leads\ncrash A now": "line 3, column 9: expected the end of the line; found 'now'",
    "brokers A\nA leads\nappend": "line 3, column 7: expected a number of records; the line ends",
    "brokers A\nA leads\nappend 0": "line 3, column 8: expected a number of records from 1 to 1000000; found '0'",
    "brokers A\nA leads\nappend x": "line 3, column 8: expected a number of records",
    "brokers A\nA leads\nappend 1 acks=2": "line 3, column 10: expected acks=0, acks=1, acks=all or 'to BROKER'",
    "brokers A\nA leads\nfetch A 2": "line 3, column 9: expected a number of requests such as x2",
    "brokers A\nA leads\ndelay controller->controller": "line 3, column 7: expected a link with a broker",
    "brokers A\nA leads\ndelay A->Z": "line 3, column 7: expected a broker: A, controller; found 'A->Z'",
    "brokers A\nA leads\ncontroller old": "line 3, column 12: expected 'new'; found 'old'",
    "brokers A\nA leads\nwait soon": "line 3, column 6: expected a time such as 30s or 500ms",
    "brokers A\nA leads\nread A 5..5": "line 3, column 8: expected a range of offsets such as 0..5, its end exclusive",
    "brokers A\nA leads\nisr A\nappend 1\nisr A": "line 5, column 1: expected 'isr' before the first event",
    "brokers A\nA leads epoch 1\nA leads epoch 2": "line 3",
    "brokers A B\ntopic rf=1\nB leads": "line 3, column 3: expected a leader among the replicas",
    "brokers A\ntopic rf=2": "line 2, column 7: expected rf from 1 to 1; found 'rf=2'",
    "brokers A\ntopic min.isr=many": "line 2, column 7: expected another value of min.isr: a number; found",
    "brokers A\ntopic unclean=yes": "line 2, column 7: expected another value of unclean: true or false; found",
    "brokers A\nA leads\nread 0..5 B": "line 3, column 11: expected 'from'; found 'B'",
    "brokers A\ntopic colour=red": "line 2, column 7: expected a setting: rf=, min.isr=",
    "brokers A\nA leads\nexpect nothing": "line 3, column 15: expected 'lost', 'withdrawn', 'diverged' or 'stuck'",
    "brokers A\nA leads\nexpect nothing good": "line 3, column 16: expected 'lost', 'withdrawn'",
    "brokers A\nA leads\nexpect A": "line 3, column 9: expected leo, hw, start",
    "brokers A\nA leads\nexpect A size 3": "line 3, column 10: expected leo, hw, start",
    "brokers A\nA leads\nexpect A epochs 0": "line 3, column 17: expected epochs such as 0@0,2@8; found '0'",
    '{"brokers": 1}': 'f: brokers: expected a list, as in {"brokers": ["A", "B"]',
    '{"brokers": ["A"]}': "f: events: expected a list",
    '["A"]': 'f: the document: expected {"brokers": ["A", "B"]',
    '{"brokers": ["A B"], "events": []}': "f: brokers[0]: expected a name, one word",
    '{"brokers": ["A", "B#"], "events": []}': "f: brokers[1]: expected a name, one word",
    '{"brokers": ["A"], "kafka": 3.6, "events": []}': "f: kafka: expected a release in quotes, one word",
    '{"brokers": ["A"], "topic": [], "events": []}': 'f: topic: expected {"min.isr": 2}',
    '{"brokers": ["A"], "topic": {"rf": null}, "events": []}': "f: topic.rf: expected a number, true, false or a word",
    '{"brokers": ["A"], "topic": {"rf": "1 2"}, "events": []}': "f: topic.rf: expected a value, one word",
    '{"brokers": ["A"], "topic": {"a b": 1}, "events": []}': "f: topic: expected a setting, one word",
    '{"brokers": ["A"], "topic": {"rf": 2}, "events": []}': "f: topic, column 7: expected rf from 1 to 1; found 'rf=2'",
    '{"brokers": ["A"], "events": ["A leads", 1]}': "f: events[1]: expected a line in quotes",
    '{"brokers": ["A"], "events": ["A leads", "crash Z"]}': "f: events[1], column 7: expected a broker: A; found 'Z'",
    '{"brokers": ["A"],': "f: line 1, column 19: expected JSON; Expecting property name",
    f'{{"brokers": {"9" * 5000}}}': 'f: expected {"brokers": ["A", "B"]',
    f'{{"brokers": {"[" * 100_000}': 'f: expected {"brokers": ["A", "B"]',
    "#\n" * 10_001: "more than 10000 lines",
}


@pytest.mark.parametrize(("text", "error"), WRONG.items(), ids=[str(number) for number in range(len(WRONG))])
def test_an_error_names_its_place(text: str, error: str) -> None:
    """File, line, column, what was expected, what was found."""
    with pytest.raises(UsageError) as raised:
        parse(text, "f")
    assert str(raised.value).startswith("f: ")
    assert error in str(raised.value)


def test_settings() -> None:
    text = (
        "brokers A B\ntopic rf=1 min.insync.replicas=2 unclean=on acks=1 elr=true mode=kraft "
        "replica.lag.time.max.ms=5 replica.high.watermark.checkpoint.interval.ms=7 "
        "message.format=0.10.2\nkafka 3.6\nisr A\nA leads epoch 3"
    )
    script = parse(text, "f")
    topic = script.topic
    assert (1, 2, True, Acks.LEADER) == (topic.rf, topic.min_isr, topic.unclean, topic.acks)
    assert (True, True, "0.10.2") == (topic.elr, topic.kraft, topic.message_format)
    assert (5, 7) == (topic.lag_time_max, topic.checkpoint_interval)
    assert ("3.6", 0, 3, (0,)) == (script.kafka, script.leader, script.leader_epoch, script.isr)


def test_the_json_twin_is_the_same_history() -> None:
    twin = {
        "brokers": ["A", "B"], "kafka": "2.8", "topic": {"min.isr": 2, "unclean": False},
        "events": ["A leads", "append 1"],
    }  # fmt: skip
    text = "brokers A B\nkafka 2.8\ntopic min.isr=2 unclean=false\nA leads\nappend 1"
    assert parse(text, "f") == parse(json.dumps(twin), "f")
