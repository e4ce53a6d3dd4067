"""`kcheck verify`: a plan against directories, and files of a plan that somebody damaged."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from kcheck.errors import UsageError
from kcheck.handouts.saved_plan import parse_assignments, parse_plan, serialize
from tests.cli.command import document, kcheck
from tests.test_brokers import BROKERS

HERE = [f"{number}={BROKERS / '4.3.1' / 'diverged' / f'broker-{number}'}" for number in (1, 2)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a plan, and `saved` with the records that it gives up."""
    path = tmp_path_factory.mktemp("plan")
    assert kcheck("elect", *HERE, "--save-lost", path / "saved", "--output-dir", path).code == 1
    return path


def edited(folder: Path, to: Path, **partition: Any) -> Path:
    """Return a directory with another plan of one partition: what the brokers of the fixture have done already."""
    plan = json.loads((folder / "election-plan.json").read_bytes())
    (row,) = (row for row in plan["partitions"] if row["topic"] == "diverged")
    plan |= {"partitions": [row | {"epoch_floor": 2, "allowed_unclean": False, "followers": []} | partition]}
    plan |= {"broker_epochs": [{"broker_id": number, "broker_epoch": 0} for number in (1, 2)]}
    to.mkdir(exist_ok=True)
    (to / "election-plan.json").write_text(json.dumps(plan))
    return to


def seen(report: dict[str, Any], kind: str) -> list[tuple[str, bool | None]]:
    """Return what is seen of one kind."""
    return [(step["seen"], step["ok"]) for step in report["steps"] if step["kind"] == kind]


def test_before_anybody_started(folder: Path) -> None:
    """Nothing has happened yet, and the verdict says so."""
    report = document("verify", folder, *HERE)
    assert report["schema"] == "kcheck.verify/1"
    assert {"expected", "seen", "ok", "kind", "topic", "partition", "broker_id"} == report["steps"][0].keys()
    assert seen(report, "broker") == [("not since the plan", False)] * 2
    assert ("offsets 50-66 are not the leader's", False) in seen(report, "truncation")
    assert ("17 are lost", True) in seen(report, "records")
    done = kcheck("verify", folder, *HERE)
    assert done.code == 1
    assert done.out.splitlines()[2].startswith("7 of 27 steps are not as planned. 5 of 27 steps are not known.")
    assert max(map(len, done.out.partition("Next:")[0].splitlines())) <= 80
    assert "--partition behind-0 shows that partition" in done.out
    assert len(kcheck("verify", folder, *HERE, "--format", "csv").out.splitlines()) == 28


def test_premises_of_the_next_starts(folder: Path, tmp_path: Path) -> None:
    """A refuted one is a step that is not as planned; one that was not seen is not known; `predict` has the same.

    What each log has to follow is in steps of its own, so P602 is in none.
    """
    plan = edited(folder, tmp_path / "p")
    disk = Path(shutil.copytree(BROKERS / "4.3.1" / "diverged" / "broker-2", tmp_path / "broker-2"))
    meta = disk / "data1" / "meta.properties"
    own, other = (
        next(line for line in path.read_text().splitlines() if line.startswith("directory.id="))
        for path in (meta, BROKERS / "4.3.1" / "diverged" / "broker-1" / "data1" / "meta.properties")
    )
    meta.write_text(meta.read_text().replace(own, other))
    brokers = (HERE[0], f"2={disk}")
    told = [step for step in document("verify", plan, *brokers)["steps"] if step["kind"] == "premise"]
    predicted = document("predict", *brokers)["premises"]
    refuted = [row for row in predicted if row["status"] == "refuted" and row["id"] != "P602"]
    assert [(row["broker_id"], row["sentence"]) for row in refuted] == [
        (step["broker_id"], step["seen"]) for step in told if step["ok"] is False
    ]
    assert [("P106", 2)] == [(row["id"], row["broker_id"]) for row in refuted]
    (unseen,) = (step for step in document("verify", plan, HERE[1])["steps"] if step["kind"] == "premise")
    assert unseen["ok"] is None
    assert unseen["seen"].startswith("? (what the cluster expects of broker 2")
    assert kcheck("verify", plan, *brokers).code == 1


def test_a_plan_by_its_earlier_name(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "plan.json", tmp_path)
    assert kcheck("verify", folder, *HERE).out == kcheck("verify", tmp_path, *HERE).out


def test_apply_of_a_plan_of_elect_names_verify(folder: Path, tmp_path: Path) -> None:
    done = kcheck("apply", folder / "election-plan.json", "--backup", tmp_path / "backup", "--yes")
    words = "this is a plan of kcheck elect, which apply does not carry out; use kcheck verify"
    assert (3, f"kcheck: {words}\nNo files were changed.\n") == (done.code, done.err)


