"""What real brokers write about damaged and diverged directories is explained, with the right numbers."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from kcheck.disk.package_data import log_catalogue
from kcheck.messages.lines import LogEvent, events
from tests.oracle import histories
from tests.oracle.kafka import Cluster
from tests.oracle.logs import broker_logs, contested_brokers, troubled_brokers

pytestmark = pytest.mark.oracle

MODES = {
    "0.10.2.2": None, "1.1.1": None, "2.0.1": None, "2.4.1": None, "2.8.2": None, "3.3.2": "zk", "3.6.2": "zk",
    "3.9.2": None, "4.0.2": None, "4.3.1": None,
}  # fmt: skip
"""Releases and modes; KRaft elects no unclean leader by itself before 3.9."""

NUMBERS = {
    "L003": (r"logStartOffset=(?P<log_start_offset>-?\d+), logEndOffset=(?P<log_end_offset>-?\d+)\)",),
    "L008": (r"truncating to offset (?P<offset>\d+)",),
    "L010": (r"at byte offset (?P<position>\d+)",),
    "L034": (r"initial high watermark (?P<high_watermark>\d+)",),
    "L064": (r"Truncating to offset (?P<offset>\d+)", r"TruncationState\(offset=(?P<offset>\d+)"),
    "L088": (r"at leader epoch (?P<epoch>\d+) from offset (?P<offset>\d+)",),
    "L101": (r"with broker epoch (?P<broker_epoch>\d+)",),
}
PREFIX = re.compile(r"\[(?:Unified|Local)?Log(?:Loader)? partition=([^,]+)-(\d+), dir=([^\]]+)\]")


def wrong_values(found: Iterable[LogEvent]) -> list[object]:
    """Return the messages from which other numbers were taken than these patterns take, or another place."""
    wrong: list[object] = []
    for event in found:
        for pattern in NUMBERS.get(event.rule.id if event.rule else "", ()):
            taken = re.search(pattern, event.message)
            if taken and any(event.values.get(name) != int(number) for name, number in taken.groupdict().items()):
                wrong.append(event)
        prefix = PREFIX.match(event.message)
        if (
            prefix
            and (prefix[1], int(prefix[2]), prefix[3].removesuffix(f"/{prefix[1]}-{prefix[2]}")) != event.place[:3]
        ):
            wrong.append(event)
    return wrong


def is_known_by_name(event: LogEvent) -> bool:
    """Whether nothing of a message is known but the name of the exception below it."""
    return event.wording is not None and event.wording.pattern in event.wording.levels


def check(logs: Iterable[Path]) -> set[str]:
    """Hold the logs against the catalogue; return the rules that they show."""
    shown: set[str] = set()
    for log in logs:
        found = [*events(log_catalogue(), enumerate(log.read_text(errors="replace").splitlines(), 1))]
        assert [event.message for event in found if event.rule is None or is_known_by_name(event)] == []
        assert wrong_values(found) == []
        shown |= {event.rule.id for event in found if event.rule}
    return shown


@pytest.mark.whole
@pytest.mark.parametrize("version", MODES)
def test_every_warning_of_a_broker_is_explained(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Of two brokers that diverged, with damaged files, one of whose disks fails."""
    config = {**histories.config(version), **broker_logs.CONFIG}
    with start(version, 2, dir=tmp_path / "c", log_dirs=2, mode=MODES[version], broker_config=config) as cluster:
        assert {"L003", "L010", "L038", "L140"} <= check(broker_logs.damaged(cluster))


@pytest.mark.whole
@pytest.mark.parametrize("version", MODES)
def test_every_warning_of_a_broker_in_trouble_is_explained(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Of two brokers: a frozen one, a full disk, a corrupt compacted log, and starts on spoilt files."""
    config = {**histories.config(version), **troubled_brokers.CONFIG}
    with start(version, 2, dir=tmp_path / "c", log_dirs=2, mode=MODES[version], broker_config=config) as cluster:
        assert {"L003", "L140"} <= check(troubled_brokers.troubled(cluster))


@pytest.mark.whole
@pytest.mark.parametrize("version", MODES)
def test_every_warning_of_a_contested_broker_is_explained(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Of two brokers: another one has an id of theirs, the controller is gone, files may not be read."""
    config = {**histories.config(version), **contested_brokers.CONFIG}
    with start(version, 2, dir=tmp_path / "c", log_dirs=2, mode=MODES[version], broker_config=config) as cluster:
        assert {"L003", "L071", "L143"} <= check(contested_brokers.contested(cluster))


@pytest.mark.whole
@pytest.mark.parametrize("version", ["3.3.2", "3.6.2", "3.9.2", "4.0.2", "4.3.1"])
def test_every_warning_without_a_quorum_is_explained(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Of three nodes, two of which are gone."""
    config = {**histories.config(version), **contested_brokers.CONFIG}
    with start(version, 3, dir=tmp_path / "c", mode="kraft", combined=True, broker_config=config) as cluster:
        assert {"L003", "L160", "L201"} <= check(contested_brokers.without_quorum(cluster))


@pytest.mark.whole
@pytest.mark.parametrize("version", ["3.9.2", "4.0.2", "4.3.1"])
def test_every_warning_about_a_lost_remote_storage_is_explained(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Of one broker: some remote segments are gone, then all of them, while it runs and before its start."""
    remote = tmp_path / "remote"
    remote.mkdir()
    config = {**histories.config(version), **histories.tiered_storage(version, remote)}
    with start(version, 1, dir=tmp_path / "c", broker_config=config) as cluster:
        assert {"L180", "L181"} <= check(contested_brokers.remote_lost(cluster, remote))
