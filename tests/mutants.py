"""Changes kcheck in one place at a time, and tells which test notices each change: `python tests/mutants.py`.

The places are drawn by a seed from the functions of `PACKAGES`. A change is a comparison that
includes its limit or no longer does, an `and` that is an `or`, a condition turned round, a sum that is a difference, a
number that is one more. Each is made in a copy of the tree, where the tests run that run the changed line, until one
fails. What none of them notices has survived.

`--contexts FILE` says which tests run a line. Where it is not there, it is made: one run of the tests, which takes some
minutes. `--out` keeps each answer, and a run that is started again goes on.

No program does that as it stands: mutmut and cosmic-ray change a whole tree, and draw no sample by a seed.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from coverage import CoverageData

TREE = Path(__file__).parents[1]
PACKAGES = {
    "core": "core", "messages": "core", "startup": "startup", "rules": "rules", "formats": "formats",
    "records": "formats", "zookeeper": "formats", "replicas": "replicas", "plans": "plans",
}  # fmt: skip
"""The folders that are changed, and what each is."""
TESTS = (
    "core", "messages", "formats", "records", "zookeeper", "schemas", "startup", "rules", "repairs", "replicas",
    "cases", "verbs", "property", "test_brokers.py",
)  # fmt: skip
"""The tests that may notice: no Kafka, no Spark, no screen."""
FIRST, TESTS_MAX = 25, 600
"""So many tests run first, and at most: what more of them would notice counts as survived."""
SECONDS_MAX = 300
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


def drawn(tree: Path, seed: int, count: int) -> list[Mutant]:
    """Return changes of a tree, in the order of the seed: as many of each package, as far as they go."""
    own = named(tree)
    names = sorted(own)
    random.Random(seed).shuffle(names)
    packages = sorted(set(PACKAGES.values()))
    queues = {package: [own[name] for name in names if own[name].package == package] for package in packages}
    return [queue[at] for at in range(count) for queue in queues.values() if at < len(queue)][:count]


def measure(data: Path) -> None:
    """Run the tests once, and keep which of them runs which line."""
    options = ("--cov=kcheck", "--cov-context=test", "--cov-report=", "--cov-fail-under=0", "-q", "-n", "auto")
    command = [sys.executable, "-m", "pytest", *options, *(f"tests/{name}" for name in TESTS)]
    subprocess.run(command, cwd=TREE, env={**os.environ, "COVERAGE_FILE": str(data)}, check=True)


def covering(data: Path, root: Path, mutant: Mutant) -> list[str]:
    """Return the tests that run the changed lines, those beside the package first, file by file in turn."""
    coverage = CoverageData(str(data))
    coverage.read()
    names = {name[name.rindex("/kcheck/") + 1 :]: name for name in coverage.measured_files()}
    if mutant.path not in names:
        return []
    source = (root / mutant.path).read_bytes()
    first, last = (source.count(b"\n", 0, at) + 1 for at in mutant.span)
    lines = coverage.contexts_by_lineno(names[mutant.path])
    tests = {name.rpartition("|")[0] for number in range(first, last + 1) for name in lines.get(number, ()) if name}
    files: dict[str, list[str]] = {}
    for test in sorted(tests):
        files.setdefault(test.partition("::")[0], []).append(test)
    near = sorted(files.values(), key=lambda some: (not some[0].startswith(f"tests/{mutant.package}/"), len(some)))
    return [test for turn in zip_longest(*near) for test in turn if test is not None]


def failed(root: Path, tests: Sequence[str]) -> str | None:
    """Return the first of these tests that fails, None if none does; a run that takes too long is a failure too."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(tests))
        listed.flush()
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "--tb=no", "--no-header", f"@{listed.name}"]
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
    return lines[0].split(" ", 1)[1].partition(" - ")[0] if lines else (done.stdout + done.stderr).strip()[-200:]


@contextmanager
def changed(root: Path, mutant: Mutant) -> Iterator[None]:
    """Make a change for a while."""
    path = root / mutant.path
    source = path.read_bytes()
    begin, end = mutant.span
    path.write_bytes(source[:begin] + mutant.new.encode() + source[end:])
    try:
        yield
    finally:
        path.write_bytes(source)
        for kept in path.parent.glob(f"__pycache__/{path.stem}.*"):
            kept.unlink()


def answered(root: Path, mutant: Mutant, tests: Sequence[str]) -> str:
    """Return the test that notices a change, and fails without it no more; or that the change survived."""
    for group in (tests[:FIRST], tests[FIRST:TESTS_MAX]):
        some = group
        while some:
            with changed(root, mutant):
                test = failed(root, some)
            if test is None:
                break
            if test not in some or failed(root, [test]) is None:
                return test
            some = [other for other in some if other != test]
    return f"{SURVIVED} {min(len(tests), TESTS_MAX)} of {len(tests)} tests"


def main() -> None:
    """Draw, change, and print a line for each change and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--contexts", type=Path, required=True, help="the tests of each line; made if it is not there")
    parser.add_argument("--out", type=Path, help="keeps the answers; those that it has are not asked for again")
    given = parser.parse_args()
    answers: dict[str, str] = json.loads(given.out.read_text()) if given.out and given.out.exists() else {}
    sums: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "changed"
        ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
        shutil.copytree(TREE, root, ignore=ignored)
        if not given.contexts.exists():
            measure(given.contexts)
        for mutant in drawn(TREE, given.seed, given.count):
            name = mutant.name
            if name not in answers:
                answers[name] = answered(root, mutant, covering(given.contexts, TREE, mutant))
                if given.out:
                    given.out.write_text(json.dumps(answers, indent=1))
            fate = SURVIVED if answers[name].startswith(SURVIVED) else "killed"
            sums.setdefault(mutant.package, Counter())[fate] += 1
            print(f"{mutant.path} {mutant.function}: {mutant.old} -> {mutant.new}: {answers[name]}", flush=True)
    print("| Package | Mutants | Killed |\n|---|---|---|")
    for package, fates in sorted(
        {**sums, "all": sum(sums.values(), Counter())}.items(), key=lambda row: row[0] == "all"
    ):
        print(f"| {package} | {fates.total()} | {fates['killed']} |")


if __name__ == "__main__":
    main()
