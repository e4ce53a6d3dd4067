"""`kcheck recover quorum`: which controllers count, by their ids and by what they lack."""

import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.quorum_loss import NewVoter
from kcheck.core.rescue.refusals import refusals_of_way
from kcheck.core.rescue.ways import Way
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.segments.batches import Walk
from tests.cli.command import kcheck as command
from tests.replicas.test_recover_quorum import asked, dynamic, laid_out, log, names, nodes

__all__ = ["nodes"]


def cut(nodes: Path, number: int, offset: int) -> None:
    """Let a node never have received what is at an offset and above."""
    with LOCAL.open(str(log(nodes, number))) as source:
        kept = [batch for batch in Walk(source) if batch.last_offset < offset]
    log(nodes, number).write_bytes(log(nodes, number).read_bytes()[: kept[-1].position + kept[-1].size])


TOPIC_AT = 24
"""The offset of the record of topic `voted`."""


def test_two_of_three_of_an_old_state_lack_a_topic_that_a_broker_serves(nodes: Path) -> None:
    """Its directory proves that it was committed. Without one they may just not have received it."""
    for number in (1, 2):
        cut(nodes, number, TOPIC_AT)
    answer = asked(nodes, 1, 2, 3)
    assert answer.loss is not None
    assert (answer.loss.behind, answer.loss.committed_to) == ((1, 2), TOPIC_AT + 2)  # the topic and its partition
    assert answer.rescue is not None
    assert (answer.rescue.way, answer.rescue.target.node_id) == (Way.STATIC, 3)
    here = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)]
    assert {verb: command(verb, *here).code for verb in ("cluster", "elect", "recover")} == {
        "cluster": 1, "elect": 1, "recover": 1
    }  # fmt: skip
    assert "Do not start any node: kcheck recover quorum" in " ".join(command("cluster", *here).out.split())
    for path in nodes.glob("broker-*/data1/voted-0/partition.metadata"):
        path.write_text("version: 0\ntopic_id: AAAAAAAAQAaAAAAAAAAAAA")
    (nodes / "broker-1" / "data1" / "voted-0" / "partition.metadata").unlink()
    answer = asked(nodes, 1, 2, 3)
    assert answer.loss is not None
    assert (answer.loss.behind, names(answer)) == ((), ["stale-copy", "majority"])
    assert "Start 3 first, with 1, and the others once a controller leads." in answer.refusals[1].bring


def test_a_broker_is_no_controller(tmp_path: Path) -> None:
    """The refusal names an id that no node has, not that of the broker."""
    nodes = laid_out(tmp_path)
    answer = asked(nodes, 3, dead=[1, 2, 3], voter="3")
    assert [row.name for row in answer.refusals if row.name == "no-controller"] == []
    loss = answer.loss
    assert loss is not None
    others = loss._replace(voters=(101,))
    (refusal,) = refusals_of_way(others, NewVoter(3), others.node(3), None)
    assert "and name it: 201=PATH --voter 201." in refusal.bring


def test_meta_properties_of_another_controller(nodes: Path) -> None:
    """Copied by hand: the command names a node, and the file another one; without numbers one node is here twice."""
    shutil.copy(nodes / "broker-1" / "data1" / "meta.properties", nodes / "broker-2" / "data1" / "meta.properties")
    with pytest.raises(UsageError, match=r"says node 1\. For a disk of node 1, write 1="):
        asked(nodes, 1, 2, dead=[3])
    answer = kcheck.recover_quorum(f"{nodes}/broker-1", f"{nodes}/broker-2", dead=[2, 3])
    assert names(answer) == ["node-twice"]


def test_a_voter_with_another_directory_id_is_asked_for_its_own(nodes: Path) -> None:
    """The log names the directory that votes."""
    dynamic(nodes, 1)
    shutil.copy(log(nodes, 1), log(nodes, 2))
    assert names(asked(nodes, 1, 2, dead=[3])) == ["directory-id"]
    answer = asked(nodes, 1, 2, dead=[3], force=True)
    assert answer.rescue is not None
    assert (answer.rescue.target.node_id, answer.loss and answer.loss.lost) == (1, (2, 3))
