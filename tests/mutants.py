"""Changes kcheck in one place at a time, and tells which changes a test notices: `python tests/mutants.py --count 60`.

The places are drawn by a seed from the functions of `PACKAGES`. A change is a comparison that
includes its limit or no longer does, an `and` that is an `or`, a condition turned round, a sum that is a difference, a
number that is one more. Each is made in a copy of the tree; the tests that see the package run first, then those that
need no Java, then (`--stages near,rest,oracle`) those that ask real Kafka, until one fails that passes on a copy
without the change. What no stage notices has survived.

`--like OTHER` draws from the places alone that another tree has too, in a function of the same name: so two trees are
changed alike, whatever was moved between them. `--out` keeps each answer, and a run that is started again goes on. With
the file of another run, `--like` makes the changes of that run, and asks the test first that noticed a change there.

No program does that as it stands: mutmut and cosmic-ray change a whole tree, and neither draws the same places of two
trees whose files have other names.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PACKAGES = {
    "core": "core", "messages": "core", "startup": "startup", "scan/start": "startup", "rules": "rules",
    "formats": "formats", "records": "formats", "zookeeper": "formats", "schemas": "formats", "replicas": "replicas",
    "plans": "plans",
}  # fmt: skip
"""The folders that are changed, in this tree and in older ones, and what each is."""

ORACLES = {
    "core": (
        "predict", "predict_metadata", "truncation", "epoch_caches", "hash_order", "leftovers", "producer_snapshots",
        "controller_elections",
    ),
    "startup": (
        "predict", "predict_metadata", "repair", "producer_snapshots", "epoch_caches", "read_log", "file_names",
    ),
    "rules": ("boot", "repair", "identities", "leftovers", "producer_snapshots", "quorum_state"),
    "formats": (
        "checkpoint_readers", "directory_names", "decompress", "dump", "dump_decode", "entry_files", "file_names",
        "messages", "meta_properties", "partition_metadata", "quorum_state", "read_log",
    ),
    "replicas": ("truncation", "elect", "histories"),
    "plans": ("repair", "operations"),
}  # fmt: skip
"""The tests that ask Kafka about what a package decides."""

NEAR = (
    "cases", "rules", "core", "messages", "formats", "records", "zookeeper", "schemas", "startup", "repairs",
    "property", "model", "tables", "test_brokers.py",
)  # fmt: skip
NEVER = ("oracle", "bench", "spark", "disk", "__pycache__", "renderers", "mutants.py")
SECONDS_MAX = 1200
STAGES = ("near", "rest", "oracle")
SURVIVED = "survived"

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change, and where it is made in one tree."""

    function: str
    old: str
    new: str
    number: int
    package: str
    path: str
    span: tuple[int, int]

    @property
    def name(self) -> str:
        """What two trees have in common."""
        return json.dumps([self.function, self.old, self.new, self.number])


def mutants(tree: Path) -> Iterator[Mutant]:
    """Yield every change that could be made to a tree."""
    for folder, package in PACKAGES.items():
        for path in sorted((tree / "kcheck" / folder).rglob("*.py")):
            source = path.read_text("utf-8")
            starts = [0]
            for line in source.encode().splitlines(keepends=True):
                starts.append(starts[-1] + len(line))
            counts: Counter[tuple[str, str, str]] = Counter()
            for function in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)):
                for statement in function.body:
                    for node in _expressions(statement):
                        new = _changed(node)
                        if new is None:
                            continue
                        assert isinstance(node, ast.expr)
                        assert node.end_lineno is not None
                        assert node.end_col_offset is not None
                        begin = starts[node.lineno - 1] + node.col_offset
                        span = (begin, starts[node.end_lineno - 1] + node.end_col_offset)
                        name = (function.name, ast.unparse(node), new)
                        counts[name] += 1
                        yield Mutant(*name, counts[name], package, str(path.relative_to(tree)), span)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function itself; a type, a pattern and what stands in an f-string cannot be changed."""
    if isinstance(node, ast.JoinedStr | ast.FunctionDef | ast.ClassDef | ast.pattern | ast.Assert):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns"}:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _expressions(child)


def _changed(node: ast.AST) -> str | None:
    """Return what an expression becomes; None where nothing is changed."""
    match node:
        case ast.Compare(left, [operator], [right]):
            changed: ast.expr = ast.Compare(left, [_opposite(operator)], [right])
        case ast.BoolOp(operator, values):
            changed = ast.BoolOp(_opposite(operator), values)
        case ast.UnaryOp(ast.Not(), operand):
            changed = operand
        case ast.IfExp(test, body, orelse):
            changed = ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.BinOp(left, ast.Add() | ast.Sub() as operator, right):
            changed = ast.BinOp(left, _opposite(operator), right)
        case ast.Constant(bool() as value):
            changed = ast.Constant(not value)
        case ast.Constant(int() as value):
            changed = ast.Constant(value + 1)
        case _:
            return None
    return f"({ast.unparse(changed)})"


def _opposite(operator: ast.AST) -> Any:
    return OPPOSITES[type(operator)]()


def named(tree: Path) -> dict[str, Mutant]:
    """Return the changes whose names are those of one place alone."""
    known = [*mutants(tree)]
    counts = Counter(mutant.name for mutant in known)
    return {mutant.name: mutant for mutant in known if counts[mutant.name] == 1}


def drawn(tree: Path, like: Path, seed: int, count: int) -> list[Mutant]:
    """Return the changes of a tree, in the order of the seed: as many of each package, as far as they go."""
    own = named(tree)
    if like.is_file():
        wanted = json.loads(like.read_text())
        print(*(f"gone: {name}" for name in wanted if name not in own), sep="\n")
        return [own[name] for name in wanted if name in own]
    common = sorted(own.keys() & named(like).keys())
    random.Random(seed).shuffle(common)
    packages = sorted(set(PACKAGES.values()))
    queues = {name: [own[at] for at in common if own[at].package == name] for name in packages}
    return [queue[at] for at in range(count) for queue in queues.values() if at < len(queue)][:count]


def stages(root: Path, package: str, names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the tests that run one after the other until one fails."""
    tests = root / "tests"
    near = [tests / name for name in (package, *NEAR)] + [tests / "scan" / "start"]
    rest = [path for path in sorted(tests.iterdir()) if path not in near and path.name not in NEVER]
    rest = [path for path in rest if path.is_dir() or path.name.startswith("test_")]
    oracle = [path for name in ORACLES[package] for path in (tests / "oracle").rglob(f"test_{name}.py")]
    for name, paths in (("near", near), ("rest", rest), ("oracle", oracle)):
        if name in names:
            known = dict.fromkeys(str(path.relative_to(root)) for path in paths if path.exists())
            yield name, [path for path in known if any((root / path).glob("**/test_*.py")) or path.endswith(".py")]


