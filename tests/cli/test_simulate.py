"""`kcheck simulate` as a shell runs it."""

import json
import subprocess
from pathlib import Path

import pytest

from kcheck import api
from kcheck.simulation.search import Budget
from kcheck.verbs.simulate import Configuration, SearchBounds
from tests.cli.command import kcheck


def test_exit_codes(tmp_path: Path) -> None:
    """0 if every expectation holds, 1 if one does not, 2 for a history that cannot be read."""
    path = tmp_path / "ticket"
    path.write_text("brokers A B\nA leads\nappend 1\nfetch B\nexpect B leo 1\n", "utf-8")
    assert 0 == kcheck("simulate", path).code
    path.write_text("brokers A B\nA leads\nappend 1\nfetch B\nexpect B leo 2\n", "utf-8")
    done = kcheck("simulate", path)
    assert 1 == done.code
    assert done.out.endswith(f"line 5: B leo is 1, expected 2\n\nNext:\n  kcheck simulate run {path} --kafka all\n")
    path.write_bytes(b"brokers A\xff\n")
    assert f"kcheck: {path}: not UTF-8 at position 9\n" == kcheck("simulate", path).err
    path.write_text("brokers A\x1b[31m\n", "utf-8")
    assert "\x1b" not in kcheck("simulate", path).err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("nowhere",), "nowhere: no such file or history; kcheck simulate list names the histories"),
        (("kip-101",), "kip-101: no such file or history; did you mean kip-101-1, kip-101-2?"),
        (("run",), "NAME|FILE is missing; for example: kcheck simulate kip-101-1 --kafka 0.10.2"),
        (("kip-841", "--kafka", "2.8"), "Kafka 2.8 has no KRaft mode"),
        (("kip-101-1", "--kafka", "5.0"), "--kafka 5.0: not a release"),
        (("search", "--unclean", "maybe"), "--unclean maybe: not one of true, false"),
        (("search", "--mode", "raft"), "--mode raft: not one of kraft, zookeeper"),
        (("search", "--brokers", "10"), "--brokers"),
        (("search", "--mutant", "M3"), "--mutant M3: not one of"),
        (("kip-320", "--kafka", "all", "--mutant", "M3"), "--mutant M3: not one of"),
        (("search", "--fences", "-1"), "--fences"),
        (("write", "kip-966", "--output-dir", "new", "--kafka", "all"), "--kafka all: name one release"),
        (("write", "kip-966", "--output-dir", "new", "--after", "99"), "use 0 to"),
    ],
)
def test_usage_errors(arguments: tuple[str, ...], error: str) -> None:
    """One line, and exit code 2."""
    done = kcheck("simulate", *arguments)
    assert 2 == done.code
    assert error in done.err


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A directory is no history: a wrong argument."""
    done = kcheck("simulate", tmp_path)
    assert (2, f"kcheck: {tmp_path}: not a regular file\n") == (done.code, done.err)


def test_the_document_of_a_history() -> None:
    """Steps, verdict and expectations, as scripts rely on them."""
    done = kcheck("simulate", "kip-101-2", "--kafka", "0.10.2", "--format", "json")
    document = json.loads(done.out)
    assert "kcheck.simulate/1" == document["schema"]
    assert {
        "lost": [{"from": 1, "to": 2}], "withdrawn": [], "stuck": [], "offline": False,
        "diverged": [{"replicas": ["A", "B"], "at": 1, "detected": False}],
    } == document["verdict"]  # fmt: skip
    first, last = document["steps"][0], document["steps"][-1]
    assert (0, "A leads", "A", 0, ["A", "B"]) == tuple(
        first[field] for field in ("line", "event", "leader", "leader_epoch", "isr")
    )
    assert {"log_end_offset", "high_watermark", "log_start_offset", "leader_epochs", "role", "running", "log"} == set(
        last["replicas"]["A"]
    )
    assert "ReplicaFetcherThread.maybeTruncate: to the high watermark" in document["steps"][-2]["decided_by"]
    assert {
        "rule": "ReplicaFetcherThread.maybeTruncate: to the high watermark",
        "methods": ["ReplicaFetcherThread.maybeTruncate"], "reference": None,
        "link": "https://kafka.apache.org/documentation/#replication",
    } in document["steps"][-2]["rules"]  # fmt: skip
    assert [] == document["failed_expectations"]


def test_all_releases() -> None:
    """A row for each line of releases; what changed it is named."""
    done = kcheck("simulate", "kip-101-2", "--kafka", "all", "--format", "json")
    releases = json.loads(done.out)["releases"]
    diverges = [row["kafka"] for row in releases if row["verdict"]["diverged"]]
    assert ["0.8.2", "0.9.0", "0.10.0", "0.10.1", "0.10.2"] == diverges
    assert 0 == kcheck("simulate", "kip-101-2", "--kafka", "all").code


def test_the_api_gives_the_documents(tmp_path: Path) -> None:
    """The same ones as the commands, for a history, all releases, a file to search from, and a configuration."""
    for kafka in ("0.10.2", "all"):
        done = kcheck("simulate", "kip-101-2", "--kafka", kafka, "--format", "json")
        assert json.loads(done.out) | {"next": None} == api.simulate("kip-101-2", kafka=kafka).to_dict()
    ticket = tmp_path / "ticket"
    configuration = Configuration(brokers=2, min_isr=2)
    ticket.write_text(configuration.beginning(), "utf-8")
    bounds = SearchBounds(Budget(records=2, fences=0))
    everywhere = api.search(configuration, SearchBounds(depth_max=1), kafka="all").to_dict()["searches"]
    assert ("0.8.2", 1) == (everywhere[0]["kafka"], everywhere[0]["depth"])
    searched = [api.search(begun, bounds, kafka="2.1").to_dict() for begun in (configuration, ticket)]
    assert searched[0] == searched[1]
    done = kcheck(
        "simulate", "search", "--min-isr", "2", "--appends", "2", "--fences", "0", "--kafka", "2.1",
        "--format", "json",
    )  # fmt: skip
    assert json.loads(done.out) == searched[0]


def test_the_list() -> None:
    done = kcheck("simulate", "list")
    assert "kip-101-1: A follower restarts before it learns the high watermark" in done.out
    assert {"name", "title", "page", "outcomes"} == set(
        json.loads(kcheck("simulate", "list", "--format", "json").out)["histories"][0]
    )


def test_a_search() -> None:
    """Exit code 1 with a history that can be replayed, 0 if there is none."""
    found = kcheck("simulate", "search", "--appends", "1", "--format", "json")
    document = json.loads(found.out)
    assert (1, "lost") == (found.code, document["promise"])
    assert document["found"].startswith("# an acknowledged record is lost: Kafka 4.3\nbrokers A B\n")
    none = kcheck("simulate", "search", "--appends", "1", "--fences", "0", "--min-isr", "2")
    assert 0 == none.code
    assert "breaks no promise within the budget" in none.out
    some = kcheck("simulate", "search", "--min-isr", "2", "--max-states", "10")
    assert "raise --max-states" in some.out.replace("\n", " ")


def test_a_search_in_all_releases() -> None:
    """A row for each line that has these settings, with what the search of that release alone says."""
    options = ("simulate", "search", "--min-isr", "2", "--appends", "1", "--fences", "0", "--format", "json")
    compared = kcheck(*options, "--kafka", "all")
    rows = json.loads(compared.out)["searches"]
    assert 1 == compared.code
    promises = {row["kafka"]: row["promise"] for row in rows}
    assert ("lost", "lost", None) == (promises["0.8.2"], promises["2.1"], promises["2.2"])
    for row in rows[::10]:
        alone = json.loads(kcheck(*options, "--kafka", row["kafka"]).out)
        assert {name: alone[name] for name in row if name not in ("kafka", "controller")} == {
            name: value for name, value in row.items() if name not in ("kafka", "controller")
        }
    shallow = kcheck("simulate", "search", "--mode", "kraft", "--fences", "0", "--max-events", "1", "--kafka", "all")
    assert 0 == shallow.code
    assert "none up to 1 events" in shallow.out
    assert "zookeeper" not in shallow.out
    assert 2 == kcheck("simulate", "search", "--elr", "maybe", "--kafka", "all").code


def test_directories_are_written(tmp_path: Path) -> None:
    """Those of the step that is named; what the history does is told as ever."""
    done = kcheck("simulate", "write", "kip-966", "--output-dir", tmp_path / "left", "--after", "6")
    assert (0, done.out) == (0, f"{kcheck('simulate', 'kip-966').out}\nNext:\n  kcheck {tmp_path}/left\n")
    assert (tmp_path / "left" / "broker-1" / ".kafka_cleanshutdown").exists()
    assert not (tmp_path / "left" / "broker-2" / ".kafka_cleanshutdown").exists()


REPRODUCED = """brokers A B C
topic unclean=true min.isr=2
A leads
append 2
append 3 acks=1
fetch B
fetch all
checkpoint A
flush A
delay controller->B
elect C
deliver controller->B
drop controller->B
delay A->B
deliver A->B
shrink B
expand B
read C 0..2
trim C to 1
wait 1500ms
controller new
reassign C A B
crash B
power-loss B
fence B
start B
fence A
start A
power-loss A from 4
stop C
append 1
elect A unclean
tell
"""


@pytest.mark.parametrize("kafka", ["0.10.2", "2.0", "2.8", "3.9", "4.3"])
def test_a_history_as_a_script(kafka: str, tmp_path: Path) -> None:
    """A shell can read it; every event is there, with the tools of the release."""
    path = tmp_path / "ticket"
    path.write_text(REPRODUCED.replace("tell\n", ""), "utf-8")
    done = kcheck("simulate", "script", path, "--kafka", kafka)
    assert 0 == done.code
    subprocess.run(["sh", "-n"], input=done.out, text=True, check=True)
    assert all(f"\n# {line}\n" in done.out for line in REPRODUCED.splitlines()[2:-1])
    assert ("kafka-preferred-replica-election" in done.out) == (kafka in ("0.10.2", "2.0"))
    body = done.out.partition("# A leads")[2]
    assert "pause 2\npause 3\nproduce 1 2 all &" in body
    assert "resume 2\nfetched" in body
    assert "elect 3,1,2" in body
    assert "crash 2\n" in body
    assert "cut 1 " in body
    assert body.count("# not forced: ") > 5


@pytest.mark.parametrize(
    "option",
    ["appends", "crashes", "lossy-crashes", "fences", "moves", "shrinks", "delays", "overtakes"],
)
def test_a_bound_that_is_too_large_is_named_as_it_was_given(option: str) -> None:
    done = kcheck("simulate", "search", f"--{option}", 64)
    assert (2, f"kcheck: --{option} 64: must be from 0 to 63\n") == (done.code, done.err)


@pytest.mark.parametrize(
    ("arguments", "following"),
    [
        (("list",), "kafka-10706 --kafka all"),
        (("kip-101-1", "--kafka", "all"), "run kip-101-1 --kafka 0.8.2"),
        (("search", "--max-events", "6", "--kafka", "all"), "search --max-events 6 --kafka 0.8.2"),
        (("kip-101-1", "--kafka", "0.10.2"), None),
        (("search", "--max-events", "6", "--kafka", "0.10.2"), None),
    ],
)
def test_the_next_command(arguments: tuple[str, ...], following: str | None) -> None:
    """A loss leads to the releases, and these to the first that loses; a release that the user names is the end."""
    last = kcheck("simulate", *arguments).out.splitlines()[-2:]
    assert (["Next:", f"  kcheck simulate {following}"] == last) if following else "Next:" not in last
