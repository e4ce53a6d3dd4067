"""The plans of `kcheck recover` for cases that it does not know, and the words for what it does not know."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import kcheck
from kcheck.model.premises import PremiseStatus
from kcheck.plans.recover import ClusterRecovery
from tests.cli.command import kcheck as command
from tests.oracle.scenes import unpacked

METADATA = ("--metadata", "controller")
BROKERS = [f"{number}=broker-{number}" for number in (1, 2, 3)]


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ClusterRecovery, Path]:
    """Return the answer for three brokers without power, and its files."""
    monkeypatch.chdir(unpacked("clusters/4.3.1/power-loss", tmp_path / "disks"))
    return kcheck.recover(*BROKERS, metadata=["controller"], out="plan"), Path("plan")


def test_the_plan_of_a_case_has_its_own_directory(planned: tuple[ClusterRecovery, Path]) -> None:
    """The runbook and --next lead there, as long as no step is done and the case is open."""
    answer, out = planned
    (case,) = answer.case_plans
    words = f"If {answer.cases[0].condition} (see {answer.cases[0].decided_by}), follow the plan in {out}/case-1."
    assert words in (out / "recovery.md").read_text()
    text = (out / "case-1" / "recovery.md").read_text()
    assert all(line in text for step in case.texts for line in step.commands)
    assert f"kcheck recover {out}/case-1 --next" in text
    assert {str(step.final).rpartition(". ")[2] for step in case.texts if "removes" in step.final} == {
        f"{out}/saved has them"
    }
    progress = command("recover", out, "--next", *BROKERS, *METADATA, "--format", "json")
    assert words in json.loads(progress.out)["verdict"]
    inside = command("recover", out / "case-1", "--next", *BROKERS, *METADATA, "--format", "json")
    assert json.loads(inside.out)["state"] == "next"
    assert "follow the plan" not in json.loads(inside.out)["verdict"]


def test_what_is_not_known_names_the_partitions_of_each_broker(planned: tuple[ClusterRecovery, Path]) -> None:
    """Only brokers of which the same sentence holds share a line."""
    answer, _ = planned
    first = answer.election.premises[0]
    rows = tuple(
        first._replace(id="P601", status=PremiseStatus.NOT_SEEN, broker_id=number, sentence=sentence, provide="a file")
        for number, sentence in enumerate(("broker 0 in a-0", "broker 1 in b-0", "broker 2 in a-0"))
    )
    assert replace(answer, election=replace(answer.election, premises=rows)).not_known[:2] == (
        "broker 0 in a-0; name a file. The same for broker 2", "broker 1 in b-0; name a file",
    )  # fmt: skip


def test_the_cause_is_named_with_the_offsets_of_each_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was elected uncleanly starts in its own step, not first. The runbook says so too."""
    monkeypatch.chdir(unpacked("clusters/4.3.1/unclean-happened", tmp_path))
    answer = kcheck.recover(*BROKERS, metadata=["controller"], out="plan")
    first, _ = answer.causes
    assert first == (
        "old-0: broker 3 was elected uncleanly at epoch 7. Under this leader 40 records of others are lost, so"
        " start broker 3 only in its step. The disks have offsets 0-79 on broker 1, 0-69 on broker 2 and 0-44 on"
        " broker 3."
    )
    assert first in Path("plan/recovery.md").read_text()
    monkeypatch.setattr("kcheck.plans.past_elections.CAUSES_MAX", 1)
    assert answer.causes == (first, "1 more partition had an unclean election too, perhaps of another broker.")


def test_bundles_count_what_their_directories_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two replicas lose the same batches beside those of another leader."""
    monkeypatch.chdir(unpacked("clusters/4.3.1/unclean-happened", tmp_path))
    for name in ("broker-1", "broker-2", "broker-3", "controller"):
        assert command("capture", name, "-o", f"{name}.kcheck").code == 0
    home, sent = (
        kcheck.recover(*(f"{name}{suffix}" for name in BROKERS), metadata=[f"controller{suffix}"])
        for suffix in ("", ".kcheck")
    )
    assert sent.scenario("start-all").lost == home.scenario("start-all").lost
    assert home.scenario("start-all").lost.records == 80


def test_relative_log_dirs_keep_their_names_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings list broker-2/data, and the command line is from the folder above."""
    unpacked("incidents/plans/disk-gone", tmp_path / "disks")
    monkeypatch.chdir(tmp_path)
    (case,) = kcheck.recover("disks").cases
    assert ClusterRecovery(election=case.election).texts[0].commands == (
        "sed -i.before 's|^log\\.dirs *[=:].*|log.dirs=broker-2/data|' disks/broker-2/server.properties",
    )


def test_partitions_that_a_lost_broker_led_are_not_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sentence does not call the partitions safe of which another says that they can lose records."""
    disks = unpacked("incidents/plans/hanging-transaction", tmp_path / "disks")
    monkeypatch.chdir(disks)
    answer = command("recover", "1=broker-1", *METADATA, "--dead", "2", "--dead", "3")
    risked = kcheck.recover("1=broker-1", metadata=["controller"], dead=[2, 3]).risked
    text = " ".join(answer.out.split())
    assert "These partitions can lose records that are not on these disks." in text
    assert "By this plan broker 1 leads solo-0. This partition loses nothing." in text
    assert risked
    assert "solo-0" not in risked


def test_a_plan_keeps_the_metadata_it_rests_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the controller's history the brokers alone would be told to start, and to delete everything."""
    monkeypatch.chdir(unpacked("incidents/plans/controllers-reformatted", tmp_path / "disks"))
    brokers = ("1=broker-1/data", "2=broker-2/data")
    for verb in ("recover", "elect"):
        command(verb, *brokers, "--metadata", "new-controller", "--output-dir", verb)
    follows = json.loads(command("recover", "recover", "--next", *brokers, "--format", "json").out)
    assert follows["state"] == "next"
    assert follows["next"].endswith("--metadata new-controller")
    assert not Path("recover/case-1").exists()
    compared = command("verify", "elect", *brokers).out
    assert "controllers have another history" in " ".join(compared.split())
    assert compared.rstrip().endswith("kcheck recover 1=broker-1/data 2=broker-2/data --metadata new-controller")
    named = command("verify", "elect", *brokers, "--metadata", "new-controller").out
    assert named.rstrip().endswith("--metadata new-controller")