def test_as_planned(folder: Path, tmp_path: Path) -> None:
    """Every step that is known is as planned: exit code 0."""
    plan = edited(folder, tmp_path / "p") / "election-plan.json"
    plan.write_text(plan.read_text().replace(str(folder / "saved"), "/nowhere"))
    done = kcheck("verify", tmp_path / "p", *HERE)
    assert (done.code, done.out.splitlines()[2]) == (0, "Nothing differs from the plan. 3 of 9 steps are not known.")
    assert kcheck("verify", tmp_path / "p", *HERE, "--topic", "other").code == 2


def test_what_is_left_to_do(folder: Path, tmp_path: Path) -> None:
    """A stray directory, and the replicas of restore.json."""
    plan = edited(folder, tmp_path / "p")
    (plan / "restore.json").write_text('{"partitions": [{"topic": "diverged", "partition": 0, "replicas": [1, 2, 3]}]}')
    shutil.copytree(HERE[0].partition("=")[2], tmp_path / "b1")
    (stray,) = (path for path in (tmp_path / "b1").rglob("emptied-0"))
    stray.rename(stray.with_name(f"diverged-0.{'a' * 32}-stray"))
    report = document("verify", plan, f"1={tmp_path / 'b1'}", HERE[1])
    assert seen(report, "replicas") == [("replicas 1,2", False)]
    assert [ok for path, ok in seen(report, "stray") if path.endswith("-stray")] == [False]


def test_evidence_that_is_not_at_hand(folder: Path, tmp_path: Path) -> None:
    """Without the saved records, without the leader's log, without metadata: not known."""
    lost = [{"broker_id": 1, "truncate_to": 50, "lost": {"from": 50, "to": 67}}]
    plan = edited(folder, tmp_path / "p", followers=lost)
    assert seen(document("verify", plan, *HERE), "records") == [("17 are lost", True), ("0 are missing", True)]
    alone = document("verify", plan, HERE[0], "--metadata", HERE[1][2:])
    assert seen(alone, "records") == [("? (no readable log of the leader is here)", None)] * 2
    (plan / "election-plan.json").write_text((plan / "election-plan.json").read_text().replace("saved", "gone"))
    assert [ok for _, ok in seen(document("verify", plan, *HERE), "records")] == [None]
    only = document("verify", plan, f"2={next(Path(HERE[1][2:]).rglob('diverged-0'))}")
    assert seen(only, "leader-epoch")[0][1] is not None


def test_partitions_given_alone_are_those_of_their_log_dirs(folder: Path, tmp_path: Path) -> None:
    """Up to where they are compacted, and which of their directories are strays."""
    lost = [{"broker_id": 1, "truncate_to": 50, "lost": {"from": 50, "to": 67}}]
    plan = edited(folder, tmp_path / "p", followers=lost)
    for argument in HERE:
        shutil.copytree(argument[2:], tmp_path / argument[0])
    one, two = (next((tmp_path / number).rglob("diverged-0")) for number in "12")
    (two.parent / "cleaner-offset-checkpoint").write_text("0\n1\ndiverged 0 60\n")
    (one.parent / "emptied-0").rename(one.with_name(f"diverged-0.{'a' * 32}-stray"))
    (one.parent / "behind-0").rename(one.with_name(f"behind-0.{'a' * 32}-stray"))
    whole = document("verify", plan, f"1={tmp_path / '1'}", f"2={tmp_path / '2'}")
    assert ("7 are lost", True) == seen(whole, "records")[0]
    assert [False] == [ok for path, ok in seen(whole, "stray") if path.endswith("-stray")]
    alone = document("verify", plan, f"1={one}", f"2={two}", "--metadata", two.parent)
    for kind in ("records", "stray"):
        assert seen(whole, kind) == seen(alone, kind)


def test_saved_files_with_other_names(folder: Path, tmp_path: Path) -> None:
    """They are no evidence."""
    lost = [{"broker_id": 1, "truncate_to": 50, "lost": {"from": 50, "to": 67}}]
    plan = edited(folder, tmp_path / "p", followers=lost)
    shutil.copytree(folder / "saved", tmp_path / "saved")
    (tmp_path / "saved" / "diverged-0" / "broker-1").rename(tmp_path / "saved" / "diverged-0" / "broker-one")
    (tmp_path / "saved" / "diverged-0" / "broker-7").mkdir()
    text = (plan / "election-plan.json").read_text().replace(str(folder / "saved"), str(tmp_path / "saved"))
    (plan / "election-plan.json").write_text(text)
    assert [ok for _, ok in seen(document("verify", plan, *HERE), "records")] == [None]


