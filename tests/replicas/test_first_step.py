"""What `--next` shows as long as the controllers have not fenced the brokers.

Real brokers left the directories (fixtures/README.md).
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.documents.uncounted import NO_ELECTION
from tests.cli.command import kcheck as command
from tests.oracle.scenes import unpacked
from tests.replicas.test_recover import DIVERGED


@pytest.mark.parametrize("metadata", [(), ("diverged/broker-1",)])
def test_the_first_step_is_the_controllers_as_long_as_the_metadata_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metadata: Sequence[str]
) -> None:
    """Controllers of 4.3 fence brokers by themselves. The copy of a stopped broker never shows that."""
    shutil.copytree(DIVERGED, tmp_path / "diverged")
    monkeypatch.chdir(tmp_path)
    brokers = ("1=diverged/broker-1", "2=diverged/broker-2")
    kcheck.recover(*brokers, metadata=metadata, out="plan")
    now = kcheck.recovery_progress("plan", *brokers, metadata=metadata)
    first = "bin/kafka-server-start.sh -daemon config/controller.properties"
    assert (now.state, now.commands[0], now.waits_for_nodes) == (PlanState.NEXT, first, bool(metadata))
    said = command("recover", "plan", "--next", *brokers, *(word for path in metadata for word in ("--metadata", path)))
    assert ("config/server.properties" in said.out) == (not metadata)
    assert said.out.count(first) == 1
    until = "a controller leads, and the metadata lists no broker as running"
    assert (now.until == until) == bool(metadata)
    row = now.to_dict()
    assert (row["commands"][0], row["until"] == until, row["needs"] is None) == (first, bool(metadata), bool(metadata))


def test_a_plan_waits_for_settings_that_delete_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No election loses them, and retention.bytes of one byte does after the start."""
    monkeypatch.chdir(unpacked("clusters/4.3.1/unclean-happened", tmp_path))
    brokers = [f"{number}=broker-{number}/{name}" for number in (1, 2, 3) for name in ("data1", "data2")]
    kept = kcheck.recover(*brokers, metadata=["controller"], out="plan")
    assert kept.election.nothing_words != NO_ELECTION
    for number in (1, 2, 3):
        dirs = ",".join(str(Path(f"broker-{number}", name).absolute()) for name in ("data1", "data2"))
        settings = f"node.id={number}\nprocess.roles=broker\nlog.dirs={dirs}\nlog.retention.bytes=1\n"
        Path(f"broker-{number}/server.properties").write_text(settings)
    assert kcheck.recover(".").election.nothing_words == NO_ELECTION
    said = command("recover", "plan", "--next", ".")
    assert "\nStop: brokers 1, 2 and 3 delete records when started.\n" in said.out
    assert said.code == 1
