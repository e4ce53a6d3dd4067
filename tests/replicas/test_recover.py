"""`kcheck recover`: one decision for a cluster, its files, and what to do after each step.

Real brokers left the directories (fixtures/README.md).
"""

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kcheck
import kcheck.plans.recover as recover_module
import kcheck.plans.recovery_output as output_module
import kcheck.replicas.elect as elect_module
import kcheck.replicas.partition_directories as directories_module
from kcheck.core.election.progress import StepState
from kcheck.core.election.steps import RecoveryAction
from kcheck.core.releases.releases import release
from kcheck.errors import UsageError
from kcheck.plans import first_repairs
from kcheck.plans.recover import ClusterRecovery
from tests.cli.command import kcheck as command
from tests.oracle.scenes import FIXTURES, unpacked, with_controller
from tests.replicas.incident_plans import PACKED

METADATA = ("--metadata", "controller")
BROKERS = [f"{number}=broker-{number}" for number in (1, 2, 3)]
DIVERGED = FIXTURES / "brokers" / "4.3.1" / "diverged"
OUTRUN = FIXTURES / "clusters" / "4.3.1" / "outrun"


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked("clusters/4.3.1/power-loss", tmp_path_factory.mktemp("power-loss"))


@pytest.fixture
def _power_loss(disks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(disks)


def _recovered(*arguments: str, **how: Any) -> ClusterRecovery:
    return kcheck.recover(*(arguments or BROKERS), metadata=["controller"], **how)


@pytest.fixture(scope="module")
def planned(disks: Path) -> tuple[ClusterRecovery, Path]:
    """Return the answer for these disks, and its files, which no test changes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(disks)
        out = disks.with_name("plan")
        return _recovered(out=out), out


def test_a_course_that_loses_nothing(planned: tuple[ClusterRecovery, Path]) -> None:
    """Starting all leaves 14 partitions without leader; a repair, and brokers that are alone, lose nothing."""
    answer, _ = planned
    assert answer.sentences == (
        "Starting everything now: 14 partitions get no leader.", "This plan: nothing is lost.",
    )  # fmt: skip
    assert [(str(step.kind), step.brokers, len(step.partitions)) for step in answer.steps] == [
        ("repair", (3,), 0),
        ("fence", (2, 1, 3), 0),
        ("start", (1,), 0),
        ("elect", (), 3),
        ("stop", (1,), 0),
        ("start", (2,), 0),
        ("elect", (), 1),
        ("start", (1,), 0),
        ("start", (3,), 0),
    ]
    assert not answer.start_of_all.is_safe
    assert answer.not_known == ()
    assert answer.texts[1].commands == ("bin/kafka-server-start.sh -daemon config/controller.properties",)
    assert answer.texts[1].check == ("kcheck cluster controller",)
    assert answer.nodes_first is None
    assert answer.texts[2].needs == "the controllers run; no client connects before the last step"
    assert answer.texts[4].commands == ("bin/kafka-server-stop.sh --node-id=1",)
    assert "every Kafka process" not in answer.texts[4].title
    before = replace(answer.election, release=release("3.6"))
    stop = next(text for text in replace(answer, election=before).texts if text.title.startswith("Stop broker 1"))
    assert stop.commands == ("bin/kafka-server-stop.sh",)
    assert stop.title.endswith(". The script stops every Kafka process of that host, controllers too")


@pytest.mark.usefixtures("_power_loss")
def test_a_plan_for_each_case_that_differs(planned: tuple[ClusterRecovery, Path], tmp_path: Path) -> None:
    """The settings of the controllers are not here: where they allow unclean elections, nobody may be stopped."""
    (case,) = planned[0].cases
    assert (case.condition, case.decided_by, case.dead) == (
        "unclean.leader.election.enable is true on a controller", "the server.properties of the controllers", (),
    )  # fmt: skip
    assert {row.name: row for row in case.election.scenarios}["plan"].lost.records == 44
    settings = tmp_path / "server.properties"
    settings.write_text("process.roles=controller\nnode.id=100\n", "utf-8")
    assert _recovered(config=settings).cases == ()


@pytest.mark.usefixtures("_power_loss")
def test_a_filter_shows_less_and_decides_nothing(planned: tuple[ClusterRecovery, Path]) -> None:
    """One partition does not turn round what holds for the cluster."""
    part = _recovered(partitions=kcheck.PartitionFilter(partitions=("orders-1",)))
    assert [(row.topic, row.partition) for row in part.at_stake] == [("orders", 1)]
    assert part.sentences == planned[0].sentences
    with pytest.raises(UsageError, match="no-such"):
        _recovered(partitions=kcheck.PartitionFilter(topics=("no-such",)))


@pytest.mark.usefixtures("_power_loss")
def test_elect_of_one_partition_has_the_plan_of_the_cluster() -> None:
    """Alone, orders-1 would have broker 2 start before broker 1, and would need no repair."""
    whole = kcheck.elect(*BROKERS, metadata=["controller"])
    part = kcheck.elect(*BROKERS, metadata=["controller"], partitions=kcheck.PartitionFilter(partitions=("orders-1",)))
    assert part.partitions == tuple(row for row in whole.partitions if (row.topic, row.partition) == ("orders", 1))
    assert (part.order, part.repairs) == (whole.order, whole.repairs)
    assert part.recovery("x").phases == whole.recovery("x").phases
    assert "Then stop 1 and start 2, then start 1 again, then start 3." in part.verdict
    assert "1 partition, while broker 2 runs alone, saves 20 records" in part.verdict


@pytest.mark.usefixtures("_power_loss")
def test_every_command_can_be_typed(planned: tuple[ClusterRecovery, Path]) -> None:
    """With the paths of the user, the address of a broker that runs by then, and the files that are written."""
    answer, out = planned
    assert {path.name for path in out.iterdir()} == {
        "election-before-2.json", "election-before-3.json", "election-plan.json", "plan.json", "recovery.json",
        "recovery.md", "start-order.txt", "case-1", "manifest.json", "saved",
    }  # fmt: skip
    lines = [line for text in answer.texts for line in text.commands]
    addresses = re.findall(r"--bootstrap-server (\S+)", "\n".join(lines))
    assert len({*addresses}) == 2
    assert "bin/kafka-server-start.sh -daemon config/server.properties" in lines
    files = re.findall(r"--path-to-json-file (\S+)", "\n".join(lines))
    assert [json.loads(Path(file).read_text())["partitions"] for file in files] == [
        [{"topic": row.topic, "partition": row.partition} for row in step.partitions]
        for step in answer.steps
        if step.kind is RecoveryAction.ELECT
    ]
    text = (out / "recovery.md").read_text()
    assert all(line in text for line in lines)
    assert json.loads((out / "recovery.json").read_text()) == json.loads(json.dumps(answer.to_dict(), default=list))
    with pytest.raises(UsageError, match="exists"):
        _recovered(out=out)


def test_what_to_do_after_each_step(
    disks: Path, planned: tuple[ClusterRecovery, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repair is done once no repair would help any more; a start, once the metadata have a later registration."""
    shutil.copytree(disks, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    out = str(shutil.copytree(planned[1], tmp_path / "plan"))
    first = kcheck.recovery_progress(out, *BROKERS, metadata=["controller"])
    assert (str(first.state), first.at) == ("next", 0)
    for line in first.steps[0].commands:
        _, verb, *words = shlex.split(line)
        assert command(verb, *words, *(["--yes"] if verb == "apply" else ["--fail-on", "fatal"])).code == 0
    shown = command("recover", out, "--next", *BROKERS, *METADATA)
    assert shown.code == 0
    assert "Go on with step 2 of 9. Start the controllers alone," in shown.out
    assert f"  kcheck recover {out} --next {' '.join(BROKERS)} --metadata controller\n" in shown.out


def _gone(broker: Path) -> None:
    shutil.rmtree(broker / "data1")
    (broker / "data1").mkdir()


def _older(broker: Path) -> None:
    (log,) = sorted(broker.glob("data?/orders-1/*.log"))[-1:]
    os.truncate(log, log.stat().st_size // 2)


def _foreign(broker: Path) -> None:
    for file in broker.glob("data?/meta.properties"):
        file.write_text(re.sub(r"cluster\.id=.", "cluster.id=Z", file.read_text()))


def _spoiled(broker: Path) -> None:
    (file,) = broker.glob("data?/orders-1/leader-epoch-checkpoint")
    file.write_bytes(bytes(file.stat().st_size))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_gone, ": broker 2 registered 2 log dirs, and 1 of them is not given"),
        (_older, "orders-1 of broker 2 ends at offset "),
        (_spoiled, "broker 2 needs a repair first, and the plan has no such step"),
        (_foreign, "broker 2 does not start: the disk of broker 2 is of cluster "),
    ],
)
def test_a_disk_is_another_than_when_the_plan_was_made(
    disks: Path, planned: tuple[ClusterRecovery, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None], words: str,
) -> None:  # fmt: skip
    """Its broker has not started yet: the plan is made again from what is there."""
    monkeypatch.chdir(shutil.copytree(disks, tmp_path / "disks"))
    assert str(kcheck.recovery_progress(planned[1], *BROKERS, metadata=["controller"]).state) == "next"
    change(Path("broker-2"))
    answer = kcheck.recovery_progress(planned[1], *BROKERS, metadata=["controller"])
    assert str(answer.state) == "stop"
    assert words in answer.sentences[0]