def failed(root: Path, tests: list[str], unfit: list[str]) -> str | None:
    """Return the first test that fails but for some, None if none does; a run that takes too long is a failure too."""
    ignored = [f"--ignore-glob=*/{name}/*" for name in ("spark",)] + ["--ignore=tests/cli/test_streams.py"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "--no-header", *ignored, *tests]
    command += [f"--deselect={test}" for test in unfit]
    environment = {**os.environ, "PYTHONPATH": str(root), "COLUMNS": "80"}
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS_MAX
        )
    except subprocess.TimeoutExpired:
        return "it came to no end"
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 0:
        return None
    return lines[0].split(" ")[1] if lines else (done.stdout + done.stderr).strip().rpartition("\n")[2]


def answered(root: Path, clean: Path, mutant: Mutant, names: list[str], known: str) -> str:
    """Make a change, and return the stage and the test that notices it, or what it survived.

    `known` is the answer of another run, empty without one.
    """
    path = root / mutant.path
    source = path.read_bytes()
    begin, end = mutant.span
    path.write_bytes(source[:begin] + mutant.new.encode() + source[end:])
    try:
        stage, _, noticed = known.partition(" ")
        if stage in names and failed(clean, [noticed], []) is None and failed(root, [noticed], []) is not None:
            return known
        for name, tests in stages(root, mutant.package, names):
            unfit: list[str] = []
            while (test := failed(root, tests, unfit)) is not None:
                if "::" not in test or failed(clean, [test], []) is None:
                    return f"{name} {test}"
                unfit.append(test)
    finally:
        path.write_bytes(source)
        for kept in path.parent.glob(f"__pycache__/{path.stem}.*"):
            kept.unlink()
    return f"{SURVIVED} {','.join(names)}"


def main() -> None:
    """Draw, change, and print a line for each change and the sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1], help="what is changed, in a copy")
    parser.add_argument("--like", type=Path, help="another tree that has the same places, or what --out kept")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument(
        "--stages", default="near,rest", help="of near,rest,oracle; what survived is asked for those it has not seen"
    )
    parser.add_argument("--out", type=Path, help="keeps the answers; those that it has are not asked for again")
    given = parser.parse_args()
    names = given.stages.split(",")
    answers: dict[str, str] = json.loads(given.out.read_text()) if given.out and given.out.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        root, clean = Path(folder) / "changed", Path(folder) / "clean"
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
        for copy in (root, clean):
            shutil.copytree(given.tree, copy, ignore=ignored)
        sample = drawn(given.tree, given.like or given.tree, given.seed, given.count)
        others = json.loads(given.like.read_text()) if given.like and given.like.is_file() else {}
        for mutant in sample:
            name = mutant.name
            known = answers.get(name, SURVIVED)
            left = [stage for stage in names if stage not in known] if known.startswith(SURVIVED) else []
            if left:
                answer = answered(root, clean, mutant, left, others.get(name, ""))
                if answer.startswith(SURVIVED):
                    seen = (stage for stage in STAGES if stage in known + answer)
                    answer = f"{SURVIVED} {','.join(seen)}"
                answers[name] = answer
                if given.out:
                    given.out.write_text(json.dumps(answers, indent=1))
            print(f"{mutant.package:8} {mutant.function}: {mutant.old} -> {mutant.new}: {answers[name]}")
            sys.stdout.flush()
    dead = [mutant for mutant in sample if not answers[mutant.name].startswith(SURVIVED)]
    print(f"seed {given.seed}: {len(dead)} of {len(sample)} die: {dict(Counter(mutant.package for mutant in dead))}")


if __name__ == "__main__":
    main()
