"""The files of docs/operations/fleet are what their readers take: Prometheus, Grafana, systemd, Kubernetes, Argo."""

import ast
import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.cli.command import KCHECK, environment, kcheck
from tests.docs.examples import ROOT
from tests.docs.test_before_a_start import Strict
from tests.fleets import LOG_DIR, LOSS, PARTITION, START, finding, forged

FOLDER = ROOT / "docs" / "operations" / "fleet"
PAGE = (ROOT / "docs" / "operations" / "fleet.md").read_text("utf-8")
RULES = yaml.load((FOLDER / "kcheck.rules.yml").read_text("utf-8"), Strict)
BOARD = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
SELECTOR = re.compile(r"(kcheck_fleet_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r"(\w+)\s*(?:=~|!=|!~|=)\s*\"([^\"]*)\"")
GROUPED = re.compile(r"by \(([^)]*)\)")
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "VolumeSnapshot": ({"volumeSnapshotClassName", "source"}, set()),
    "PersistentVolumeClaim": ({"accessModes", "storageClassName", "dataSource", "resources"}, set()),
    "Job": ({"template"}, {"backoffLimit", "podFailurePolicy"}),
    "CronJob": ({"schedule", "jobTemplate"}, {"concurrencyPolicy"}),
    "CronWorkflow": ({"schedule", "workflowSpec"}, {"concurrencyPolicy"}),
}
"""The fields of `spec` that the API server asks for, and others that the files use: it refuses unknown ones."""
POD = {"containers", "restartPolicy", "volumes"}
CONTAINER = {"name", "image", "command", "resources", "securityContext", "volumeMounts"}