@pytest.mark.usefixtures("_power_loss")
@pytest.mark.parametrize("name", ["moved", "moved here"])
def test_a_plan_that_was_moved(planned: tuple[ClusterRecovery, Path], tmp_path: Path, name: str) -> None:
    """The commands of its steps name the files where they are now."""
    out = shutil.copytree(planned[1], tmp_path / name)
    answer = kcheck.recovery_progress(out, *BROKERS, metadata=["controller"])
    names = [word for step in answer.steps for line in step.commands for word in shlex.split(line) if ".json" in word]
    assert [name for name in names if "election" in name] == [
        f"{out}/election-before-{number}.json" for number in (2, 3)
    ]


@pytest.mark.usefixtures("_power_loss")
def test_the_metadata_decide_how_far_a_plan_is(planned: tuple[ClusterRecovery, Path], tmp_path: Path) -> None:
    """The epochs of the plan are made older: then every broker has registered since, and leads what it led before."""
    out = shutil.copytree(planned[1], tmp_path / "plan")
    _edited(out / "election-plan.json", broker_epochs=[])
    answer = kcheck.recovery_progress(out, *BROKERS, metadata=["controller"])
    assert (str(answer.state), answer.at) == ("wait", None)
    assert answer.sentences[0].startswith("Wait. Every step is done, but ")
    rows = json.loads((out / "election-plan.json").read_text())["partitions"]
    _edited(out / "election-plan.json", partitions=[row | {"epoch_floor": -1} for row in rows])
    answer = kcheck.recovery_progress(out, *BROKERS, metadata=["controller"])
    assert str(answer.state) == "stop"
    assert answer.differs
    assert answer.sentences[0].startswith("Stop: ")
    assert answer.sentences[1:] == ("From what is there now:", *answer.now.sentences)
    shown = command("recover", str(out), "--next", *BROKERS, *METADATA)
    assert shown.code == 1
    assert "From what is there now:" in shown.out
    assert "kcheck recover 1=broker-1 2=broker-2 3=broker-3 --metadata controller --output-dir DIR" in shown.out


