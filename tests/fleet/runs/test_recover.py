"""`kcheck recover --from RUN`, table `clusters`, actions of a report: what `kcheck recover` says of the disks."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.fleet.run import open_run
from kcheck.fleet.runs.elect import elect_run
from kcheck.fleet.runs.recover import ClusterDecision, decide, decision_columns, recover_run
from kcheck.fleet.runs.report import report
from kcheck.model.report import PartitionFilter
from kcheck.renderers import Options, prometheus
from kcheck.replicas.elect import ElectionQuestion
from tests.cli.command import kcheck as typed
from tests.fleet.runs.test_elect import UNKNOWN
from tests.fleet.scan.test_cluster_metadata import CLUSTERS, FIXTURES, named, of_cluster, sample
from tests.fleet.scan.test_local_engine import scanned
from tests.oracle.scenes import unpacked
from tests.replicas.test_recover_quorum import laid_out

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
OUTRUN = FIXTURES / "clusters" / "4.3.1" / "outrun"
ASKED = ElectionQuestion()
LOST = "kcheck_fleet_cluster_committed_lost"
BY_DISKS = "Plan by the disks, because the run does not show the loss of each leader"
NOT_SHOWN = "The run does not show how many records starting everything now loses."


def decided(out: Path, question: ElectionQuestion = ASKED) -> ClusterDecision:
    """Return the decision about the only cluster of a run."""
    (decision,) = recover_run(str(out), None, question).clusters
    return decision


def body_of(tmp_path: Path) -> Any:
    """Return the report of a run."""
    return report(open_run(str(tmp_path / "out")), lambda *_: True).body


@pytest.mark.sample(4)
@pytest.mark.parametrize("path", sample(CLUSTERS), ids=named)
def test_a_run_decides_as_the_disks_do(path: Path, tmp_path: Path) -> None:
    """The same sentences and the same first steps, unless the tables lack something: then this is said, not guessed."""
    arguments, kafka = of_cluster(path)
    scanned(tmp_path, path / "{broker}" / "{log_dir}", kafka=kafka, depth="crc", decide=decision_columns)
    decision, disks = decided(tmp_path / "out"), kcheck.recover(*arguments, kafka=kafka)
    if named(path) in UNKNOWN:
        (step,) = decision.steps
        assert (NOT_SHOWN in decision.sentences, decision.is_safe) == (True, None)
        assert step.title.startswith(BY_DISKS)
        assert decision.not_known
        return
    assert not decision.not_known
    assert decision.sentences == disks.sentences
    first = [text.title for text in disks.texts][:3]
    if disks.election.image is None:  # Then the disks may have records to save first.
        first = ["Plan by the disks, because the run has no metadata of the cluster"]
    assert [step.title for step in decision.steps] == first
    assert decision.is_safe == disks.start_of_all.is_safe
    (row,) = body_of(tmp_path)["clusters"]
    assert row["decision"] == " ".join(disks.sentences)
    assert row["plan_lost"] == disks.scenario("plan").lost.upper_records


def test_a_report_begins_with_the_steps_of_the_plan(tmp_path: Path) -> None:
    """Nothing else is said about the partitions of this cluster: it would be another plan."""
    scanned(tmp_path, OUTRUN / "{broker}" / "{log_dir}", depth="crc", decide=decision_columns)
    first, *others = body_of(tmp_path)["actions"]
    assert first["kind"] == "recover"
    assert "15 records are lost" in first["what"]
    assert first["what"].endswith("First steps: Start broker 1; Start broker 2; Start broker 3.")
    assert first["command"].startswith("kcheck recover 1=")
    assert not {"on-one-disk", "no-clean-leader"} & {row["kind"] for row in others}


def test_what_a_scan_has_not_read_is_not_known(tmp_path: Path) -> None:
    """The answer names it, and its only step is the command that reads the disks; exit code 1."""
    scanned(tmp_path, OUTRUN / "{broker}" / "{log_dir}", decide=decision_columns)
    done = typed("recover", "--from", tmp_path / "out")
    words = " ".join(done.out.split())
    assert (done.code, NOT_SHOWN in words, "Start broker" in words) == (1, True, False)
    assert "Not known: what the next start keeps of 1 replica: the scan did not read the logs." in words
    assert f"Read the disks with: kcheck recover 1={OUTRUN}/broker-1/data1" in words
    (row,) = body_of(tmp_path)["clusters"]
    assert (row["safe"], row["start_all_lost"]) == (None, None)
    assert row["first_steps"] == ({"step": 1, "title": BY_DISKS, "commands": [row["recover"]]},)


def test_a_run_without_a_plan_has_no_loss_of_it(tmp_path: Path) -> None:
    """A repair that only the disks show comes first, and then the plan gives every partition a leader."""
    folder = unpacked("clusters/4.3.1/directories-moved", tmp_path / "disks")
    scanned(tmp_path, folder / "{broker}" / "{log_dir}", kafka="4.3", depth="crc", decide=decision_columns)
    decision = decided(tmp_path / "out")
    assert "a repair of brokers 1, 2 and 3 may come first" in decision.steps[0].title
    assert decision.sentences[0].startswith("Starting everything now: ")
    assert not [row for row in decision.sentences if row.startswith("This plan: ")]


def test_an_unknown_loss_is_no_metric(tmp_path: Path) -> None:
    """The loss under the best leaders is another quantity. No leader is best where no loss is known."""
    for depth, known in (("headers", None), ("crc", 15)):
        place = OUTRUN / "{broker}" / "{log_dir}"
        scanned(tmp_path, place, depth=depth, name=depth, decide=decision_columns)
        run = open_run(str(tmp_path / "out" / f"run={depth}"))
        stream = StringIO()
        prometheus.render(report(run, lambda *_: True), stream, Options())
        samples = dict(line.split(" ") for line in stream.getvalue().splitlines() if line.startswith(LOST))
        counts = [int(count) for name, count in samples.items() if name.startswith(LOST + "{")]
        assert counts == ([] if known is None else [known])
        best = elect_run(run.path, None, ASKED, wanted=PartitionFilter()).scenarios[2]
        assert (best.name, best.lost.records is None, best.offline_partitions) == ("best", known is None, 0)


def test_several_clusters_and_one_of_them(tmp_path: Path) -> None:
    """The one with most at stake comes first; a name shows one; a broker that is given up is in the command."""
    scanned(tmp_path, OUTRUN.parent / "{cluster}" / "{broker}" / "{log_dir}", depth="crc")
    every = recover_run(str(tmp_path / "out"), None, ASKED)
    assert [of.cluster for of in every.clusters][-1] == "quorum"
    assert not every.is_safe
    run = open_run(str(tmp_path / "out"))
    assert [decide(run, of.cluster, ASKED) for of in every.clusters] == [*every.clusters]  # Not held in memory.
    done = typed("recover", "--from", tmp_path / "out", "--cluster", "outrun", "--dead", "9", "--format", "json")
    (row,) = json.loads(done.out)["clusters"]
    assert (done.code, row["cluster"], row["safe"], row["step_count"]) == (1, "outrun", False, 3)
    assert row["next"].endswith("--dead 9 --output-dir DIR")
    assert typed("recover", "--from", tmp_path / "out", "--cluster", "quorum").code == 0


def test_disks_and_tables_are_not_mixed(tmp_path: Path) -> None:
    """A run has no batches: what is about disks is a usage error."""
    for words in (["1=x"], ["--output-dir", tmp_path / "plan"], ["--metadata", "x"]):
        assert typed("recover", "--from", tmp_path, *words).code == 2
    assert typed("recover", "--cluster", "x", "1=x").code == 2


def test_controllers_that_refuse_their_settings_lead_to_preflight(tmp_path: Path) -> None:
    """As by the disks: the logs of all voters are here, so a plan for a lost quorum would give up two of them."""
    nodes = laid_out(tmp_path)
    for number in (1, 2):
        (nodes / f"broker-{number}" / "server.properties").write_text(
            f"process.roles=broker,controller\nnode.id={number}\nlog.dirs={nodes}/broker-{number}/data1\nnum.partitions=x\n"
        )
    scanned(tmp_path, nodes / "{broker}" / "{log_dir}", depth="crc")
    decision = decided(tmp_path / "out")
    disks = kcheck.recover(*(f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)))
    assert disks.election.rescue is not None
    assert decision.sentences[0].partition(": kcheck ")[0] == disks.sentences[0].partition(": kcheck ")[0]
    (step,) = decision.steps
    assert step.title == "Solve what the command names, then ask kcheck recover again"
    assert step.commands == (f"kcheck preflight {nodes}/broker-1/server.properties",)
    assert typed(*step.commands[0].split()[1:]).code == 1


def test_a_run_without_batches_moves_no_directory_aside(tmp_path: Path) -> None:
    """A directory that lacks records may be one with the name of another partition, which only batches show."""
    folder = unpacked("clusters/4.3.1/preferred", tmp_path / "disks")
    place = folder / "{broker}" / "{log_dir}"
    scanned(tmp_path, place, kafka="4.3", depth="headers", decide=decision_columns)
    (step,) = decided(tmp_path / "out").steps
    assert "the scan did not compare the batches of directories that would move aside" in step.title
    said = elect_run(str(tmp_path / "out"), None, ASKED, wanted=PartitionFilter()).verdict
    assert said.startswith("The scan did not compare batches")
    scanned(tmp_path, place, kafka="4.3", depth="crc", name="s", decide=decision_columns)
    assert "did not compare" not in str(decided(tmp_path / "out" / "run=s"))
