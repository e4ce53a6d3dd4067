"""Every verb about every loss in remote storage that real brokers had: one table.

A: killed while the auxiliary state is built. B: an old leader after an unclean election. C: an empty replica is elected
uncleanly. D: the metadata topic is lost. E: deletes that fail. F: a gap below the local start. G: a missing object.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from pyarrow import parquet

from tests.cli.command import document
from tests.cli.command import kcheck as command
from tests.tiered_states import EMPTY, GAP, KILLED, LOST, OBJECTS, OLD_LEADER, REFUSED, state


class Case(NamedTuple):
    """A loss, before it happens."""

    incident: str
    state: str
    topic: str
    broker: int
    """The broker that loses the records."""
    voters: str
    """The voters in its metadata."""
    after: str
    """The state after the loss."""


CASES = {
    "A": Case(KILLED, "4-joined", "a", 2, "100", "6-broker-2-led"),
    "B": Case(OLD_LEADER, "4-back", "uncl", 1, "100", "5-broker-1-led"),
    "C": Case(EMPTY, "1-before", "empty", 2, "100", "4-back"),
    "C led": Case(EMPTY, "3-broker-2-led", "empty", 2, "100", "4-back"),
    "D": Case(LOST, "1b-dirs-removed", "m", 1, "1", "2-started"),
    "E": Case(REFUSED, "1-failing", "more", 1, "1", "2-started"),
    "F": Case(GAP, "3-gap", "gap", 1, "1", "5-stopped"),
    "G": Case(OBJECTS, "1-stopped", "missing", 1, "1", "2-read"),
}


def brokers_of(of: Path) -> list[str]:
    """Return the arguments of a state, with its controller."""
    here = [f"{number}={of}/broker-{number}" for number in (1, 2) if (of / f"broker-{number}").exists()]
    return [*here, *metadata_of(of)]


def metadata_of(of: Path) -> list[str]:
    """Return the option for the controller, if there is one beside the brokers."""
    return ["--metadata", str(of / "controller")] if (of / "controller").exists() else []


def settings_of(case: Case, of: Path) -> Path:
    """Write the server.properties of the broker."""
    is_own = case.voters == str(case.broker)
    path = of / "server.properties"
    path.write_text(
        f"process.roles={'broker,controller' if is_own else 'broker'}\nnode.id={case.broker}\n"
        f"log.dirs={of}/broker-{case.broker}\nlisteners=PLAINTEXT://:9092{',CONTROLLER://:9093' if is_own else ''}\n"
        f"controller.listener.names=CONTROLLER\ncontroller.quorum.voters={case.voters}@localhost:9093\n"
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
        "remote.log.storage.system.enable=true\nremote.log.storage.manager.class.name=X\n"
        "remote.log.metadata.manager.listener.name=PLAINTEXT\n"
        "rlmm.config.remote.log.metadata.topic.num.partitions=3\n"
    )
    return path


def verified(case: Case, of: Path, folder: Path) -> tuple[object, ...]:
    """Save the plan of elect, and return the arguments that compare the state after the loss with it."""
    command("elect", *brokers_of(of), "--output-dir", folder / "plan")
    return ("verify", folder / "plan", *brokers_of(of.parent / case.after))


VERBS: dict[str, Callable[[Case, Path, Path], tuple[object, ...]]] = {
    "inspect": lambda case, of, _: (
        "inspect", of / f"broker-{case.broker}", "--topic", case.topic, "--severity", "info"
    ),
    "PATH": lambda case, of, _: (of / f"broker-{case.broker}",),
    "check": lambda case, of, _: ("check", *brokers_of(of), "--topic", case.topic, "--severity", "info"),
    "predict": lambda case, of, _: (
        "predict", of / f"broker-{case.broker}", *metadata_of(of), "--topic", case.topic
    ),
    "preflight": lambda case, of, _: ("preflight", settings_of(case, of), *metadata_of(of)),
    "truncation": lambda case, of, _: (
        "truncation", *brokers_of(of)[: 2 if case.voters == "100" else 1], "--all", "--topic", case.topic
    ),
    "elect": lambda case, of, _: ("elect", *brokers_of(of), "--topic", case.topic),
    "recover": lambda case, of, _: ("recover", *brokers_of(of), "--topic", case.topic),
    "verify": verified,
    "tiered": lambda case, of, _: ("tiered", *brokers_of(of), "--topic", case.topic, "--store", of / "store"),
    "fleet scan": lambda _, of, folder: (
        "fleet", "scan", of, "--output-dir", folder / "run", "--store", of / "store"
    ),
}  # fmt: skip

EXPECTED: dict[str, dict[str, tuple[int, str]]] = {
    "A": {
        "PATH": (1, "a-0 loads with offsets 0-34 not readable while it leads"),
        "inspect": (1, "a-0: local start 35, 1 offset local, 35 in 7 remote segments (0-34)"),
        "check": (1, "While this replica leads, Kafka 4.3 does not serve offsets 0-34."),
        "predict": (1, "a-0 loads; once it leads, Kafka deletes at most 4 remote segments (offsets 0-19)"),
        "preflight": (1, "loss P812 {0}/broker-2: a-0 loads with offsets 0-34 not readable while it leads"),
        "truncation": (1, "a-0 2 36 0 of 1 at most 20 at most 20 0 last leader"),
        "elect": (1, "Before broker 2 starts, move its directory of a-0 outside every log dir"),
        "recover": (
            1,
            "Starting everything now: at most 20 records are lost, all of them committed. This plan: nothing that is",
        ),
        "verify": (1, "a-0: the leader has offsets 0-35, on disk or in remote segments; seen: broker 2 does not serve"),
        "tiered": (1, "if it leads deletes 0-19 · not readable 0-34"),
        "fleet scan": (1, "a 1 0 0 0 2 20 4 35"),
    },
    "B": {
        "PATH": (1, "uncl-0 loads; once it leads, Kafka deletes at most 8 remote segments (offsets 0-39)"),
        "inspect": (0, "uncl-0: local start 40, 2 offsets local, 16 in 12 remote segments (24-39)"),
        "check": (1, "deletes offsets 0-23 for readers, and at most the remote segments of offsets 0-39"),
        "predict": (1, "uncl-0 loads; once it leads, Kafka deletes at most 8 remote segments (offsets 0-39)"),
        "preflight": (1, "loss P811 {0}/broker-1: uncl-0 loads; once it leads, Kafka deletes at most 8 remote"),
        "truncation": (1, "* broker 2 is the best leader of uncl-0"),
        "elect": (0, "Start broker 2 first. Then start 1. Before broker 1 starts, move its directory of uncl-0 out"),
        "recover": (
            1,
            "Starting everything now: at most 24 records are lost, all of them committed. This plan: nothing is",
        ),
        "verify": (1, "uncl-0: the leader has offsets 0-41, on disk or in remote segments; seen: broker 2 does not"),
        "tiered": (1, "if it leads deletes 0-39 · not readable - uncl-0 broker 2 · log start 0"),
        "fleet scan": (1, "uncl 1 24 8 0 2 0 0 0"),
    },
    "C": {
        "PATH": (0, "Broker 2 is not in sync in empty-0, uncl-0, wipe-0, and leads there if it is back first"),
        "inspect": (0, "KC302 log-start-offset-checkpoint has 1 entry without a directory in this log dir: empty-0"),
        "check": (0, "log-start-offset-checkpoint has 1 entry without a directory in this log dir: empty-0"),
        "predict": (0, "Broker 2 is not in sync in empty-0, uncl-0, wipe-0"),
        "preflight": (1, "unknown P601 broker 2 is not in sync in empty-0, uncl-0, wipe-0"),
        "truncation": (0, "empty-0 1 * 24 0 of 0 0 0 0 ELR"),
        "elect": (0, "unclean, empty · log end 0 · lost at most 24 · committed at most 24"),
        "recover": (
            1,
            "Starting everything now: at most 44 records are lost, all of them committed. This plan: nothing is",
        ),
        "verify": (
            1,
            "empty-0: the leader has offsets 0-23, on disk or in remote segments; seen: broker 2 does not serve",
        ),
        "tiered": (0, "empty-0 2 - - - 0-19 1.6 KiB deletes 0-19 -"),
        "fleet scan": (0, "empty 1 0 0 0 2 20 4 0"),
    },
    "C led": {
        "PATH": (1, "empty-0 loads; once it leads, Kafka deletes at most 4 remote segments (offsets 0-19)"),
        "inspect": (0, "empty-0: local start 0, 18 offsets local, 18 in 4 remote segments (0-17), 18 in both places"),
        "check": (
            1,
            "KC411 empty-0/leader-epoch-checkpoint begins with epoch 2 from offset 0; another replica has older",
        ),
        "predict": (1, "empty-0 loads; once it leads, Kafka deletes at most 4 remote segments (offsets 0-19)"),
        "preflight": (
            1,
            "loss P811 {0}/broker-2: empty-0 loads; once it leads, Kafka deletes at most 4 remote segments",
        ),
        "truncation": (1, "* broker 1 is the best leader of empty-0"),
        "elect": (1, "Start broker 1 first. Then start 2. Before broker 2 starts, move its directory of empty-0 out"),
        "recover": (1, "2. Move 2 directories of broker 2 aside: they lack records"),
        "verify": (
            1,
            "empty-0: the leader has offsets 0-23, on disk or in remote segments; seen: broker 2 does not serve",
        ),
        "tiered": (1, "empty-0 2 0 0 18 0-19 1.6 KiB deletes 0-19 -"),
        "fleet scan": (1, "empty 1 0 0 0 2 20 4 0"),
    },
    "D": {
        "PATH": (1, "m-0: this start raises the log start from 0 to 20 and leaves 20 records in the store"),
        "inspect": (
            1,
            "m-0: local start 20, 4 offsets local, remote segments not known: __remote_log_metadata is missing",
        ),
        "check": (1, "This start raises the log start from 0 to 20. Kafka 4.3 leaves 20 records in the store."),
        "predict": (1, "m-0: this start raises the log start from 0 to 20 and leaves 20 records in the store"),
        "preflight": (
            1,
            "loss P813 {0}/broker-1: m-0: this start raises the log start from 0 to 20 and leaves 20 records",
        ),
        "truncation": (2, "name the replicas of at least two brokers"),
        "elect": (
            1,
            "First restore __remote_log_metadata: broker 1: m-0: this start raises the log start from 0",
        ),
        "recover": (
            1,
            "First restore __remote_log_metadata: broker 1: m-0: this start raises the log start from 0 to 20",
        ),
        "verify": (0, "All 28 steps are as planned."),
        "tiered": (1, "m-0 1 0 20 24 missing 0 B - 0-19"),
        "fleet scan": (1, "m 1 20 None None"),
    },
    "E": {
        "PATH": (1, "more-0: the store refused 3 tries to delete 1 remote segment. Meanwhile retention moves"),
        "inspect": (1, "more-0: error KC244 more-0: 1 remote segment is not deleted after 3 tries"),
        "check": (1, "With retention.bytes=1500 each try moves the log start further."),
        "predict": (1, "more-0: the store refused 3 tries to delete 1 remote segment. Meanwhile retention moves"),
        "preflight": (
            1,
            "loss P821 {0}/broker-1: more-0: the store refused 3 tries to delete 1 remote segment. Meanwhile",
        ),
        "truncation": (2, "name the replicas of at least two brokers"),
        "elect": (1, "First: Repair the access to the store before any broker starts."),
        "recover": (1, "Not counted: broker 1: more-0: the store refused 3 tries to delete 1 remote segment"),
        "verify": (1, "more-0: the leader has offsets 20-59, on disk or in remote segments; seen: broker 1 does not"),
        "tiered": (1, "error KC244 more-0: 1 remote segment is not deleted after 3 tries"),
        "fleet scan": (1, "more 1 0 0 0"),
    },
    "F": {
        "PATH": (1, "gap-0 loads with offsets 20-24 neither local nor remote"),
        "inspect": (1, "gap-0: offsets 20-24 are neither local nor remote"),
        "check": (1, "Consumers get OFFSET_OUT_OF_RANGE at 20."),
        "predict": (1, "gap-0 loads with offsets 20-24 neither local nor remote"),
        "preflight": (1, "loss P812 {0}/broker-1: gap-0 loads with offsets 20-24 neither local nor remote"),
        "truncation": (2, "name the replicas of at least two brokers"),
        "elect": (1, "at most 5 records are lost, all of them committed"),
        "recover": (1, "Starting everything now: at most 25 records are lost, all of them committed."),
        "verify": (1, "Nothing differs from the plan. 7 of 39 steps are not known."),
        "tiered": (1, "gap-0 1 0 25 38 0-19 1.6 KiB - 20-24"),
        "fleet scan": (1, "gap 1 5 0 0"),
    },
    "G": {
        "PATH": (0, "note: 8 remote segments: the store was not read; kcheck tiered --store PLACE reads it"),
        "inspect": (0, "missing-0: local start 20, 2 offsets local, 20 in 4 remote segments (0-19)"),
        "check": (0, "batch headers"),
        "predict": (0, "note: 4 remote segments: the store was not read; kcheck tiered --store PLACE reads it"),
        "preflight": (0, "note: 8 remote segments: the store was not read; kcheck tiered --store PLACE reads it"),
        "truncation": (2, "name the replicas of at least two brokers"),
        "elect": (0, "note: 8 remote segments: the store was not read; kcheck tiered --store PLACE reads it"),
        "recover": (0, "note: 8 remote segments: the store was not read; kcheck tiered --store PLACE reads it"),
        "verify": (0, "Nothing differs from the plan. 5 of 28 steps are not known."),
        "tiered": (1, "error KC247 missing-0: 5-9 lacks .log, 10-14 lacks .index"),
        "fleet scan": (1, "missing 1 0 0 0"),
    },
}
"""Exit code and words. After a scan the words are brokers with lost offsets, deleted segments, unreadable offsets.

