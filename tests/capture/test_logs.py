"""What of a broker's log goes into a bundle: its meaning, and nothing that the catalogue does not have."""

import re
from pathlib import Path
from typing import Any

from kcheck.capture.logs import redacted
from kcheck.capture.pseudonyms import Pseudonyms
from kcheck.capture.tree import items
from kcheck.capture.write import capture
from kcheck.verbs.explain import asked
from kcheck.verbs.explain_log import explain_log
from tests.builders import broker, run
from tests.messages.catalogue import CATALOGUE, filled, log_line, read

LOG = Path(__file__).parents[2] / "fixtures" / "logs" / "4.3.1" / "server.log"
SECRET = "password-of-host.example.com:9092"


def again(*lines: str, rename: Any = str) -> list[Any]:
    """Return the messages of the lines that go in."""
    return read(*"".join(redacted(read(*lines), rename)).splitlines())


def meaning(event: Any) -> tuple[Any, ...]:
    """Return what both say: the rule, the time, the level, the place and the numbers."""
    names = () if event.wording is None else event.wording.names
    numbers = {name: event.values[name] for name in names if not isinstance(event.values[name], str)}
    place = event.place
    return event.rule.id, event.time, event.level, place.topic, place.partition, numbers


def test_the_log_of_a_broker_means_the_same() -> None:
    """Rules, times, places and numbers of all its messages."""
    lines = LOG.read_text().splitlines()
    known = [meaning(event) for event in read(*lines) if event.rule is not None]
    assert known == [meaning(event) for event in again(*lines)]


def test_no_value_goes_in_that_is_not_known() -> None:
    """A text in place of each value is an x, in every wording; what is known keeps the rule of the message."""
    for wording in (one for one in CATALOGUE.wordings if not one.is_thrown):
        values = [*[SECRET] * len(wording.names), ""]
        text = "".join(piece for pair in zip(wording.literals, values, strict=True) for piece in pair)
        for line in redacted(read(log_line(text + SECRET * wording.is_open, level="ERROR")), str):
            assert not re.search("password-|example", line), wording.pattern
        message, _ = filled(wording)
        line = log_line(message, level="ERROR", logger=f"kafka.{wording.classes[0]}")
        rules = [one.rule and one.rule.id for one in again(line)]
        assert [wording.rule.id] == rules[:1], message


def test_lines_without_a_wording_stay_at_home() -> None:
    client = log_line(f"[KafkaServer id=1] {SECRET}", level="ERROR", logger="org.apache.kafka.clients.NetworkClient")
    assert [] == [*redacted(read(log_line(SECRET, level="ERROR"), SECRET, client), str)]


def test_topics_have_their_pseudonyms() -> None:
    """In prefixes, values and paths."""
    names = Pseudonyms(bytes(32))
    line = log_line("[UnifiedLog partition=orders-3, dir=/srv/secret/d1] Truncating to offset 42")
    (text,) = redacted(read(line), names.topic)
    assert "orders" not in text
    assert "secret" not in text
    assert f"[Log partition={names.topic('orders')}-3, dir=d1] Truncating to offset 42" in text


def bundle(tmp_path: Path, logs: list[str], **how: Any) -> tuple[Path, dict[str, Any]]:
    """Capture a log dir with logs."""
    broker(tmp_path / "d", [*run(0, 9)])
    out = tmp_path / "t.kcheck"
    return out, capture([*items([str(tmp_path / "d")])], str(out), logs=logs, **how).manifest


def test_explain_reads_the_logs_of_a_bundle(tmp_path: Path) -> None:
    """Their messages, against the directories beside them; the log dir lists no file more."""
    (tmp_path / "server.log").write_text(LOG.read_text())
    out, manifest = bundle(tmp_path, [str(tmp_path / "server.log")])
    assert ["log-0"] == [row["path"].rpartition("/")[2] for row in manifest["logs"]]
    wanted = asked([str(out)])
    body: Any = explain_log(wanted.logs, wanted.texts, wanted.directories, kafka="auto", since=None).report().body
    rows = [*body["lines"]]
    known = [event for event in read(*LOG.read_text().splitlines()) if event.rule is not None]
    assert [event.rule.id for event in known if event.rule] == [row["rule"] for row in rows]
    assert "4.3.1" == body["release"]["version"]
    assert (str(out),) == wanted.directories
    assert not re.search("/var/lib|localhost", "".join(row["message"] for row in rows))


def test_a_log_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """The bundle is partial and says so."""
    (tmp_path / "b.log").write_bytes(bytes(1000))
    out, manifest = bundle(tmp_path, [str(tmp_path / "none.log"), str(tmp_path / "b.log")])
    assert ["No such file or directory", "not text"] == [row["error"]["message"] for row in manifest["logs"]]
    assert asked([str(out)]).logs
