"""What `--next` shows as long as the controllers have not fenced the brokers.

Real brokers left the directories (fixtures/README.md).
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from tests.cli.command import kcheck as command
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