Only tiered and fleet scan look into the store (G). Plans for D and F know the loss.
"""


def asked(name: str, verb: str, folder: Path) -> tuple[int, str]:
    """Return the exit code and the words of a verb about a case."""
    case = CASES[name]
    of = state(case.incident, case.state, folder)
    shown = command(*VERBS[verb](case, of, folder))
    words = " ".join(f"{shown.out} {shown.err}".split()).replace(str(of), "{0}")
    return shown.code, f"{words} {scanned(case, folder)}" if verb == "fleet scan" else words


def scanned(case: Case, folder: Path) -> str:
    """Return the rows of the topic in the table `tiered_partitions` of the run."""
    (run,) = (folder / "run").iterdir()
    rows = parquet.read_table(run / "tiered_partitions").to_pylist()
    shown = sorted(
        (row["broker_id"], row["lost_if_leads"], row["deleted_if_leads"], row["not_readable"])
        for row in rows
        if row["topic"] == case.topic
    )
    return " ".join(map(str, (case.topic, *(value for row in shown for value in row))))


@pytest.mark.sample(24)
@pytest.mark.parametrize(("name", "verb"), [(name, verb) for verb in VERBS for name in EXPECTED])
def test_each_loss_by_each_verb(name: str, verb: str, tmp_path: Path) -> None:
    code, words = asked(name, verb, tmp_path)
    expected = EXPECTED[name][verb]
    assert (code, expected[1] in words) == (expected[0], True), words


def test_every_verb_is_asked() -> None:
    """Each loss has an answer of each verb; the scan names the replicas that lose records."""
    assert all(rows.keys() == VERBS.keys() for rows in EXPECTED.values())


def test_the_picture_of_an_election_shows_remote_losses(tmp_path: Path) -> None:
    """Offsets 20-24 of 38 are in no place; they were drawn as kept."""
    case = CASES["F"]
    shown = command(*VERBS["elect"](case, state(case.incident, case.state, tmp_path), tmp_path)).out
    assert re.findall(r"\|(=+x+=+)\| 0-37", shown)


@pytest.mark.parametrize(("name", "lost"), [("A", 20), ("B", 24), ("F", 20)])
def test_the_page_names_the_replica_that_loses(name: str, lost: int, tmp_path: Path) -> None:
    """First the worst one. In F that is the other topic, whose leader epochs are lost."""
    case = CASES[name]
    of = state(case.incident, case.state, tmp_path)
    command("fleet", "scan", of, "--output-dir", tmp_path / "run")
    (run,) = (tmp_path / "run").iterdir()
    worst = document("fleet", "report", str(run))["remote"][0]
    assert (worst["broker_id"], worst["must_not_lead"], worst["lost_if_leads"]) == (case.broker, True, lost)
    command("fleet", "report", run, "--html", tmp_path / "page.html")
    assert "<div>must not lead</div>" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("price", ["nan", "inf", "1e400", "-0.1"])
def test_prices_that_are_none(price: str, tmp_path: Path) -> None:
    """JSON has no such number."""
    of = state(OBJECTS, "1-stopped", tmp_path)
    assert command("tiered", str(of / "broker-1"), "--price", price, "--format", "json").code == 2


@pytest.mark.parametrize("verb", ["predict", "preflight", "elect", "recover", "tiered"])
def test_what_retention_deletes_is_no_accident(verb: str, tmp_path: Path) -> None:
    """The broker of 4.3.1 whose store works again has 1700 bytes with retention.bytes=1500."""
    case = CASES["E"]
    of = state(case.incident, "2-started", tmp_path)
    settings_of(case, of)
    words = " ".join(command(*VERBS[verb](case, of, tmp_path)).out.split())
    if verb == "tiered":
        assert "retention.bytes 25-29 · retention.ms from 2026-12-05T22:38:05Z · all by 2026-12-05T22:38:06Z" in words
    else:
        assert "note: once broker 1 leads, retention.bytes deletes more-0 25-29. That is regular" in words


@pytest.mark.parametrize("verb", ["elect", "recover"])
def test_the_loss_of_each_leader_in_remote_storage(verb: str, tmp_path: Path) -> None:
    case = CASES["B"]
    of = state(case.incident, case.state, tmp_path)
    (row,) = document(*map(str, VERBS[verb](case, of, tmp_path)))["partitions"]
    lost = {leader["broker_id"]: leader["remote_lost"] for leader in row["candidates"]}
    assert lost == {1: [{"from": 0, "to_exclusive": 24}], 2: []}
    if verb == "elect":
        shown = " ".join(command(*VERBS[verb](case, of, tmp_path)).out.split())
        assert re.findall(r"remote lost (\S+) ·", shown) == ["0-23", "-"]


@pytest.mark.parametrize("verb", ["elect", "recover"])
@pytest.mark.parametrize("name", ["A", "B"])
def test_a_run_does_not_count_what_leaders_delete(name: str, verb: str, tmp_path: Path) -> None:
    """Its tables say that a replica must not lead; they were green, and broker 1 was to start first."""
    case = CASES[name]
    of = state(case.incident, case.state, tmp_path)
    command("fleet", "scan", of, "--output-dir", tmp_path / "run", "--depth", "crc")
    answer = command(verb, "--from", tmp_path / "run", "--topic", case.topic)
    said = {"elect": f"A leader of {case.topic}-0 may delete", "recover": "how many records in remote storage a leader"}
    words = " ".join(answer.out.split())
    assert (answer.code, said[verb] in words, "nothing is lost" in words) == (1, True, False)


@pytest.mark.parametrize("verb", ["predict", "preflight", "elect", "recover"])
def test_an_only_replica_without_its_directory(verb: str, tmp_path: Path) -> None:
    """Its remote segments are not safe: the empty log deletes them, and every verb says so."""
    case = CASES["G"]
    of = state(case.incident, "1-stopped", tmp_path)
    shutil.rmtree(of / "broker-1" / "missing-0")
    settings_of(case, of)
    answer = command(*VERBS[verb](case, of, tmp_path))
    words = " ".join(answer.out.split())
    deletes = "missing-0 starts empty. Then Kafka deletes at most 4 remote segments (offsets 0-19)"
    assert (answer.code, deletes in words, "22 records" in words) == (1, True, verb in {"elect", "recover"})


def test_an_emptied_follower_takes_its_history_from_the_store(tmp_path: Path) -> None:
    """Broker 2 of 4.3.1 joined with all epochs; nothing has to be moved aside before."""
    of = state(KILLED, "5-broker-1-stopped", tmp_path)
    log = of / "broker-2" / "a-0"
    for path in log.glob("0*"):
        path.unlink()
    (log / f"{0:020}.log").touch()
    (log / "leader-epoch-checkpoint").write_text("0\n0\n")
    for name in ("log-start-offset-checkpoint", "recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        path = of / "broker-2" / name
        rows = [row for row in path.read_text().splitlines()[2:] if not row.startswith("a 0 ")]
        path.write_text("\n".join(("0", str(len(rows)), *rows)) + "\n")
    wanted = (*brokers_of(of), "--topic", "a")
    shown = command("truncation", *wanted, "--partition", "0", "--leader", "1")
    words = " ".join(shown.out.split())
    (segment,) = (path.name[21:43] for path in of.glob(f"store/kafka-tiered-storage/a-0-*/{30:020}-*.log"))
    assert f"needs .leader_epoch_checkpoint and .snapshot of remote segment {30:020}-{segment}" in words
    assert f'"from_store": "{segment}"' in json.dumps(document("truncation", *wanted, "--leader", "1"))
    assert "outside every log dir" not in command("elect", *wanted).out
