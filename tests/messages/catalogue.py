"""The catalogue of broker messages, and messages made from its wordings."""

from kcheck.disk.package_data import log_catalogue
from kcheck.messages.catalogue import Catalogue, Wording
from kcheck.messages.lines import LogEvent, events, pasted

CATALOGUE: Catalogue = log_catalogue()

SAMPLES = {
    "partition": "my.topic-3",
    "log": "/data/kafka-1/my.topic-3",
    "dir": "/var/lib/kafka data/d-1",
    "file": "/data/x/my.topic-3/00000000000000000042.log",
    "segment": "LogSegment(baseOffset=5, size=7)",
    "segments": "LogSegment(baseOffset=5, size=7),LogSegment(baseOffset=9, size=7)",
    "error": "java.io.IOException: No space left",
    "isr": "1,2",
    "isr_before": "1,2,3",
}


def filled(wording: Wording) -> tuple[str, list[str]]:
    """Return a message with this wording, and its values."""
    values = [SAMPLES.get(name, str(17 + number)) for number, name in enumerate(wording.names)]
    text = "".join(literal + value for literal, value in zip(wording.literals, [*values, ""], strict=True))
    return (f"{text} and more" if wording.is_open else text), values


def log_line(message: str, *, level: str = "INFO", second: int = 0, logger: str = "kafka.log.UnifiedLog") -> str:
    """Return a line in the layout of Kafka's own log4j.properties."""
    return f"[2026-11-23 01:{second // 60:02d}:{second % 60:02d},123] {level} {message} ({logger})"


def read(*lines: str) -> list[LogEvent]:
    """Return what the lines of a log say."""
    return [*events(CATALOGUE, enumerate(lines, 1))]


def only(text: str) -> LogEvent:
    """Return the one message in a text that was pasted."""
    (event,) = pasted(CATALOGUE, text)
    return event