def test_wrong_arguments(folder: Path, tmp_path: Path) -> None:
    """Each is named."""
    assert "no plan of kcheck elect --output-dir" in kcheck("verify", tmp_path, *HERE).err
    log = next(Path(HERE[1][2:]).rglob("*.log"))
    assert kcheck("verify", folder, f"1={log}").code == 2
    assert kcheck("verify", folder).code == 2


def test_a_plan_that_is_read_is_the_one_that_was_written(folder: Path) -> None:
    """Byte for byte."""
    data = (folder / "election-plan.json").read_bytes()
    assert serialize(parse_plan(data, "election-plan.json")).encode() == data


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"schema": "kcheck.plan/1"}, "p.schema: 'kcheck.plan/1'; this kcheck reads kcheck.election-plan/1"),
        ({"schema": None}, "p.schema: missing; must be a string"),
        ({"start_order": [1, -1]}, "p.start_order[1]: out of range, 0 to 2147483647"),
        ({"dead": [True]}, "p.dead[0]: True; must be an integer"),
        ({"paths": {}}, "p.paths: an object; must be an array"),
        ({"partitions": [7]}, "p.partitions[0]: an integer; must be an object"),
        ({"partitions": [{"topic": "../x"}]}, "p.partitions[0].topic: '../x' is not a topic name"),
        ({"broker_epochs": [{"broker_id": 1.5}]}, "p.broker_epochs[0].broker_id: 1.5; must be an integer"),
    ],
)
def test_a_plan_that_somebody_edited(change: dict[str, Any], why: str, folder: Path) -> None:
    """The place and what is wrong."""
    plan = json.loads((folder / "election-plan.json").read_bytes()) | change
    with pytest.raises(UsageError) as error:
        parse_plan(json.dumps(plan).encode(), "p")
    assert str(error.value) == why


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"followers": [{"broker_id": 1, "lost": {"from": 5, "to": 5}}]}, ".followers[0].lost: 5 to 5 is no range"),
        ({"followers": [{"broker_id": 1, "lost": 9}]}, ".followers[0].lost: an integer; must be an object"),
        ({"served": [{"epoch": 0, "from": 5, "to": 4}]}, ".served[0]: 5 to 4 is no range"),
        ({"allowed_unclean": "yes"}, ".allowed_unclean: 'yes'; must be true or false"),
        ({"log_end_offset": 2**63}, ".log_end_offset: out of range, 0 to 9223372036854775807"),
    ],
)
def test_a_partition_that_somebody_edited(row: dict[str, Any], why: str, folder: Path) -> None:
    """Likewise."""
    plan = json.loads((folder / "election-plan.json").read_bytes())
    plan["partitions"][0] |= row
    with pytest.raises(UsageError) as error:
        parse_plan(json.dumps(plan).encode(), "p")
    assert str(error.value) == f"p.partitions[0]{why}"


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[" * 100_000, b'{"schema": ' * 100_000, b"9" * 5000, b"NaN", b'"\\ud800"', b"[]", b"null"]
)
def test_a_file_that_is_no_plan(data: bytes) -> None:
    """UsageError, whatever it is."""
    for parse in (parse_plan, parse_assignments):
        with pytest.raises(UsageError, match=r"^p: "):
            parse(data, "p")


def test_a_huge_file(folder: Path, tmp_path: Path) -> None:
    """It is not read."""
    shutil.copy(folder / "election-plan.json", tmp_path)
    with (tmp_path / "election-plan.json").open("r+b") as file:
        file.truncate(1 << 40)
    assert kcheck("verify", tmp_path, *HERE).code == 2


def test_flipped_bits(folder: Path, tmp_path: Path) -> None:
    """A plan or a UsageError; what still is a plan is answered."""
    data = (folder / "election-plan.json").read_bytes()
    chance = random.Random(21)
    plans = []
    for _ in range(3000):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 9))):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        try:
            parse_plan(bytes(damaged), "p")
        except UsageError:
            continue
        plans.append(bytes(damaged))
    assert len(plans) > 100
    for plan in chance.sample(plans, 8):
        (tmp_path / "election-plan.json").write_bytes(plan)
        assert kcheck("verify", tmp_path, *HERE).code in {0, 1, 2}


def other_disk(tmp_path: Path, number: int, files: dict[str, str]) -> str:
    """Return a copy of a broker of the fixture, with other checkpoints, as an argument."""
    there = tmp_path / f"b{number}"
    shutil.copytree(HERE[number - 1].partition("=")[2], there)
    for checkpoint, text in files.items():
        for log_dir in {path.parent for path in there.rglob("meta.properties")}:
            (log_dir / checkpoint).write_text(text)
    return f"{number}={there}"


