"""Three brokers of 3.9 lost power. Real brokers left the disks, and some logs are corrupt on every replica."""

import json
import re
import tarfile
from pathlib import Path

import pytest

import kcheck
from tests.cli.command import kcheck as command
from tests.replicas.incident_plans import PACKED

BROKERS = ("1=broker-1", "2=broker-2", "3=broker-3")
ALONE = "The partition has no other replica."
METADATA = ("--metadata", "controller")


@pytest.fixture(autouse=True)
def _disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tarfile.open(PACKED["power-loss-3.9.2"]) as tar:
        tar.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)


def test_the_table_has_every_partition_that_the_plan_loses() -> None:
    """The sum of its losses is the loss of the plan."""
    answer = kcheck.recover(*BROKERS, metadata=["controller"])
    lost = {
        row.name: row.lost_planned.upper_records
        for row in answer.election.of_cluster
        if row.lost_planned is not None and row.lost_planned.records != 0
    }
    assert lost == {"clicks-1": 5, "old-1": 20, "solo-0": 30, "solo-1": 30}
    assert sum(count or 0 for count in lost.values()) == answer.scenario("plan").lost.upper_records
    shown = command("recover", *BROKERS, *METADATA, columns=1000).out
    assert all(re.search(rf"^{name} ", shown, re.MULTILINE) for name in lost)
    assert [line for line in lost_by_plan(shown) if " loses " in line] == [
        f"solo-0 loses offsets 20-49 in step 2. At most 30 records are lost, all of them committed. {ALONE}",
        f"solo-1 loses offsets 20-49 in step 7. 30 records are lost, all of them committed. {ALONE}",
        "clicks-1 loses offsets 125-129 in step 4. 5 records are lost, all of them committed.",
        "old-1 loses offsets 20-39 in steps 2, 4 and 7. 20 records are lost, all of them committed.",
    ]


def test_each_loss_names_the_end_of_each_replica_and_the_reason() -> None:
    """Readable records behind the damage are named too; recovery.md has the same list."""
    shown = lost_by_plan(command("recover", *BROKERS, *METADATA, "--output-dir", "plan", columns=1000).out)
    name = "00000000000000000000.log"
    assert shown[-4:] == [
        "old-1 loses offsets 20-39 in steps 2, 4 and 7. 20 records are lost, all of them committed.",
        f"Broker 1 ends at offset 20, and leads: an incomplete batch at position 1661 of {name}.",
        f"Broker 2 ends at offset 20: an incomplete batch at position 1661 of {name}.",
        f"Broker 3 ends at offset 20: the CRC of the batch at position 1661 of {name} does not match.",
    ]
    of_solo = next(line for line in shown if line.startswith("Broker 2 ends at offset 20, and leads"))
    assert of_solo.endswith(f"position 1668 of {name} does not match. Offsets 40-49 are readable after that.")
    written = Path("plan/recovery.md").read_text().partition("## Lost by this plan\n\n")[2].splitlines()
    assert [line.strip(" -") for line in written] == shown


def lost_by_plan(shown: str) -> list[str]:
    """Return the lines of the list on a screen."""
    lines = shown.partition("Lost by this plan\n")[2].partition("\n\n")[0]
    return [line.strip() for line in lines.splitlines()]


def test_readable_records_behind_a_corrupt_batch_are_saved_before_the_start() -> None:
    """Everything else of the log is lost. elect has no steps, so it names the export."""
    said = "before broker 2 starts, kcheck export broker-2/data/solo-1 --from 40 -o solo-1.ndjson saves offsets 40-49"
    assert said[1:] in command("elect", *BROKERS, *METADATA, columns=1000).out
    recovered = command("recover", *BROKERS, *METADATA, columns=1000).out
    assert "Step 1 saves the readable offsets 40-49 of solo-1 that broker 2 truncates." in recovered
    command("recover", *BROKERS, *METADATA, "--output-dir", "plan")
    assert "plan/saved has the readable offsets 40-49 of solo-1" in Path("plan/recovery.md").read_text()
    assert [str(path) for path in Path("plan/saved").rglob("*.log")] == [f"plan/saved/solo-1/broker-2/{40:020d}.log"]
    assert json.loads(Path("plan/manifest.json").read_text()) == {
        "partitions": [
            {
                "topic": "solo", "partition": 1, "leader": 2, "brokers": [2],
                "files": [f"plan/saved/solo-1/broker-2/{40:020d}.log"], "not_saved": [],
            }
        ]
    }  # fmt: skip


def test_the_first_step_waits_until_the_controllers_have_fenced_the_brokers() -> None:
    command("recover", *BROKERS, *METADATA, "--output-dir", "plan")
    progress = kcheck.recovery_progress("plan", *BROKERS, metadata=["controller"])
    assert progress.sentences[0].startswith(
        "Step 0 is not done yet. Start the controllers unless they run, and wait for"
    )
    assert progress.sentences[0].endswith("The metadata still lists brokers 1, 2 and 3 as running.")
    assert progress.sentences[-1].startswith("Then go on with step 2 of 7. Start broker 1.")
    assert progress.commands == (
        "bin/kafka-server-start.sh -daemon controller/server.properties",
        "bin/kafka-server-start.sh -daemon broker-1/server.properties",
    )
    assert not progress.waits_for_nodes  # Controllers of 3.9 fence nobody before a broker registers.