@pytest.fixture(scope="module")
def exposition(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """Return the labels of the samples of each metric, as kcheck writes them."""
    folder = tmp_path_factory.mktemp("metrics")
    run = forged(
        folder, findings=[finding()], partitions=[PARTITION], predictions=[START, LOSS],
        log_dirs=[{**LOG_DIR, "directories": 1, "kafka": "4.3"}],
        clusters=[{"cluster": "c", "start_all_committed": 1}],
        replica_sets=[{"cluster": "c", "kafka_differs": "0.11.0"}],
        runs=[{"log_dirs_expected": 2, "log_dirs_reached": 1}],
    )  # fmt: skip
    kcheck("fleet", "report", run, "--html", folder / "x.html", "--prometheus", folder / "x.prom", "--quiet")
    families = text_string_to_metric_families((folder / "x.prom").read_text())
    return {family.name: [sample.labels for sample in family.samples] for family in families}


def expressions() -> Iterator[str]:
    """Yield every query: of the alerts, of the panels, of the variables."""
    for group in RULES["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in BOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (one["query"] for one in BOARD["templating"]["list"] if one["type"] == "query")


@pytest.mark.parametrize("expression", [*expressions()])
def test_a_query_asks_for_what_is_exported(expression: str, exposition: dict[str, list[dict[str, str]]]) -> None:
    """Each metric, each label of it, and each value of a label that is one of several words."""
    recorded = {rule["record"] for group in RULES["groups"] for rule in group["rules"] if "record" in rule}
    bare = expression
    for name in recorded:
        bare = bare.replace(name, "kcheck_fleet_findings")
    found = SELECTOR.findall(bare)
    assert found
    for metric, labels in found:
        samples = exposition[metric]
        assert samples
        for label, value in LABEL.findall(labels):
            assert all(label in sample for sample in samples), (metric, label)
            if label == "outcome":
                assert value in {sample[label] for sample in samples}
    grouped = {name.strip() for names in GROUPED.findall(bare) for name in names.split(",")}
    assert grouped <= {label for metric, _ in found for sample in exposition[metric] for label in sample}


def test_each_metric_is_shown_or_alerts(exposition: dict[str, list[dict[str, str]]]) -> None:
    asked = {metric for expression in expressions() for metric, _ in SELECTOR.findall(expression)}
    assert {*exposition} == {metric for metric in asked if metric in exposition}


def test_promtool_accepts_the_rules() -> None:
    """Their syntax, and what they say of series that somebody wrote; see kcheck.rules.test.yml."""
    promtool = shutil.which("promtool")
    if promtool is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no promtool on the PATH")
    for words in (("check", "rules", "kcheck.rules.yml"), ("test", "rules", "kcheck.rules.test.yml")):
        done = subprocess.run([str(promtool), *words], cwd=FOLDER, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    alerts = {rule["alert"] for group in RULES["groups"] for rule in group["rules"] if "alert" in rule}
    tested = yaml.load((FOLDER / "kcheck.rules.test.yml").read_text("utf-8"), Strict)["tests"]
    assert alerts == {one["alertname"] for test in tested for one in test["alert_rule_test"]}


def test_panels_have_room_of_their_own() -> None:
    """No two overlap in the 24 columns of Grafana; ids are unique."""
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert sorted({*ids}) == ids


def unit(name: str) -> dict[str, list[str]]:
    """Return the settings of a unit; one can be there several times."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """systemd-analyze says so where it is installed."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string((FOLDER / "kcheck-fleet.timer").read_text("utf-8"))
    assert ["Unit", "Timer", "Install"] == parser.sections()
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return
    for name in ("kcheck-fleet.service", "kcheck-fleet.timer"):
        text = (FOLDER / name).read_text("utf-8").replace("/opt/kcheck/bin/kcheck", "/bin/true")
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", *tmp_path.glob("*.*")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if str(tmp_path) in line]) == (0, [])


def documents() -> Iterator[Any]:
    """Yield the Kubernetes objects of all files."""
    for name in ("snapshot-job.yaml", "cronjob.yaml", "strimzi-job.yaml", "argo.yaml"):
        yield from yaml.load_all((FOLDER / name).read_text("utf-8"), Strict)


def pods() -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield containers with the volumes that they can mount."""
    for one in documents():
        if one["kind"] in ("Job", "CronJob"):
            job = one["spec"] if one["kind"] == "Job" else one["spec"]["jobTemplate"]["spec"]
            required, optional = KINDS["Job"]
            assert required <= {*job} <= required | optional
            spec = job["template"]["spec"]
            assert {*spec} - {"initContainers"} == POD
            yield [*spec.get("initContainers", ()), *spec["containers"]], spec["volumes"]
        if one["kind"] == "CronWorkflow":
            spec = one["spec"]["workflowSpec"]
            yield [row["container"] for row in spec["templates"] if "container" in row], spec["volumes"]


def test_the_api_server_takes_the_manifests() -> None:
    """Fields, claims of snapshots that exist, mounts with volumes; brokers are read-only everywhere."""
    for one in documents():
        required, optional = KINDS[one["kind"]]
        assert {"apiVersion", "kind", "metadata", "spec"} == {*one}
        assert required <= {*one["spec"]} <= required | optional
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", one["metadata"]["name"])
    snapshots = {one["metadata"]["name"] for one in documents() if one["kind"] == "VolumeSnapshot"}
    claims = [one for one in documents() if one["kind"] == "PersistentVolumeClaim"]
    assert snapshots == {one["spec"]["dataSource"]["name"] for one in claims}
    assert {("ReadOnlyMany",)} == {tuple(one["spec"]["accessModes"]) for one in claims}
    known = {*(one["metadata"]["name"] for one in claims), "kcheck-runs"}
    for containers, volumes in pods():
        by_name = {volume["name"]: volume for volume in volumes}
        for container in containers:
            assert {*container} <= CONTAINER
            for mount in container["volumeMounts"]:
                claim = by_name[mount["name"]].get("persistentVolumeClaim", {"claimName": "kcheck-runs"})
                assert claim["claimName"] in known
                of_broker = mount["mountPath"].startswith("/brokers/")
                assert (of_broker, of_broker) == (mount.get("readOnly", False), claim.get("readOnly", False))


def test_no_job_repeats_what_a_scan_has_said() -> None:
    """The exit codes of a scan that ended; another scan of the same claims has the same one."""
    jobs = [one["spec"] if one["kind"] == "Job" else one["spec"]["jobTemplate"]["spec"] for one in documents()
            if one["kind"] in ("Job", "CronJob")]  # fmt: skip
    rules = [rule for job in jobs for rule in job.get("podFailurePolicy", {"rules": []})["rules"]]
    said = {"action": "FailJob", "onExitCodes": {"containerName": "scan", "operator": "In", "values": [1, 2, 3]}}
    assert [said] * 3 == rules


def commands() -> Iterator[list[str]]:
    """Yield every command of kcheck in the files, without its program."""
    service = unit("kcheck-fleet.service")
    for line in (*service["ExecStart"], *service["ExecStartPost"]):
        yield shlex.split(line)[1:]
    for line in (FOLDER / "kcheck-fleet.cron").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield shlex.split(line.partition(" kcheck fleet")[2].join(("fleet", "")))
    for containers, _ in pods():
        for container in containers:
            assert container["command"][0] == "kcheck"
            yield container["command"][1:]
    tree = ast.parse((FOLDER / "airflow_dag.py").read_text("utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert sum("kcheck fleet" in text for text in texts) == 4


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_a_command_runs(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a real broker: it ends as it would there, and writes where it is told to."""
    brokers = tmp_path / "brokers" / "c"
    for number in (1, 2, 3):
        shutil.copytree(ROOT / f"fixtures/brokers/4.3.1/stopped/broker-{number}", brokers / str(number))
    out = tmp_path / "out"
    out.mkdir()
    forged(out)
    places = {"/mnt/brokers": str(tmp_path / "brokers"), "/brokers/{broker}": f"{tmp_path}/brokers/c/{{broker}}",
              "/brokers": str(tmp_path / "brokers"), "/var/lib/prometheus/node-exporter": str(out),
              "/var/lib/kcheck": str(out), "/runs": str(out)}  # fmt: skip
    placed = []
    for word in words:
        place = next((place for place in places if word.startswith(place)), "")
        placed.append(places[place] + word.removeprefix(place) if place else word)
    monkeypatch.setattr("kcheck.cli.priority.lower", lambda: None)  # The tests after this one run in this process.
    done = kcheck(*placed)
    assert (0, True) == (done.code, "usage" not in done.err.lower()), done.err
    if words[1] == "scan":
        assert len([*out.glob("run=*")]) == 2
        assert (out / "kcheck.prom").exists() == ("--prometheus" in words)


def test_the_script_of_the_page_ends_in_decisions(tmp_path: Path) -> None:
    """Word for word. A missing disk is exit code 3, night after night; a layout without disks is 2."""
    script = FOLDER / "nightly.sh"
    assert f"```sh\n{script.read_text('utf-8')}```" in PAGE
    shutil.copytree(ROOT / "fixtures/brokers/4.3.1/stopped", tmp_path / "brokers" / "c")
    program = tmp_path / "bin" / "kcheck"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(KCHECK)} "$@"\n')
    program.chmod(0o755)

    def night(layout: str, *depth: str) -> tuple[int, str]:
        words = ["sh", script, tmp_path / layout, tmp_path / "out", *depth]
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(words, env=environment(PATH=path), capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, shown = night("brokers/{cluster}/{broker}/{log_dir}")
    assert (0, True) == (code, "what to do, by cluster" in shown)
    shutil.rmtree(tmp_path / "brokers" / "c" / "broker-1" / "data2")
    code, shown = night("brokers/{cluster}/{broker}/{log_dir}", "checkpoints")
    assert (3, True, True) == (code, "1. c, " in shown, "fleet diff" in shown)
    assert 2 == night("none/{broker}")[0]


def test_the_page_names_each_file() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {
        path.name for path in FOLDER.iterdir() if f"fleet/{path.name})" in PAGE
    }