LOSING = [{"broker_id": 1, "truncate_to": 50, "lost": {"from": 50, "to": 67}}]


@pytest.mark.parametrize(
    ("checkpoint", "offset", "expected"),
    [
        ("log-start-offset-checkpoint", 60, ["7 saved records are lost", "7 are lost"]),
        ("cleaner-offset-checkpoint", 60, ["7 saved records are lost", "7 are lost"]),
        ("cleaner-offset-checkpoint", 68, ["0 saved records are lost", "0 are lost"]),
    ],
)
def test_what_retention_and_compaction_took_since(
    folder: Path, tmp_path: Path, checkpoint: str, offset: int, expected: list[str]
) -> None:
    """It is no loss, and the step says from where on it compares."""
    leader = other_disk(tmp_path, 2, {checkpoint: f"0\n1\ndiverged 0 {offset}\n"})
    report = document("verify", edited(folder, tmp_path / "p", followers=LOSING), HERE[0], leader)
    rows = [step for step in report["steps"] if step["kind"] == "records"]
    since = f" (from offset {offset} on; the leader deleted or compacted those below)"
    assert [rows[0]["expected"], rows[0]["seen"]] == [expected[0] + since, expected[1]]
    assert rows[1]["expected"] == f"every other saved record is in the leader's log{since}"
    assert [row["ok"] for row in rows] == [True, True]


def test_a_topic_that_is_gone(folder: Path, tmp_path: Path) -> None:
    """Nothing else is compared: by the metadata, or by the id in the leader's directory."""
    gone = edited(folder, tmp_path / "p", topic="gone")
    deleted = "the topic was deleted, because the metadata lacks it"
    topics = [step for step in document("verify", gone, *HERE)["steps"] if step["topic"] == "gone"]
    assert [(step["kind"], step["seen"], step["ok"]) for step in topics] == [("topic", deleted, False)]
    again = edited(folder, tmp_path / "p", topic_id="A" * 22)
    alone = [f"{number}={next(Path(HERE[number - 1][2:]).rglob('diverged-0'))}" for number in (1, 2)]
    for brokers in (HERE, alone):
        (step,) = (step for step in document("verify", again, *brokers)["steps"] if step["topic"] == "diverged")
        assert step["seen"].endswith(": a new topic; the planned one was deleted")
        assert (step["kind"], step["ok"]) == ("topic", False)


def test_a_partition_that_was_moved_since(folder: Path, tmp_path: Path) -> None:
    """To another log dir: as planned. To another broker: what the old one has does not matter."""
    source = Path(other_disk(tmp_path, 1, {})[2:])
    (log_dir,) = (path.parent for path in source.rglob("meta.properties"))
    disk = tmp_path / "second"
    disk.mkdir()
    shutil.copy(log_dir / "meta.properties", disk)
    shutil.move(log_dir / "diverged-0", disk)
    plan = edited(folder, tmp_path / "p", followers=LOSING)
    before = document("verify", plan, *HERE)["steps"]
    assert document("verify", plan, f"1={source}", f"1={disk}", HERE[1])["steps"] == before
    away = edited(folder, tmp_path / "p", leader=3, followers=[{"broker_id": 4, "truncate_to": 50}])
    report = document("verify", away, *HERE)
    assert seen(report, "leader") == [("? (broker 2 leads; broker 3 is no longer a replica)", None)]
    assert seen(report, "truncation") == [("? (it is no longer a replica)", None)]
    assert seen(report, "log-end") == [("log end 68", True)]


def test_names_that_a_terminal_would_obey(folder: Path, tmp_path: Path) -> None:
    """They are shown, not obeyed: of a plan, of its directory, of what it names."""
    plan = edited(folder, tmp_path / "\x1b[31mp", topic_id="\x1b]0;x\x07", followers=LOSING)
    (plan / "election-plan.json").write_text(
        (plan / "election-plan.json").read_text().replace(str(folder / "saved"), "/\\u001b[2J")
    )
    for asked in (("verify", plan, *HERE), ("verify", tmp_path / "\x1b[2J", *HERE)):
        done = kcheck(*asked)
        assert "\x1b" not in done.out + done.err


def test_a_partition_that_a_plan_has_twice(folder: Path) -> None:
    """Two lines for one partition contradict each other."""
    plan = json.loads((folder / "election-plan.json").read_bytes())
    plan["partitions"] *= 2
    with pytest.raises(UsageError, match=r"^p\.partitions: behind-0 is there 2 times$"):
        parse_plan(json.dumps(plan).encode(), "p")
