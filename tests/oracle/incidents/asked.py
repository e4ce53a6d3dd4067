"""What kcheck says before the start: of each broker, of the cluster, as an operator asks it."""

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kcheck.cli.app import main
from tests.oracle.incidents.shapes import Shape, started

GREEN, RED, UNKNOWN, USAGE = "green", "red", "unknown", "usage"


class Answer(NamedTuple):
    """One answer; `subject` is a broker's folder or "cluster"; `says` is what of it is compared."""

    verb: str
    subject: str
    command: str
    exit: int
    colour: str
    says: dict[str, Any]


def run(folder: Path, *words: str) -> tuple[int, Any]:
    """Return the exit code and the JSON of a command that is typed in a folder; the text of an error instead."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        before, sys.argv = sys.argv, ["kcheck", *words, "--format", "json"]
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            sys.argv = before
    try:
        return code, json.loads(out.getvalue())
    except json.JSONDecodeError:
        return code, error.getvalue()[-500:] or out.getvalue()[-500:]


def metadata(folder: Path, shape: Shape, name: str) -> list[str]:
    """Return --metadata as the operator of a node gives it: what is beside, or the other controllers that are there."""
    if shape.mode == "zk":
        return ["--metadata", "zookeeper"]
    if shape.beside is not None:
        return ["--metadata", "controller/data1"]
    others = [other for other in shape.nodes if other != name and (folder / other / "data1").is_dir()]
    return [word for other in others for word in ("--metadata", f"{other}/data1")]


def words(folder: Path, shape: Shape, name: str) -> list[str]:
    """Return the options that the operator of a broker gives: the cluster's metadata, and the release if need be."""
    release = started(shape, folder)
    kafka = ["--kafka", release] if shape.mode == "zk" or release != shape.release else []
    return [*(metadata(folder, shape, name) if name != "controller" else []), *kafka]


def ask(folder: Path, shape: Shape) -> Iterator[Answer]:
    """Ask every verb of every broker, and elect of all."""
    brokers = [name for name in shape.nodes if name.startswith("broker-") and (folder / name).is_dir()]
    for name in shape.nodes:
        settings, options = f"{name}/server.properties", words(folder, shape, name)
        yield preflight(folder, name, ["preflight", settings, *options])
        if name in brokers:
            yield predict(folder, name, ["predict", settings, *options])
            yield path(folder, name, [settings, *options])
            yield check(folder, name, ["check", settings, *options])
    numbered = [f"{name.removeprefix('broker-')}={name}" for name in brokers]
    seen = words(folder, shape, "controller" if shape.beside is None else "")
    yield elect(folder, ["elect", *numbered, *seen])


def _error(code: int, told: object) -> str | None:
    """Return the colour of a command that gave no answer."""
    return (USAGE if code == 2 else RED) if isinstance(told, str) else None


def preflight(folder: Path, subject: str, words: list[str]) -> Answer:
    """Ask whether a broker may start."""
    code, told = run(folder, *words)
    colour = _error(code, told)
    says: dict[str, Any] = {"error": told} if colour else {}
    if colour is None:
        colour = {True: GREEN, False: RED, None: UNKNOWN}[told["may_start"]] if code != 3 else UNKNOWN
        assert (colour == GREEN) == (code == 0), (words, code, told)
        reasons = [{key: row[key] for key in ("kind", "dir", "why", "premise")} for row in told["reasons"]]
        says = {"reasons": reasons}
    return Answer("preflight", subject, " ".join(words), code, colour, says)


def predict(folder: Path, subject: str, words: list[str]) -> Answer:
    """Ask how the next start goes."""
    code, told = run(folder, *words)
    colour = _error(code, told)
    says: dict[str, Any] = {"error": told} if colour else {}
    if colour is None:
        rows = told["log_dirs"]
        bad = any(row["outcome"] != "ok" or "lose" in row["verdict"] or "not serve" in row["verdict"] for row in rows)
        bad |= any(row["status"] == "refuted" for row in told["premises"])
        colour = GREEN if code == 0 else RED if bad else UNKNOWN
        says = {
            "verdicts": {row["path"]: row["verdict"] for row in rows},
            "outcomes": sorted({row["outcome"] for row in rows}),
            "strays": [each["dir"] for row in rows for each in row["partitions"] if each["outcome"] == "stray"],
            "ends": {
                f"{row['path']}/{each['dir']}": [each["log_start_offset"], each["log_end_offset"]]
                for row in rows for each in row["partitions"]
            },
        }  # fmt: skip
    return Answer("predict", subject, " ".join(words), code, colour, says)


def _findings(told: dict[str, Any]) -> list[str]:
    rows = [row for row in told["findings"] if row["severity"] in ("error", "fatal")]
    return [f"{row['id']} {row['severity']} {row['message']}" for row in rows][:5]


def path(folder: Path, subject: str, words: list[str]) -> Answer:
    """Ask without a verb."""
    code, told = run(folder, *words)
    colour = _error(code, told)
    says: dict[str, Any] = {"error": told} if colour else {"findings": _findings(told)}
    return Answer("PATH", subject, " ".join(words), code, colour or (RED if code else GREEN), says)


def check(folder: Path, subject: str, words: list[str]) -> Answer:
    """Ask for findings."""
    code, told = run(folder, *words)
    colour = _error(code, told)
    says: dict[str, Any] = {"error": told} if colour else {"findings": _findings(told)}
    return Answer("check", subject, " ".join(words), code, colour or (RED if code else GREEN), says)


def elect(folder: Path, words: list[str]) -> Answer:
    """Ask what starting all of them loses."""
    code, told = run(folder, *words)
    colour = _error(code, told)
    if colour:
        return Answer("elect", "cluster", " ".join(words), code, colour, {"error": told})
    scenarios = {row["name"]: row for row in told["scenarios"]}
    start_all = scenarios.get("start-all")
    is_green = code == 0 and start_all and start_all["lost"]["records"] == 0 and start_all["offline_partitions"] == 0
    colour = GREEN if is_green else UNKNOWN if "not known" in told["verdict"] or start_all is None else RED
    says = {
        "verdict": told["verdict"], "start_order": told["start_order"], "start_all": start_all,
        "elects": {f"{row['topic']}-{row['partition']}": row["kafka_elects"] for row in told["partitions"]},
    }  # fmt: skip
    return Answer("elect", "cluster", " ".join(words), code, colour, says)
