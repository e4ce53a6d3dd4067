"""A hostile cluster through every output: nothing in it moves a cursor, begins a line, a tag or a command.

The test finds the commands, their formats and the options that write files, and fails for one that no row covers.
"""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.cli.command_tree import Command, command_tree
from kcheck.registry import plug_names
from tests.cli.command import kcheck
from tests.cli.hostile_cluster import NAME, harm, hostile_cluster

ROWS: dict[str, tuple[str, ...]] = {
    "overview": ("{ONE} {TWO} {META}",),
    "check": ("{ONE} {TWO} {META} --config {TOP}/server.properties --depth records --all",),
    "predict": ("{ONE} {META} --all",),
    "preflight": ("{TOP}/server.properties {META} --all --server-log {TOP}/server.log",),
    "explain": ("{TOP}/server.log {B1} --all", "KC201"),
    "recover": (
        "{ONE} {TWO} {META} --output-dir {OUT}/recover",
        "--next {OUT}/recover {ONE} {TWO} {META}",
        "--from {RUN}",
        "--from {RUN} --cluster {NAME}",
    ),
    "recover-quorum": ("100={CONTROLLER} {ONE} --dead 100 --output-dir {OUT}/quorum --force",),
    "recover-metadata": ("{ONE} {TWO} 201={TOP}/formatted --output-dir {OUT}/metadata --force",),
    "recover-topic": ("{NAME} {ONE} {TWO} {META} --output-dir {OUT}/topic --force",),
    "elect": (
        "{ONE} {TWO} {META} --output-dir {OUT}/elect --save-lost {OUT}/lost",
        "--from {RUN} --output-dir {OUT}/elect-run",
    ),
    "verify": ("{OUT}/elect {ONE} {TWO} {META} --all",),
    "truncation": ("{ONE} {TWO} {META} --all",),
    "cluster": (
        "{CONTROLLER} --all",
        "{CONTROLLER} --table brokers",
        "{CONTROLLER} --changes {NAME}-0",
        "{TOP}/zookeeper --all",
    ),
    "repair": (
        "{B1} {META} --accept-loss --tidy --adopt --against {TWO} --store {TOP}/store",
        "{B1} {META} --tidy --format json -o {OUT}/plan.json",
    ),
    "apply": ("{OUT}/plan.json --backup {OUT}/backup --yes",),
    "undo": ("{OUT}/backup",),
    "inspect": ("{B1} --files --segments --epochs",),
    "dump": (
        "{SEGMENT} --records",
        "{COMMITS} --decode offsets",
        "{COMMITS} --print-data utf8",
        "{META_LOG} --decode metadata",
    ),
    "tiered": ("{ONE} {TWO} {META} --store {TOP}/store --orphans {OUT}/orphans --rebuild {OUT}/rebuilt",),
    "end-offset": ("{B1} --all",),
    "capture": (
        "{TOP}/server.properties --with-server-log {TOP}/server.log --with-offsets -o {OUT}/c.kcheck",
        "{B1} --dry-run",
        "{B1} --pseudonyms {OUT}/key -o {OUT}/p.kcheck",
    ),
    "export": ("{COMMITS_DIR} --summary {OUT}/summary.json -o {OUT}/exported",),
    "fleet scan": (
        "{LAYOUT} --output-dir {OUT}/runs --prometheus {OUT}/scan.prom",
        "{LAYOUT} --output-dir {OUT}/deep --owners {TOP}/owners.json --server-logs {LOGS} --depth records",
    ),
    "fleet report": ("{RUN} --html {OUT}/report.html --prometheus {OUT}/report.prom",),
    "fleet diff": ("{RUN} {RUN}",),
    "fleet trend": ("{RUNS}",),
    "fleet sql": ("duckdb {RUN}", "spark {RUN}"),
    "fleet publish": (
        "{RUN} --iceberg c.k --catalog-option type=sql --catalog-option uri={SQLITE} --catalog-option warehouse={URL}",
    ),
    "fleet prune": ("{RUNS} --dry-run --keep 0",),
    "fleet submit": ("--print {LAYOUT} --output-dir {RUNS} -- --master {NAME}",),
    "simulate run": ("{TOP}/h.history",),
    "simulate search": ("{TOP}/h.history --depth 1",),
    "simulate script": ("{TOP}/h.history",),
    "simulate write": ("{TOP}/h.history --output-dir {OUT}/simulated",),
}
NO_NAMES = {"demo", "simulate list", "rules", "schema", "help"}
"""Commands that read nothing of a cluster."""
LEFT_OUT = {
    *(("fleet publish", style) for style in ("json", "ndjson", "csv", "parquet")),  # slow, and a table as any other
    *(("undo", style) for style in ("csv", "parquet")),  # apply has several tables
}
RECORDS, COPIES = ("exported", "simulated", "lost"), {".parquet", ".before"}
"""Files with the bytes of records and of log dirs."""
NAMELESS = {"parquet", "kafka", "mermaid", "prometheus", "svg"}
"""Formats without a name, and one of bytes; the metrics have files of their own."""
READ = {"--answers", "--config", "--owners", "--server-log", "--with-server-log", "--translate"}
"""Options whose file is read."""


