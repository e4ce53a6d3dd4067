"""A command answers on a bundle as on the directories: over the cases of all rules, and over brokers of all eras.

By default a sample of the cases; KCHECK_SWEEP takes all of them.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from kcheck.model.finding import Severity
from kcheck.survey.refused_paths import refused_findings
from tests.capture.answers import OF_HOST, SUFFIX, answer, captured, differences, fresh, run, without_host
from tests.cases.build import CASES, FOUND, shared_copy, toml

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
EVERY = "KCHECK_SWEEP" in os.environ
SCENES = sorted(path for path in BROKERS.glob("*/*") if path.is_dir())[:: 1 if EVERY else 7]
SAMPLE = [case for case in FOUND if case.parent.name[:5] != "kc601"][:: 1 if EVERY else 16]

LACKED = ("endpoints", ".rack", ".found", ".message", ".problem", ".why", ".groups_beyond", ".transactional_id")
"""The ends of fields that quote a file: hosts are masked, and so are letters of lines that a file does not have.
Offsets of groups (KC601 too) are in a bundle of --with-offsets alone, transactional ids in none."""
OLD = ("0.10.2.2",)
"""Its fixtures hold compressed messages of magic 1, which a bundle cannot hold: their segments are KC001 there."""


def unexpected(one: tuple[int, Any], other: tuple[int, Any]) -> list[str]:
    """Return where the answer on a bundle, the other one, differs in more than what a bundle lacks."""
    lines = [line for line in differences(without_host(one[1]), other[1]) if not _is_lacked(line.partition(": ")[0])]
    return lines if one[0] == other[0] else [f"exit {one[0]} != {other[0]}", *lines]


def _is_lacked(at: str) -> bool:
    return at.rpartition("[")[0].endswith("endpoints") or at.endswith(LACKED)


def holds_old(case: Path) -> bool:
    """Whether a case holds compressed messages of the old formats."""
    base = toml(case).get("base", "")
    names = base.values() if isinstance(base, dict) else (base, case.relative_to(CASES).as_posix())
    return any(part in f"{name}/" for name in names for part in (*OLD, "kc163-record-framing/passed/", "kc169-"))


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", [case for case in SAMPLE if not holds_old(case)], ids=lambda case: case.name)
def test_a_case_has_the_same_answers(case: Path, tmp_path: Path) -> None:
    """The verb of the case, and those that read most."""
    shutil.copytree(shared_copy(case), tmp_path / "before")
    described = toml(case)
    paths, kafka = described.get("paths", ["before"]), described["kafka"][0]
    (tmp_path / "made").mkdir()
    if run(["capture", str(tmp_path / "before"), "--dry-run"])[0] == 0:
        bundle = captured([tmp_path / "before"], tmp_path / "made", "--with-offsets")
    else:  # Files that are in no log dir: each is captured alone.
        bundle = captured([tmp_path / path for path in paths], tmp_path / "made")
        paths = [f"before/{Path(path).name}" for path in paths]
        for path in described["paths"]:
            (tmp_path / path).rename(tmp_path / "before" / Path(path).name)
    bundle.rename(tmp_path / f"before{SUFFIX}")
    inside = [path.replace("before", f"before{SUFFIX}", 1) for path in paths]
    for verb in (["check", "--depth", "records"], ["predict"], described.get("verb", ["inspect"])):
        assert not unexpected(*(answer([*verb, *names, "--kafka", kafka], tmp_path) for names in (paths, inside))), verb
    fresh()


@pytest.mark.sample(2)
@pytest.mark.parametrize("scene", [s for s in SCENES if s.parent.name not in OLD], ids=lambda s: "/".join(s.parts[-2:]))
def test_brokers_have_the_same_answers(scene: Path, tmp_path: Path) -> None:
    """Of one broker, of several together, and of single files."""
    names = sorted(path.name for path in scene.glob("broker-*"))
    for name in names:
        shutil.copytree(scene / name, tmp_path / name)
        captured([tmp_path / name], tmp_path)
    kafka = scene.parent.name
    replicas = [f"{name.partition('-')[2]}={name}" for name in names]
    compared = [(verb, [name]) for name in names for verb in _OF_ONE] + [(verb, replicas) for verb in _OF_SEVERAL]
    for verb, paths in compared:
        bundles = [f"{path}{SUFFIX}" for path in paths]
        pair = [answer([*verb, *given, "--kafka", kafka], tmp_path) for given in (paths, bundles)]
        assert not unexpected(*pair), (verb, paths)
    logs = sorted(tmp_path.glob("broker-*/*/*/*[0-9].*"))
    for log in logs if EVERY else logs[::10]:
        file = log.relative_to(tmp_path)
        if log.suffix != ".checkpoint" and "__cluster_metadata" not in str(file):
            inside = str(Path(f"{file.parts[0]}{SUFFIX}", *file.parts[1:]))
            pair = [answer(["dump", path], tmp_path) for path in (str(file), inside)]
            assert not unexpected(*pair), file
    fresh()


def test_a_configuration_has_the_same_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its settings count, and its log dirs are those in the bundle."""
    shutil.copytree(BROKERS / "4.3.1" / "killed" / "broker-1", tmp_path / "own")
    config = tmp_path / "own" / "server.properties"
    config.write_text(
        "node.id=1\nprocess.roles=broker\nlog.dirs=own/data1,own/data2\nlog.index.size.max.bytes=65536\n", "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    captured([config], tmp_path).rename(tmp_path / f"own{SUFFIX}")
    for verb in (["check"], ["preflight"], ["predict"], []):
        pair = [answer([*verb, f"{name}/{config.name}"], tmp_path) for name in ("own", f"own{SUFFIX}")]
        assert not unexpected(*pair), verb
    named, whole = (answer(["preflight", path], tmp_path) for path in (f"own{SUFFIX}/{config.name}", f"own{SUFFIX}"))
    assert named == (whole[0], {**whole[1], "next": named[1]["next"]})
    plain = captured([tmp_path / "own" / "data1"], tmp_path).name
    assert f"{plain}: no server.properties in it; capture it with: kcheck capture" in run(["preflight", plain])[2]
    fresh()


def test_this_machine_is_judged_for_no_bundle(tmp_path: Path) -> None:
    """Its rights, mounts, free bytes and maps decide for a directory alone."""
    shutil.copytree(BROKERS / "4.3.1" / "stopped" / "broker-1", tmp_path / "own")
    captured([tmp_path / "own"], tmp_path)
    on_disk, in_bundle = (
        {row["id"] for row in answer(["predict", name, "--kafka", "4.3"], tmp_path)[1]["premises"]}
        for name in ("own", f"own{SUFFIX}")
    )
    assert {"P401", "P403", "P404"} <= on_disk
    assert on_disk - {*OF_HOST} == in_bundle
    fresh()


_OF_ONE = (
    ["inspect", "--segments", "--epochs", "--files"],
    ["inspect", "--batches"],
    ["check", "--depth", "records"],
    ["predict"],
    ["cluster"],
)
_OF_SEVERAL = (["truncation"], ["elect"], ["check", "--depth", "crc"], ["end-offset", "--epoch", "1"])


def test_a_bundle_without_its_settings_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker reads the file. Other files that are missing are errors."""
    shutil.copytree(BROKERS / "4.3.1" / "diverged" / "broker-1", tmp_path / "own")
    (tmp_path / "own" / "server.properties").write_text("node.id=1\nlog.dirs=data1\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    captured([tmp_path / "own"], tmp_path)
    for verb in (["check"], ["predict"], ["recover"]):
        code, document = answer([*verb, "1=own.kcheck" if verb == ["recover"] else "own.kcheck"], tmp_path)
        found = [(row["severity"], row["message"], row["file"]) for row in document["findings"] if row["id"] == "KC001"]
        assert code in (0, 1), verb
        assert set(found) <= {("info", "not in the bundle", "server.properties")}, verb
    assert found
    (other,) = refused_findings({"own.kcheck/data1/meta.properties": "not in the bundle"}, ())
    assert other.severity is Severity.ERROR
    fresh()
