"""The store of the Aiven plugin 1.0.0, plain, and compressed and encrypted, beside a broker of 3.9.2."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.apply import apply
from tests.cli.command import kcheck as command
from tests.tiered_states import AIVEN, ENCRYPTED, state
from tests.views.test_rebuilt_records import segment_records

STORES = pytest.mark.parametrize("scene", [AIVEN, ENCRYPTED])


def objects(store: Path, suffix: str) -> list[Path]:
    """Return the objects with a suffix, by offset."""
    return sorted(store.rglob(f"*.{suffix}"))


def messages(of: Path, *, manifests: bool = False) -> list[str]:
    """Return the messages of findings about the store."""
    answer = kcheck.tiered(of / "broker-1", store=of / "store", manifests=manifests).to_dict()
    return [str(row["message"]) for row in answer["findings"]]


@STORES
def test_nothing_is_wrong(scene: str, tmp_path: Path) -> None:
    of = state(scene, ".", tmp_path)
    answer = kcheck.tiered(of / "broker-1", store=of / "store", manifests=True).to_dict()
    assert answer["findings"] == []
    assert [(row["segments"], row["stored"]) for row in answer["topics"]] == [(2, answer["store"]["bytes"])]


@STORES
@pytest.mark.parametrize(
    ("change", "all_objects", "by_manifest"),
    [
        (lambda log: log.unlink(), "t-0: 0-4 lacks .log", "t-0: 0-4 lacks .log"),
        (
            lambda log: log.write_bytes(log.read_bytes()[:-1]),
            "t-0: 0-4 has {} instead of",
            "t-0: 0-4 has {} instead of",
        ),
    ],
)
def test_an_object_is_missing_or_short(
    scene: str, change: Callable[[Path], object], all_objects: str, by_manifest: str, tmp_path: Path
) -> None:
    """The size of all objects is in the record, that of the `.log` in the manifest."""
    of = state(scene, ".", tmp_path)
    first = objects(of / "store", "log")[0]
    size = first.stat().st_size
    total = sum(path.stat().st_size for path in first.parent.glob(f"{first.stem}.*"))
    change(first)
    assert messages(of)[0].startswith(all_objects.format(total - 1))
    assert messages(of, manifests=True)[0].startswith(by_manifest.format(size - 1))


def test_a_copy_without_its_manifest_is_not_whole(tmp_path: Path) -> None:
    """The plugin uploads the manifest last."""
    of = state(AIVEN, ".", tmp_path)
    objects(of / "store", "rsm-manifest")[1].unlink()
    assert messages(of) == ["t-0: 5-9 lacks .rsm-manifest"]


def test_sizes_need_a_store_with_manifests(tmp_path: Path) -> None:
    of = state(AIVEN, ".", tmp_path)
    without = command("tiered", str(of / "broker-1"), "--manifests")
    assert (without.code, "--manifests needs --store" in without.err) == (2, True)
    objects(of / "store", "rsm-manifest")[0].write_text("{}")
    refused = command("tiered", str(of / "broker-1"), "--manifests", "--store", str(of / "store"))
    assert (refused.code, "is not a manifest of version 1" in refused.err) == (2, True)


@STORES
def test_lost_records_come_back(scene: str, tmp_path: Path) -> None:
    """As the broker had written them, with the tag of 4.0 for segments without a transaction index."""
    of, folder = state(scene, ".", tmp_path), tmp_path / "rebuilt"
    records = [data for log in sorted(of.glob("broker-1/__remote*/*.log")) for _, data in segment_records(log)]
    for lost in (of / "broker-1").glob("__remote_log_metadata-*"):
        shutil.rmtree(lost)
    assert command("tiered", str(of / "broker-1"), "--store", str(of / "store"), "--rebuild", str(folder)).code == 1
    rebuilt = [data for log in sorted(folder.glob("*/*.log")) for _, data in segment_records(log)]
    assert len(rebuilt) == 2
    assert rebuilt == [{**data, "txnIndexEmpty": True} for data in records]


def test_epochs_come_back_from_the_indexes(tmp_path: Path) -> None:
    """Of an encrypted store they do not."""
    of = state(AIVEN, ".", tmp_path)
    epochs = of / "broker-1/t-0/leader-epoch-checkpoint"
    before = epochs.read_bytes()
    epochs.write_text("0\n0\n")
    plan = kcheck.repair(of / "broker-1", store=of / "store")
    assert [(row.finding, row.dir) for row in plan.chosen] == [("KC240", "t-0")]
    apply(plan.plan_bytes(), str(tmp_path / "backup"))
    assert epochs.read_bytes() == before


def test_epochs_of_an_encrypted_store(tmp_path: Path) -> None:
    of = state(ENCRYPTED, ".", tmp_path)
    (of / "broker-1/t-0/leader-epoch-checkpoint").write_text("0\n0\n")
    plan = kcheck.repair(of / "broker-1", store=of / "store")
    assert any(row.why.endswith(".rsm-manifest is encrypted") for row in plan.not_planned if row.finding == "KC240")


@STORES
def test_inspect_takes_the_base_offset_from_the_name_of_an_object(scene: str, tmp_path: Path) -> None:
    """The id of the segment follows the offset; an encrypted segment has the offset too."""
    of = state(scene, ".", tmp_path)
    shown = [command("inspect", str(path)).out for path in objects(of / "store", "log")]
    assert ["base_offset 0 " in shown[0], "base_offset 5 " in shown[1]] == [True, True]


@pytest.mark.parametrize("verb", ["dump", "inspect"])
@pytest.mark.parametrize("suffix", ["indexes", "rsm-manifest"])
def test_objects_that_are_no_files_of_kafka(verb: str, suffix: str, tmp_path: Path) -> None:
    of = state(AIVEN, ".", tmp_path)
    refused = command(verb, str(objects(of / "store", suffix)[0]))
    assert (refused.code, "only kcheck tiered --store reads" in refused.err) == (2, True)
