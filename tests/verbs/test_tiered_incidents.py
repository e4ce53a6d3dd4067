"""What kcheck says of directories with tiered storage, before real brokers of 4.3.1 lost records there."""

from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.releases import release
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding, Severity
from kcheck.model.report import PartitionFilter
from kcheck.verbs.check import check
from tests.cli.command import kcheck as command
from tests.tiered_states import EMPTY, GAP, KILLED, LOST, OBJECTS, OLD_LEADER, brokers, state

REMOTE = ("KC240", "KC241", "KC242", "KC243", "KC244", "KC245", "KC246", "KC411")


def remote(arguments: list[str], depth: Depth = Depth.HEADERS) -> list[Finding]:
    """Return the findings about remote storage."""
    report = check(arguments, depth=depth, as_kind=None, wanted=PartitionFilter(), release=release("4.3"))
    return [finding for finding in report.collected if finding.id in REMOTE]


def shown(findings: list[Finding]) -> list[tuple[str, int | None, str | None]]:
    """Return rule, broker and directory of findings."""
    return sorted((row.id, row.where.broker_id, row.where.dir) for row in findings)


def test_killed_while_the_auxiliary_state_is_built(tmp_path: Path) -> None:
    """The broker deleted offsets 0 to 19 when it led, and did not serve 20 to 34. A restart had hidden that."""
    killed = remote(brokers(state(KILLED, "3-killed", tmp_path)))
    assert shown(killed) == [("KC240", 2, "a-0")]
    assert killed[0].effect.endswith("at most offsets 0-34. A restart hides this and does not heal it.")
    joined = remote(brokers(tmp_path / "4-joined"))
    assert shown(joined) == [("KC240", 2, "a-0"), ("KC242", 2, "a-0")]
    assert "at most offsets 0-19." in joined[0].effect
    assert "does not serve offsets 0-34." in joined[1].effect


def test_the_old_leader_after_an_unclean_election(tmp_path: Path) -> None:
    """A preferred election deleted offsets 0 to 23; offset 24 was readable."""
    (found,) = remote(brokers(state(OLD_LEADER, "4-back", tmp_path)))
    assert shown([found]) == [("KC411", 1, "uncl-0")]
    assert "deletes offsets 0-23 for readers, and at most the remote segments of offsets 0-39" in found.effect
    assert remote(brokers(tmp_path / "1-before")) == []


def test_an_empty_replica_that_was_elected(tmp_path: Path) -> None:
    """It deleted offsets 0 to 19 as soon as the metadata partition had a leader."""
    (found,) = remote(brokers(state(EMPTY, "3-broker-2-led", tmp_path)))
    assert shown([found]) == [("KC411", 2, "empty-0")]
    assert found.effect.endswith("It waits until __remote_log_metadata-2 has a leader.")


def test_lost_metadata(tmp_path: Path) -> None:
    """The broker raised the log starts from 0 to 20 within 10 s, and logged no error."""
    found = remote([str(state(LOST, "1b-dirs-removed", tmp_path) / "broker-1")])
    assert shown(found) == [("KC245", 1, "m-0"), ("KC245", 1, "n-0")]
    assert {row.severity for row in found} == {Severity.FATAL}
    assert {row.effect for row in found} == {
        "This start raises the log start from 0 to 20. Kafka 4.3 leaves 20 records in the store."
    }
    assert remote([str(tmp_path / "2-started/broker-1")]) == []


def test_a_gap_and_an_emptied_file(tmp_path: Path) -> None:
    """Consumers got OFFSET_OUT_OF_RANGE at 20, and the broker deleted 0 to 19 of cp."""
    found = remote([str(state(GAP, "3-gap", tmp_path) / "broker-1")])
    assert shown(found) == [("KC240", 1, "cp-0"), ("KC241", 1, "gap-0")]
    assert found[1].message == "offsets 20-24 are neither local nor remote"
    assert shown(remote([str(tmp_path / "5-stopped/broker-1")])) == [
        ("KC241", 1, "gap-0"), ("KC243", 1, "gap-0"), ("KC243", 1, "ok-0"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("incident", "name"), [(GAP, "2-stopped"), (LOST, "1-before"), (OBJECTS, "1-stopped"), (OBJECTS, "2-read")]
)
def test_what_is_right(tmp_path: Path, incident: str, name: str) -> None:
    """What is in the store decides about objects; the files of the broker are right."""
    assert remote([str(state(incident, name, tmp_path) / "broker-1")]) == []


def test_checkpoints_alone_are_not_enough(tmp_path: Path) -> None:
    """That depth reads no records of __remote_log_metadata; the epochs alone are compared as before."""
    found = remote([str(state(GAP, "3-gap", tmp_path) / "broker-1")], Depth.CHECKPOINTS)
    assert shown(found) == [("KC240", 1, "cp-0")]


def test_what_inspect_shows(tmp_path: Path) -> None:
    """Log start, local start and the remote part; nothing for a log without one."""
    of = state(KILLED, "4-joined", tmp_path) / "broker-2"
    (item,) = kcheck.inspect(of, partitions=PartitionFilter(topics=("a", "__remote_log_metadata"))).to_dict()["items"]
    rows = {row["dir"]: row for row in item["partitions"]}
    assert rows["__remote_log_metadata-0"]["remote"] is None
    assert rows["a-0"]["log_start_offset"] == 0
    assert rows["a-0"]["remote"] == {
        "metadata": "read", "metadata_partition": 1, "metadata_leader": 1, "local_start_offset": 35,
        "remote_end_offset": 35, "segments": 7, "size": 2800, "offsets": [{"from": 0, "to_exclusive": 35}],
        "unfinished": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("incident", "name", "line"),
    [
        (OBJECTS, "1-stopped", "local start 20, 2 offsets local, 20 in 4 remote segments (0-19), 0 in both places"),
        (LOST, "1b-dirs-removed", "local start 20, 4 offsets local, remote segments not known: __remote_log_metadata"),
    ],
)
def test_the_line_of_inspect(tmp_path: Path, incident: str, name: str, line: str) -> None:
    shown = command("inspect", str(state(incident, name, tmp_path) / "broker-1"))
    assert line in " ".join(shown.out.split())