@pytest.mark.usefixtures("_power_loss")
def test_a_topic_was_deleted_since_the_plan_was_made(planned: tuple[ClusterRecovery, Path], tmp_path: Path) -> None:
    """Kafka's tools refuse its partitions: a step that is left needs another plan, and a finished plan is done."""
    out = shutil.copytree(planned[1], tmp_path / "plan")
    rows = json.loads((out / "election-plan.json").read_text())["partitions"]
    _edited(out / "election-plan.json", partitions=[
        row | ({"topic_id": "of-another"} if row["topic"] == "__consumer_offsets" else {}) for row in rows
    ])  # fmt: skip
    answer = kcheck.recovery_progress(out, *BROKERS, metadata=["controller"])
    assert (str(answer.state), answer.at) == ("stop", 0)
    assert answer.sentences[0] == ("Stop: a later step is for __consumer_offsets-0 (topic deleted).")
    done = replace(answer, states=(StepState.DONE,) * len(answer.steps), fails=())
    assert done.sentences == (
        "Done: all 9 steps, and every partition but __consumer_offsets-0 (topic deleted) is as planned.",
    )


def test_an_interrupt_leaves_a_part_of_the_answer(disks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was known until then, said as a part, with the exit code of ^C; no plan is written."""

    def stop_after(patched: pytest.MonkeyPatch, count: int, module: Any, name: str) -> None:
        original, left = getattr(module, name), iter(range(count))

        def stopped(*given: Any, **how: Any) -> Any:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return original(*given, **how)

        patched.setattr(module, name, stopped)

    monkeypatch.chdir(disks)
    for verb, count, module, name, words in (
        ("recover", 5, elect_module, "election_of", "12 partitions of 17 not looked at"),
        ("elect", 5, elect_module, "election_of", "12 partitions of 17 not looked at"),
        ("recover", 0, first_repairs, "_repair_of", "the repairs that come first not looked for"),
        ("recover", 0, recover_module, "_if_unclean", "the plans for other cases not made"),
        ("recover", 3, directories_module, "start_of", "the log dirs of brokers 2 and 3 not read"),
        ("elect", 4, directories_module, "start_of", "the log dirs of broker 3 not read"),
    ):
        with monkeypatch.context() as patched:
            stop_after(patched, count, module, name)
            shown = command(verb, *BROKERS, *METADATA, "--output-dir", str(tmp_path / "plan"))
        assert f"this is a part of the answer, {words}." in " ".join(shown.out.split())
        assert (shown.code, (tmp_path / "plan").exists()) == (130, False)
    for count, module, name in ((1, directories_module, "start_of"), (0, output_module, "write_texts")):
        with monkeypatch.context() as patched:
            stop_after(patched, count, module, name)
            shown = command("recover", *BROKERS, *METADATA, "--output-dir", str(tmp_path / "plan"))
        assert (shown.code, shown.out.count("\n"), (tmp_path / "plan").exists()) == (130, 0, False)


def test_zookeeper_forgets_a_broker_that_the_plan_has_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log knows a later leader epoch: it has run since."""
    with tarfile.open(PACKED["fresh-volume-zookeeper"]) as tar:
        tar.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    brokers, how, case = BROKERS[:2], {"metadata": ["zookeeper"]}, Path("plan/case-1")
    kcheck.recover(*brokers, out="plan", **how)
    assert kcheck.recovery_progress(case, *brokers, **how).at == 0
    first, _, *others = json.loads((case / "recovery.json").read_text())["steps"]
    _edited(case / "recovery.json", steps=[first, first | {"action": "stop"}, *others])
    rows = json.loads((case / "election-plan.json").read_text())["partitions"]
    _edited(case / "election-plan.json", partitions=[row | {"epoch_floor": -1} for row in rows])
    states = kcheck.recovery_progress(case, *brokers, **how).states
    assert [*map(str, states[:3])] == ["done", "done", "open"]


def _edited(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("recovery.json", {"schema": "x"}, "recovery.json.schema: 'x'; this kcheck reads kcheck.recovery/1"),
        ("recovery.json", {"steps": [{"action": "dance"}]}, "steps[0].action: 'dance' is no step"),
        ("recovery.json", {"steps": 7}, "recovery.json.steps: an integer; must be an array"),
    ],
)
@pytest.mark.usefixtures("_power_loss")
def test_a_plan_that_somebody_edited(
    planned: tuple[ClusterRecovery, Path], tmp_path: Path, name: str, values: dict[str, Any], words: str
) -> None:
    out = shutil.copytree(planned[1], tmp_path / "plan")
    _edited(out / name, **values)
    with pytest.raises(UsageError, match=re.escape(words)):
        kcheck.recovery_progress(out, *BROKERS, metadata=["controller"])


