"""What a server.properties and a broker's own log say about its release."""

import gzip
from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.releases import lines
from kcheck.disk import log_text
from kcheck.errors import UsageError
from kcheck.model.evidence import ReleaseEvidence
from kcheck.views import named_evidence
from tests.builders import write

START = b"[2026-01-01 00:00:00,000] INFO Kafka version: %s (org.apache.kafka.common.utils.AppInfoParser)\n"
OLD_START = b"[2017-01-01 00:00:00,000] INFO Kafka version : 0.10.2.2 (org.apache.kafka.common.utils.AppInfoParser)\n"
OTHER = b"[2026-01-01 00:00:00,000] INFO started (kafka.server.KafkaServer)\n" * 20
NEWEST = lines()[-1]


def said(*paths: Path, config: Path | None = None, log: Path | None = None) -> ReleaseEvidence:
    """Return what files say."""
    evidence = kcheck.release(paths=paths, config=config, log=log).evidence
    assert evidence is not None
    return evidence


def span(*paths: Path, config: Path | None = None, log: Path | None = None) -> tuple[str | None, str | None]:
    """Return the range."""
    evidence = said(*paths, config=config, log=log)
    return evidence.lowest, evidence.highest


def written(path: Path, data: bytes) -> Path:
    """Write a file."""
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (b"process.roles=broker\nnode.id=1\n", ("2.8", NEWEST)),
        (b"broker.id=1\nzookeeper.connect=z:2181\n", ("0.8.2", "3.9")),
        (b"broker.id=1\ninter.broker.protocol.version=2.7-IV1\n", ("2.7", "3.9")),
        (b"process.roles=broker\ninter.broker.protocol.version=9.9\n", ("2.8", NEWEST)),
    ],
)
def test_settings_are_evidence(settings: bytes, expected: tuple[str, str], tmp_path: Path) -> None:
    """Of a named file, and of one among the paths."""
    assert expected == span(config=written(tmp_path / "server.properties", settings))
    write(tmp_path / "data", {"replication-offset-checkpoint": b"0\n0\n"})
    listed = written(tmp_path / "listed.properties", settings + f"log.dirs={tmp_path / 'data'}\n".encode())
    assert expected == span(listed)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("log", "line"),
    [
        (START % b"3.9.2" + OTHER, "3.9"),
        (OLD_START, "0.10.2"),
        (START % b"2.8.2" + OTHER + START % b"3.9.1" + OTHER, "3.9"),
    ],
)
def test_a_log_names_the_release_of_the_last_start(
    log: bytes, line: str, compress: "type[bytes]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the parts in which it is read; with bytes after a compressed member."""
    for size in (1 << 20, 100):
        monkeypatch.setattr(log_text, "_PART_SIZE", size)
        assert (line, line) == span(log=written(tmp_path / "server.log", compress(log)))
        assert (line, line) == span(log=written(tmp_path / "server.log", compress(OTHER) + compress(log)))


def test_a_log_is_of_the_broker_or_of_one_of_several(tmp_path: Path) -> None:
    one, other = (
        write(tmp_path / number, {"meta.properties": f"version=1\nnode.id={number}\ncluster.id=c\n".encode()})
        for number in "12"
    )
    log = written(tmp_path / "server.log", START % b"3.5.2")
    assert ("2.8", "3.6") == span(one)
    assert ("3.5", "3.5") == span(one, log=log)
    assert ("3.5", "3.5") == span(one, other, log=log)


def test_what_is_no_log_of_a_known_release_is_refused(tmp_path: Path) -> None:
    """A link to it is followed; what follows damage in a compressed one is not read."""
    torn = written(tmp_path / "torn.gz", gzip.compress(START % b"3.9.2" + OTHER)[:30] + b"x" * 50)
    junk = (written(tmp_path / "a", b""), written(tmp_path / "b", OTHER), written(tmp_path / "c", START % b"9.9"), torn)
    for path in (*junk, tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError):
            kcheck.release(log=path)
    link = tmp_path / "link"
    link.symlink_to(written(tmp_path / "d", START % b"3.9.2"))
    assert ("3.9", "3.9") == span(log=link)
    with pytest.raises(UsageError):
        kcheck.release(config=tmp_path / "none")


def test_little_of_a_large_log_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a plain one, the beginning of a compressed one."""
    monkeypatch.setattr(named_evidence, "_LOG_SIZE_MAX", 1000)
    monkeypatch.setattr(log_text, "_PART_SIZE", 500)
    log = START % b"2.8.2" + OTHER + START % b"3.9.1"
    assert "3.9" == said(log=written(tmp_path / "plain", log)).used
    assert "2.8" == said(log=written(tmp_path / "packed", gzip.compress(log))).used
