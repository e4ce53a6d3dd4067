"""Kafka's own tools know the commands of plan.md and read its files as kcheck means them, release by release."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.core.election.plans import PartitionElection
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts
from kcheck.handouts.group_resets import resets_of
from kcheck.model.entries import Offset
from tests.core.election.test_plans import candidate, election
from tests.core.election.test_recovery_plan import recovery
from tests.handouts.pages import files_for, page_of
from tests.oracle.ask import IS_WHOLE, Ask
from tests.oracle.clusters.diverged import class_of

pytestmark = pytest.mark.oracle

RELEASES = ("2.4.1", "2.8.2", "3.6.2", "3.9.2", "4.3.1")
TOPICS = ("orders", "eu.west_1", "a-b-0", "T" * 249)
GROUPS = ("billing", "mail.eu-1", "my_group")


def assignments(text: str) -> str:
    """Return the partitions of a reassignment as the oracle writes them."""
    rows = json.loads(text)["partitions"]
    return " ".join(sorted(f"{row['topic']}-{row['partition']}={','.join(map(str, row['replicas']))}" for row in rows))


@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else RELEASES[-1:])
def test_the_tools_read_the_files(version: str, tmp_path: Path, ask: Ask) -> None:
    """Every partition, its replicas in their order, and every offset of every group."""
    partitions = [_waiting(topic, number) for topic in TOPICS for number in (0, 11)]
    plan = recovery(*partitions, release=release(version), order=(3, 2))
    files = files_for(plan)
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    expected = {
        f"election {tmp_path}/election.json": " ".join(sorted(f"{part.topic}-{part.partition}" for part in partitions))
    }
    for name in ("reassignment.json", "rollback.json", "restore.json"):
        expected[f"reassignment {tmp_path}/{name}"] = assignments(files[name])
    (resets,) = resets_of(plan)
    rows = " ".join(sorted(f"{part.topic}-{part.partition}=9" for part in partitions))
    expected[f"resets {tmp_path}/{resets.file} {','.join(resets.groups)}"] = " ".join(
        f"{group}={{{rows}}}" for group in sorted(GROUPS)
    )
    assert [*expected.values()] == ask(version, "ElectionFiles.java", expected)


def _waiting(topic: str, number: int) -> PartitionElection:
    """Return a partition whose last replica in sync is gone; of the others the second one loses less."""
    partition = election(candidate(2, Amounts(5, 5, 5)), candidate(3, groups_beyond=len(GROUPS)), isr=(9,))
    assert partition.registration is not None
    return partition._replace(
        topic=topic,
        partition=number,
        registration=partition.registration._replace(replicas=(9, 2, 3)),
        groups=tuple((group, Offset(1000)) for group in GROUPS),
    )


COMMANDED = ("1.1.1", "2.4.1", "2.8.2", "3.6.2", "3.9.2", "4.3.1")
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
AT_ADDRESS = re.compile(r'Invalid url in bootstrap\.servers: nowhere|For input string: "nowhere"')


@pytest.mark.parametrize("version", COMMANDED if IS_WHOLE else ("1.1.1", COMMANDED[-1]))
def test_the_tools_know_the_commands(version: str, tmp_path: Path, ask: Ask) -> None:
    """Every class and option exists: each command fails at its address, which is none; so it does with a login."""
    (tmp_path / "client.properties").touch()
    plan = recovery(
        *(_waiting(topic, 0) for topic in TOPICS), release=release(version), order=(3, 2), folder=str(tmp_path),
        kraft=version >= "3",
    )  # fmt: skip
    for name, content in files_for(plan).items():
        (tmp_path / name).write_text(content, "utf-8")
    text = page_of(plan)
    commands = [*_commands(text, version, tmp_path)]
    tools = {command.partition("\t")[0].rpartition(".")[2] for command in commands}
    assert {"TopicCommand", "ReassignPartitionsCommand", "ConsumerGroupCommand"} <= tools
    assert ("LeaderElectionCommand" in tools) is (version != "1.1.1")
    answers = ask(version, "Commands.java", commands)
    refused = [pair for pair in zip(commands, answers, strict=True) if not AT_ADDRESS.search(pair[1])]
    assert refused == []


def _commands(text: str, version: str, folder: Path) -> Iterator[str]:
    """Yield each of Kafka's commands in a plan for `Commands.java`, also with the options that it names for a login."""
    elects_by = "--admin.config" if "the option is `--admin.config`" in text else "--command-config"
    script = "\n".join(BLOCK.findall(text)).replace("\\\n", " ")
    for tool, rest in re.findall(r"bin/(?!kafka-server)(\S+)\.sh (.+)", script):
        words = [re.sub("^localhost:(9092|2181)$", "nowhere:nowhere", word) for word in shlex.split(rest)]
        command = [*class_of(tool, version).split(), *words]
        yield "\t".join(command)
        if "--bootstrap-server" in words or "to each command of Kafka." in text:
            option = elects_by if tool == "kafka-leader-election" else "--command-config"
            yield "\t".join((*command, option, str(folder / "client.properties")))
