"""Damages to the disks of a healthy cluster with remote storage, and the losses that real brokers then had.

Brokers of 3.9.2 were started with such an `old_disk`, `old_metadata`, `no_metadata` and `no_logs`. They lost the
offsets that the docstrings name.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import kcheck as command
from tests.tiered_states import STOPPED, state

CHECKPOINTS = tuple(f"{name}-offset-checkpoint" for name in ("replication", "recovery-point", "log-start"))
SETTINGS = (
    "process.roles=broker\nnode.id=1\nlog.dirs={0}/broker-1\nlisteners=PLAINTEXT://:9092\n"
    "controller.listener.names=CONTROLLER\ncontroller.quorum.voters=100@127.0.0.1:28336\n"
    "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
    "remote.log.storage.system.enable=true\nremote.log.storage.manager.class.name=X\n"
    "remote.log.metadata.manager.listener.name=PLAINTEXT\n"
    "rlmm.config.remote.log.metadata.topic.num.partitions=3\n"
)


def older(of: Path, *names: str) -> None:
    """Put files and directories of the older disk of broker 1 back."""
    for name in names:
        source, to = of.parent / "1-older" / "broker-1" / name, of / "broker-1" / name
        if source.is_dir():
            shutil.rmtree(to)
            shutil.copytree(source, to)
        else:
            shutil.copy(source, to)


def metadata(of: Path) -> list[str]:
    """Return the names of the directories of __remote_log_metadata."""
    return [path.name for path in (of / "broker-1").glob("__remote_log_metadata-*")]


def old_disk(of: Path) -> None:
    """Offsets 20-44 of each topic: broker 2 truncates, and segments of 20-39 stay in the store unread."""
    shutil.rmtree(of / "broker-1")
    shutil.copytree(of.parent / "1-older" / "broker-1", of / "broker-1")


def old_logs(of: Path) -> None:
    """Lose the same offsets, which no checkpoint of the disk shows."""
    older(of, "a-0", "alone-0", "both-0", *CHECKPOINTS)


def old_metadata(of: Path) -> None:
    """Offsets 15-39: broker 2 truncates its whole copy of the metadata."""
    older(of, *metadata(of), CHECKPOINTS[0])


def no_metadata(of: Path) -> None:
    """Offsets 0-39: broker 1 makes empty logs, and broker 2 truncates."""
    for name in metadata(of):
        shutil.rmtree(of / "broker-1" / name)


def empty_disk(of: Path) -> None:
    """All offsets: an empty log that leads deletes the remote segments."""
    for path in (of / "broker-1").iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in {"meta.properties", "bootstrap.checkpoint"}:
            path.unlink()


def no_logs(of: Path) -> None:
    """All offsets: the directories are there, and nothing in them."""
    for name in ("a-0", "alone-0", "both-0"):
        for path in (of / "broker-1" / name).iterdir():
            if path.name != "partition.metadata":
                path.unlink()


DAMAGES = (old_disk, old_logs, old_metadata, no_metadata, empty_disk, no_logs)
VERBS = ("predict", "check", "recover", "tiered")


def damaged(damage: Callable[[Path], None], folder: Path) -> tuple[Path, list[str]]:
    """Return the damaged state, and the arguments for its brokers."""
    of = state(STOPPED, "2-stopped", folder)
    damage(of)
    (of / "server.properties").write_text(SETTINGS.format(of))
    return of, [*(f"{number}={of}/broker-{number}" for number in (1, 2)), "--metadata", f"{of}/controller"]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_verb_is_green(damage: Callable[[Path], None], verb: str, tmp_path: Path) -> None:
    _, brokers = damaged(damage, tmp_path)
    assert command(verb, *brokers).code == 1


@pytest.mark.parametrize("verb", [*VERBS, "elect"])
def test_the_healthy_disks(verb: str, tmp_path: Path) -> None:
    _, brokers = damaged(lambda _: None, tmp_path)
    assert command(verb, *brokers).code == 0


@pytest.mark.parametrize("verb", ["predict", "elect", "tiered"])
def test_a_log_that_ends_below_its_remote_segments(verb: str, tmp_path: Path) -> None:
    """A follower shows more, where there is one. Nothing else knows the records of an only replica."""
    _, brokers = damaged(old_logs, tmp_path)
    said = " ".join(command(verb, *brokers, "--all").out.split())
    for name, shown, then in (
        (
            "a",
            "the replica of broker 2 shows records up to offset 44",
            "as leader broker 1 makes the other replicas delete theirs",
        ),
        ("alone", "__remote_log_metadata-2 shows records up to offset 39", "no other broker has a replica with them"),
    ):
        line = f"{name}-0 ends at 20 here, but {shown}: {then}"
        assert line in said


@pytest.mark.parametrize(("damage", "end"), [(old_metadata, 30), (no_metadata, 0)])
def test_metadata_whose_next_leader_lacks_records(damage: Callable[[Path], None], end: int, tmp_path: Path) -> None:
    """Broker 2 has them all, and truncates. So what it has does not count, with or without settings."""
    of, brokers = damaged(damage, tmp_path)
    (of / "server.properties").unlink()
    answer = command("tiered", *brokers, columns=200)
    words = f"Not known: __remote_log_metadata-0 ends at {end} on broker 1, and has records up to offset 71."
    assert (answer.code, words in answer.out) == (1, True)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("log.retention.ms=1000", "retention keeps records of a-0 and 5 more logs for 1000 ms"),
        ("log.retention.bytes=300", "retention keeps 300 bytes of a-0 and 6 more logs"),
    ],
)
def test_settings_that_delete_most_remote_segments(setting: str, words: str, tmp_path: Path) -> None:
    """A deletion is regular only if the stopped broker had the same settings."""
    of, (*_, controller) = damaged(lambda _: None, tmp_path)
    path = of / "server.properties"
    assert command("preflight", path, "--metadata", controller).code == 0
    path.write_text(f"{path.read_text()}{setting}\n")
    answer = command("preflight", path, "--metadata", controller)
    assert (answer.code, f"loss P324 {words}" in " ".join(answer.out.split())) == (1, True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rlmm.config.remote.log.metadata.topic.num.partitions=3", "is 50 by default, but __remote_log_metadata has 3"),
        ("remote.log.metadata.manager.listener.name=PLAINTEXT", "remote.log.metadata.manager.listener.name is missing"),
    ],
)
def test_settings_without_a_line(line: str, words: str, tmp_path: Path) -> None:
    """Brokers of 4.3.1 ended seconds after the start."""
    of, (*_, controller) = damaged(lambda _: None, tmp_path)
    path = of / "server.properties"
    path.write_text(path.read_text().replace(f"{line}\n", ""))
    answer = command("preflight", path, "--metadata", controller, columns=300)
    assert (answer.code, "loss P823" in answer.out, words in answer.out) == (1, True, True)
