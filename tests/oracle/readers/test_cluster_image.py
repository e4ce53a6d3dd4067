"""The metadata of a cluster as Kafka's own classes replay it from the same files, against `kcheck cluster`."""

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import kcheck
from kcheck.model.cluster import DECISIVE_CONFIGS, MIGRATING_DIRECTORY
from tests.oracle.ask import IS_WHOLE, SEED, Ask, assert_equal, generated, sampled
from tests.oracle.jars import numbers
from tests.oracle.readers.metadata_logs import write_logs
from tests.reports import document

pytestmark = pytest.mark.oracle

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers"
VERSIONS = ("3.9.2", "4.3.1")
OFFSETS = 60 if IS_WHOLE else 4
"""Of every copy so many offsets are asked, beside the last one."""

PARTITION = (
    "topic_id", "leader", "leader_epoch", "partition_epoch", "replicas", "isr", "elr", "last_known_elr", "adding",
    "removing", "directories", "recovering",
)  # fmt: skip
BROKER = (
    "epoch", "fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs", "incarnation_id", "endpoints",
    "rack", "migrating",
)  # fmt: skip


def _image(path: Path, at: int) -> dict[str, Any]:
    """Return the image that kcheck reads from a copy, in rows by their names."""
    answer = document(kcheck.cluster(path, at=at).report())
    assert answer["metadata"]["complete"], answer["copies"]
    configs = {
        f"{row['kind']} {row['name']} {name}": value
        for row in answer["configs"]
        for name, value in row["config"].items()
    }
    return {
        **{
            f"partition {row['topic']}-{row['partition']}": {name: row[name] for name in PARTITION}
            for row in answer["partitions"]
        },
        **{
            f"broker {row['broker_id']}": {name: row[name] for name in BROKER} | {"log_dirs": {*row["log_dirs"]}}
            for row in answer["brokers"]
        },
        "controllers": [f"{row['controller_id']} {row['incarnation_id']}" for row in answer["controllers"]],
        # The level of the controllers' own protocol stands in control records, and in no image.
        "features": {name: level for name, level in answer["features"].items() if name != "kraft.version"},
        "configs": configs,
        "scram_users": answer["scram_users"],
        "delegation_tokens": answer["delegation_tokens"],
        "next_producer_id": -1 if answer["next_producer_id"] is None else answer["next_producer_id"],
    }


def _kafka_image(answer: str) -> dict[str, Any]:
    """Return an answer of `MetadataImages.java`, as far as kcheck tells the same, in rows by their names."""
    told: dict[str, Any] = json.loads(answer)
    told["configs"] = {name: value for name, value in told["configs"].items() if name.split(" ")[2] in DECISIVE_CONFIGS}
    for row in told["partitions"].values():
        if all(directory == MIGRATING_DIRECTORY for directory in row["directories"]):
            row["directories"] = []
    for row in told["brokers"].values():
        row["log_dirs"] = {*row["log_dirs"]}  # Kafka has sorted them
    rows = {"partition": told.pop("partitions"), "broker": told.pop("brokers")}
    return told | {f"{kind} {name}": row for kind, named in rows.items() for name, row in named.items()}


def _cases(copies: Iterable[Path]) -> list[tuple[Path, int]]:
    """Return copies, each with some offsets and its last one."""
    random = Random(f"{SEED} metadata")
    cases = []
    for copy in copies:
        metadata = document(kcheck.cluster(copy).report())["copies"][0]
        end = metadata["end_offset"]
        wanted = range(metadata["snapshot"] or 0, end)
        offsets = {*random.sample(wanted, min(OFFSETS, len(wanted))), end - 1}
        cases += [(copy, offset) for offset in sorted(offsets)]
    return cases


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_images_of_the_fixtures(ask: Ask, version: str) -> None:
    """What every node of the recorded clusters knew, at several offsets."""
    copies = sorted(BROKERS.rglob("__cluster_metadata-0"))
    newest = numbers(version)
    assert_images(ask, version, [copy for copy in copies if numbers(copy.parts[-5]) <= newest])


def assert_images(ask: Ask, version: str, copies: Iterable[Path]) -> None:
    """Fail where the classes of a release make something else of copies than kcheck does, at any of some offsets."""
    cases = _cases(copies)
    answers = ask(version, "MetadataImages.java", [f"{path} {at}" for path, at in cases])
    ours, theirs = [_image(path, at) for path, at in cases], list(map(_kafka_image, answers))
    for (path, at), our, their in zip(cases, ours, theirs, strict=True):
        names = sorted(our.keys() | their.keys())
        places = [f"{path} {at} {name}" for name in names]
        assert_equal(places, [our.get(name) for name in names], [their.get(name) for name in names])


@pytest.mark.parametrize(("version", "level"), sampled((("4.3.1", 1), ("3.9.2", 2), ("3.9.2", 0), ("4.3.1", 3))))
def test_the_images_of_random_records(ask: Ask, tmp_path: Path, version: str, level: int) -> None:
    """Every kind of record that makes an image, in any order that Kafka takes."""
    random = Random(f"{SEED} {version} {level}")
    assert_images(ask, version, write_logs(ask, tmp_path, random, level=level, logs=generated(15), size=300))