@pytest.mark.usefixtures("_power_loss")
def test_without_a_plan_or_metadata(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no plan of kcheck recover --output-dir"):
        kcheck.recovery_progress(tmp_path, *BROKERS)
    shown = command("recover", "--next", str(tmp_path))
    assert (shown.code, "--next needs the directory of the plan" in shown.err) == (2, True)
    assert command("recover").code == 2


def test_records_that_a_plan_gives_up_are_saved(tmp_path: Path) -> None:
    """With a manifest of the files that are needed under each leader."""
    brokers = [f"{number}={DIVERGED}/broker-{number}" for number in (1, 2)]
    answer = kcheck.recover(*brokers, out=tmp_path / "plan")
    assert answer.sentences[:2] == (
        "Starting everything now: 34 records are lost, none of them committed.",
        "This plan: 34 records are lost, none of them committed.",
    )
    cuts = [cut for step in answer.steps for cut in step.cuts]
    assert sum(cut.lost.records or 0 for cut in cuts) == 34
    assert "removes offsets" in answer.texts[-1].final
    manifest = json.loads((tmp_path / "plan" / "manifest.json").read_text())["partitions"]
    assert all(Path(file).is_file() for row in manifest for file in row["files"])
    shown = command("recover", *brokers, "--color", "never")
    assert "Cannot be undone: broker " in shown.out
    assert shown.code == 1


def test_a_broker_that_is_not_here() -> None:
    """What its disks hold is not known: the plan for the case that they are lost stands beside it."""
    present = [f"{number}={OUTRUN}/broker-{number}" for number in (2, 3)]
    answer = kcheck.recover(*present)
    assert [case.dead for case in answer.cases] == [(1,), ()]
    assert answer.not_known
    assert any(sentence.startswith("kcheck recommends no leader for") for sentence in answer.sentences)
    shown = command("recover", *present)
    assert "If the disks of broker 1 are lost (see the log dirs of broker 1):" in shown.out
    assert "Not known: what only broker 1 holds; name 1=PATH." in shown.out
    assert answer.to_dict()["cases"][0]["steps"]


def test_without_metadata(tmp_path: Path) -> None:
    copy = tmp_path / "disks"
    shutil.copytree(DIVERGED, copy)
    for metadata in copy.glob("*/*/__cluster_metadata-0"):
        shutil.rmtree(metadata)
    answer = kcheck.recover(*(f"{number}={copy}/broker-{number}" for number in (1, 2)))
    assert answer.sentences[0].startswith("No log dir here has a copy of the metadata")
    assert str(answer.next_command).startswith(f"kcheck recover metadata 1={copy}/broker-1")
    assert [step.kind for step in answer.steps] == [RecoveryAction.RESCUE]
    assert not answer.start_of_all.is_safe


def test_log_dirs_keep_their_names_in_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the command line: a broker starts elsewhere. It makes the replicas again, empty, and may lead."""
    with tarfile.open(PACKED["disk-gone"]) as tar:
        tar.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    settings = Path("broker-2/server.properties")
    settings.write_text(settings.read_text().replace("=broker-2/data", f"={tmp_path}/broker-2/data").replace(
        ",broker-2/data1", f",{tmp_path}/broker-2/data1"))  # fmt: skip
    (case,) = _recovered().cases
    recovery = ClusterRecovery(election=case.election)
    assert recovery.texts[0].commands == (
        f"sed -i.before 's|^log\\.dirs *[=:].*|log.dirs={tmp_path}/broker-2/data|' broker-2/server.properties",
    )
    assert [str(step.kind) for step in recovery.steps] == ["log-dirs", "start", "elect", "start", "start"]
    assert recovery.scenario("plan").lost.records == 0


def test_a_relative_log_dir_is_taken_out_from_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paths of kcheck begin elsewhere. The command would change nothing otherwise."""
    with tarfile.open(PACKED["disk-gone"]) as tar:
        tar.extractall(tmp_path / "disks", filter="data")
    monkeypatch.chdir(tmp_path)
    shown = command("recover", "disks", columns=1000).out
    assert "sed -i.before 's|^log\\.dirs *[=:].*|log.dirs=broker-2/data|' disks/broker-2/server.properties" in shown


@pytest.mark.parametrize(("named", "added"), [("data1", "data2"), ("data2", "data1")])
def test_a_log_dir_that_the_settings_do_not_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, added: str
) -> None:
    """The broker starts without it, and makes its replicas again, empty: the plan adds it to log.dirs first.

    The one with the metadata log, data1, comes first there: brokers look for it in no other.
    """
    shutil.copytree(FIXTURES / "brokers/4.3.1/killed", tmp_path, dirs_exist_ok=True)
    with_controller(tmp_path)
    shutil.rmtree(tmp_path / "broker-2")
    monkeypatch.chdir(tmp_path)
    settings, brokers = Path("broker-1/server.properties"), ("1=broker-1", "3=broker-3")
    settings.write_text(f"process.roles=broker\nnode.id=1\nlog.dirs=broker-1/{named}\n")
    short = kcheck.recover(*brokers, dead=(2,), metadata=["controller"], out=tmp_path / "plan")
    assert [str(step.kind) for step in short.steps][:3] == ["log-dirs", "fence", "start"]
    assert short.texts[0].title == f"Add broker-1/{added} to log.dirs of broker 1"
    (line,) = short.texts[0].commands
    assert short.scenario("plan").lost.records == 0
    assert short.scenario("start-all").offline_partitions
    assert short.scenario("plan").offline_partitions == 0
    assert short.election.verdict.startswith(f"First add broker-1/{added} to log.dirs of broker 1. ")
    asked = functools.partial(kcheck.recovery_progress, tmp_path / "plan", *brokers, metadata=["controller"])
    assert asked().at == 0
    subprocess.run(shlex.split(line), check=True)
    assert settings.read_text().endswith("log.dirs=broker-1/data1,broker-1/data2\n")
    assert asked().at == 1
    assert not kcheck.recover(*brokers, dead=(2,), metadata=["controller"]).election.question.added
    settings.write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={tmp_path}/broker-1/{named}\n")
    ((line,), *_) = (step.commands for step in kcheck.recover(*brokers, dead=(2,), metadata=["controller"]).texts)
    assert f"log.dirs={tmp_path}/broker-1/data1,{tmp_path}/broker-1/data2|" in line