def commands() -> Iterator[Command]:
    """Yield every command that is no group."""
    left = [*command_tree()]
    while left:
        command = left.pop()
        left += command.commands
        if not command.commands:
            yield command


def styles_of(command: Command) -> list[str]:
    """Return the values of --format."""
    return [word for option in command.options if "--format" in option.names for word in option.value.split("|")]


def test_every_output_has_a_row() -> None:
    """A new command, or a new option that writes a file or a folder, needs one."""
    known = {command.key: command for command in commands()}
    assert known.keys() == ROWS.keys() | NO_NAMES
    for key, rows in ROWS.items():
        typed = " ".join(rows).split()
        written = [one for one in known[key].options if {"FILE", "DIR", "KEYFILE"} & {*one.value.split("|")}]
        own = [one for one in written if not READ & {*one.names} and not (styles_of(known[key]) and "-o" in one.names)]
        assert [one.names for one in own if not {*one.names} & {*typed}] == []


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the cluster, and scan it twice."""
    folder = hostile_cluster(tmp_path_factory.mktemp("hostile"))
    for run in ("r", "s"):
        scan = ("fleet", "scan", layout_of(folder), "--output-dir", runs_of(folder), "--owners", folder / "owners.json")
        assert kcheck(*scan, "--run", run, "--store", folder / "store").code == 1
    return folder


def layout_of(top: Path) -> str:
    """Return the layout of the fleet."""
    return f"{top.parent}/fleet/{{cluster}}/{{broker}}/{{log_dir}}"


def runs_of(top: Path) -> str:
    """Return the folder of the runs; DuckDB takes a backslash for the end of a folder."""
    return f"{top.parent}/runs{NAME}".replace("\\", "")


def words(row: str, top: Path, out: Path) -> list[str]:
    """Return a row as the words of a command."""
    fleet = top.parent / "fleet" / NAME
    one, two, segment = fleet / f"1{NAME}" / NAME, fleet / f"2{NAME}" / NAME, f"{0:020d}.log"
    controller = f"{fleet}/100{NAME}/{NAME}"
    known = {
        "ONE": f"1={one}",
        "TWO": f"2={two}",
        "B1": str(one),
        "TOP": str(top),
        "OUT": str(out),
        "NAME": NAME,
        "SQLITE": f"sqlite:///{out.parent}/c.db",
        "URL": f"file://{out.parent}/w",
        "RUNS": runs_of(top),
        "RUN": f"{runs_of(top)}/run=r",
        "LAYOUT": layout_of(top),
        "LOGS": f"{top.parent}/logs/{{cluster}}/{{broker}}/server.log",
        "SEGMENT": f"{one}/{NAME}-0/{segment}",
        "COMMITS_DIR": f"{one}/__consumer_offsets-0",
        "COMMITS": f"{one}/__consumer_offsets-0/{segment}",
        "META_LOG": f"{controller}/__cluster_metadata-0/{segment}",
    }
    known["CONTROLLER"] = controller
    parts = row.replace("{META}", "--metadata {CONTROLLER}").split()
    return [part.format(**known) for part in parts]


def texts(out: Path) -> Iterator[tuple[str, str]]:
    """Yield the files that commands wrote for people and programs; records and copies of files are as they were."""
    for path in out.rglob("*"):
        name = str(path.relative_to(out))
        if path.suffix == ".kcheck":
            with zipfile.ZipFile(path) as bundle:
                for member in ("README.txt", "manifest.json"):
                    yield f"{name}/{member}", bundle.read(member).decode()
        elif path.is_file() and path.suffix not in COPIES and not name.startswith(RECORDS):
            yield name, path.read_text("utf-8")


STYLES = sorted({style for command in commands() for style in styles_of(command)} | {*plug_names("kcheck.renderers")})


@pytest.mark.parametrize("style", STYLES)
def test_no_name_does_harm(style: str, top: Path, tmp_path: Path) -> None:
    """On the screen, in messages and in every file; no command fails on such names."""
    out = tmp_path / NAME
    out.mkdir()
    wrong, shown = list[tuple[str, str]](), ""
    known = {command.key: command for command in commands()}
    for key, rows in ROWS.items():
        offered = styles_of(known[key])
        for row in rows if style in (offered or ["text"]) and (key, style) not in LEFT_OUT else ():
            asked = words(row, top, out)
            if offered and "--format" not in asked:
                asked += ["--format", style]
            if style == "parquet" and "-o" not in asked:
                asked += ["-o", f"{out}/{len(wrong)}.parquet"]
            done = kcheck(*key.replace("recover-", "recover ").split(), *asked)
            if "has more than one table" in done.err:
                continue
            shown += done.out
            ending = "sql" if "duckdb" in asked else "json" if "json" in asked else style
            wrong += [(row, words) for words in (*harm(ending, done.out), *harm("text", done.err))]
            is_refused = done.code == 2 and "the run has no plan" in done.err
            is_answer = done.code in (0, 1) or is_refused
            wrong += [(row, done.err)] if not is_answer or "bug in kcheck" in done.err else []
    files = list(texts(out))
    wrong += [(name, words) for name, text in files for words in harm(name, text)]
    assert wrong == []
    assert "pwned" in shown or any("pwned" in text for _, text in files) or style in NAMELESS
