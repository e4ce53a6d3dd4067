"""What real brokers answered and did, against what kcheck says of the directories that they left."""

import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Settings
from kcheck.disk.local import LOCAL
from kcheck.model.depth import Depth
from kcheck.model.names import DirectoryState
from kcheck.model.report import PartitionFilter
from kcheck.replicas.end_offset import EndOffsetQuery, end_offsets
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.truncation import truncation
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from kcheck.views.log_dir import open_log_dir, partitions

BROKERS = Path(__file__).parents[1] / "fixtures" / "brokers"
RELEASES = sorted(path.name for path in BROKERS.iterdir() if path.is_dir())
FOLDERS = sorted(BROKERS.glob("*/*/broker-*"))
EVERY = PartitionFilter()
CURRENT = DirectoryState.CURRENT


def _answers(kafka: str) -> dict[str, Any]:
    scenes: dict[str, Any] = json.loads((BROKERS / kafka / "answers.json").read_text("utf-8"))["scenes"]
    return scenes


def _scenes(kind: str) -> list[tuple[str, str]]:
    return [(kafka, scene) for kafka in RELEASES for scene, said in _answers(kafka).items() if said.get(kind)]


def test_there_are_brokers_of_all_eras() -> None:
    """One release at least of each way to truncate, and both kinds of clusters."""
    profiles = {str(release(kafka).profile) for kafka in RELEASES}
    assert {"P0", "P1b", "P3", "P5"} <= profiles


@pytest.mark.sample(15)
@pytest.mark.parametrize(("kafka", "scene"), _scenes("end_offsets"))
def test_end_offsets_are_those_that_the_leaders_answered(kafka: str, scene: str) -> None:
    """Asked over the wire just before the directories were copied: killed, stopped cleanly, or live."""
    of = release(kafka)
    for asked in _answers(kafka)[scene]["end_offsets"]:
        wanted = PartitionFilter(topics=(asked["topic"],), partitions=(str(asked["partition"]),))
        question = EndOffsetQuery(epochs=(asked["requested_epoch"],))
        path = str(BROKERS / kafka / scene / f"broker-{asked['broker_id']}")
        rows = [answer._asdict() for answer in end_offsets([path], question, wanted=wanted, release=of).answers]
        assert len(rows) == 1, asked
        found = {
            key: rows[0][key] for key in ("broker_id", "topic", "partition", "requested_epoch", "epoch", "end_offset")
        }
        assert {key: value for key, value in asked.items() if key != "error"} == found
        assert (asked["error"], rows[0]["error"]) == (0, "NONE")


@pytest.mark.parametrize(("kafka", "scene"), _scenes("truncations"))
@pytest.mark.parametrize("live", [False, True], ids=["restarted", "live"])
def test_truncation_is_what_the_broker_then_did(kafka: str, scene: str, live: bool) -> None:
    """The follower's own log told to which offset it truncated when it came back."""
    paths = [f"{broker}={BROKERS / kafka / scene / f'broker-{broker}'}" for broker in (1, 2)]
    for did in _answers(kafka)[scene]["truncations"]:
        election = Election(leader=str(did["leader"]), leader_epoch=did["leader_epoch"], live=live)
        rows: Any = (
            truncation(paths, election, wanted=PartitionFilter(topics=(did["topic"],)), release=release(kafka))
            .report()
            .body["partitions"]
        )
        (partition,) = rows
        (follower,) = partition["followers"]
        steps = [step["truncate_to"] for step in follower["steps"] if step["truncate_to"] is not None]
        before = follower["log_end_offset_before"]
        cuts = _cuts(did["steps"], before)
        assert (cuts[-1] if cuts else None) == follower["truncate_to"], did
        assert cuts == _cuts(steps, before)


@pytest.mark.parametrize("remote_storage", [True, None])
@pytest.mark.parametrize(("kafka", "scene"), _scenes("log_starts"))
def test_log_starts_are_those_that_the_broker_then_loaded(kafka: str, scene: str, remote_storage: bool | None) -> None:
    """Of a topic in remote storage the log start may lie below every segment, of no other: its log told them."""
    path = str(BROKERS / kafka / scene / "broker-1" / "data1")
    wish = StartOptions(None, Settings(remote_storage=remote_storage), release(kafka))
    body: Any = predict([path], wish).report().body
    found = {
        row["dir"]: [row["log_start_offset"], row["log_end_offset"]]
        for log_dir in body["log_dirs"]
        for row in log_dir["partitions"]
        if row["topic"] != "__cluster_metadata"
    }
    assert _answers(kafka)[scene]["log_starts"] == found
    replicas = partitions(
        LOCAL, open_log_dir(LOCAL, path, 1, wish.release), wanted=EVERY, walk_all=False, release=wish.release
    )
    assert {name: start for name, (start, _) in found.items() if "." not in name} == {
        each.where.dir: each.log_start_offset for each in replicas if each.where.dir in found and each.state is CURRENT
    }


def _cuts(offsets: list[int], end: int) -> list[int]:
    """Return the truncations that cut something: one to the log end does not, though some releases log it."""
    found: list[int] = []
    for offset in offsets:
        if offset < (found[-1] if found else end):
            found.append(offset)
    return found


@pytest.mark.sample(24)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(BROKERS)))
def test_no_false_alarm(folder: Path) -> None:
    """What a broker left, stopped or killed, is nothing to call wrong, by its own release or the newest.

    Only the epoch file that lost its entries by hand is told, and what a topic held that was deleted before the stop.
    """
    own = folder.relative_to(BROKERS).parts[0]
    for of in (release(own), release()):
        report = check([str(folder)], depth=Depth.RECORDS, as_kind=None, wanted=EVERY, release=of)
        findings = [finding for finding in report.findings if finding.severity != "info" and finding.id != "KC251"]
        loud = [(finding.id, finding.where.dir) for finding in findings]
        by_hand = folder.parts[-2:] == ("diverged", "broker-1") and release(own).lookup is not None
        assert ([("KC204", "emptied-0")] if by_hand else []) == loud
        assert not report.report().unfinished