def test_the_only_log_dir_that_the_settings_name(tmp_path: Path) -> None:
    """Another one is registered: its replicas are made again, empty, and are no good leaders."""
    shutil.copytree(FIXTURES / "brokers/4.3.1/killed", tmp_path, dirs_exist_ok=True)
    with_controller(tmp_path)
    settings = f"process.roles=broker\nnode.id=1\nlog.dirs={tmp_path}/broker-1/data1\n"
    (tmp_path / "broker-1/server.properties").write_text(settings)
    brokers = [f"{number}={tmp_path}/broker-{number}/data1" for number in (1, 2, 3)]
    answer = kcheck.elect(*brokers, metadata=[tmp_path / "controller"])
    rows = {row.topic: row for row in answer.partitions}
    assert [(row.broker_id, str(row.state)) for row in rows["codecs"].candidates] == [(2, "current"), (1, "missing")]


def test_the_controllers_fenced_in_another_order_than_assumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a broker starts, the plan is made again; as it was assumed, it goes on."""
    unpacked("clusters/4.3.1/old-copy", tmp_path)
    monkeypatch.chdir(with_controller(tmp_path))
    folder = "plan/case-1"
    asked = functools.partial(kcheck.recovery_progress, folder, *BROKERS, metadata=["controller"])
    _recovered(out="plan")
    file = Path(folder, "recovery.json")
    plan = json.loads(file.read_text())
    first = {**plan["steps"][0], "action": "fence", "brokers": [1, 2, 3]}
    steps = [first, *plan["steps"]]
    file.write_text(json.dumps({**plan, "steps": steps}))
    assert (str(asked().state), asked().at) == ("next", 1)
    file.write_text(json.dumps({**plan, "steps": [first, *reversed(plan["steps"])]}))
    assert str(asked().state) == "stop"
    assert asked().sentences[0] == (
        "Stop: the controllers have fenced the brokers, and the ISR differs from the assumed one."
    )


def test_controllers_are_named_and_started_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their settings and the session timeout in these, from the paths or from --config."""
    monkeypatch.chdir(unpacked("clusters/4.3.1/old-copy", tmp_path))
    for screen in (command("."), command("predict", ".")):
        assert "controller/data1   controller 100: will boot" in screen.out
        assert "broker 100" not in screen.out
    settings = (
        "process.roles=controller\nnode.id=100\nlog.dirs=data1\ncontroller.listener.names=C\nlisteners=C://:9093\n"
        "controller.quorum.voters=100@localhost:9093\nbroker.session.timeout.ms="
    )
    Path("controller/server.properties").write_text(f"{settings}3000\n", "utf-8")
    text = command("recover", ".", columns=200).out
    first = "0. Start the controllers unless they run, and wait for longer than broker.session.timeout.ms (3 s)."
    assert f"\n{first}\n" in text
    assert "\n     bin/kafka-server-start.sh -daemon controller/server.properties\n1. Start broker 1.\n" in text
    Path("controller/server.properties").unlink()
    Path("other.properties").write_text(f"{settings}12500\n", "utf-8")
    assert "ms (12500 ms).\n" in command("recover", ".", "--config", "other.properties", columns=200).out
