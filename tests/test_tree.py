"""What holds for the whole tree: what is shipped, what an import loads, what crosses a process, what a plug sets."""

import ast
import contextlib
import importlib
import inspect
import json
import os
import pickle
import pkgutil
import re
import shutil
import subprocess
import sys
import types
import typing
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.local import LOCAL
from kcheck.disk.tree import Tree
from kcheck.formats import Format
from kcheck.model import java
from kcheck.model.source import Files
from kcheck.registry import discover, plug_names
from kcheck.renderers import Renderer
from kcheck.repairs import Repair
from kcheck.rules import Rule
from kcheck.tables import Table
from tests import conftest

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {"pyproject.toml", "kcheck", "tests", "fixtures", "docs", "README.md"}

HEAVY = ("numpy", "pandas", "pyarrow", "pydantic", "pyspark")
"""What no command of today needs."""

PLUGS: dict[str, tuple[str, type]] = {
    "formats": ("FORMAT", Format),
    "renderers": ("RENDERER", Renderer),
    "repairs": ("REPAIR", Repair),
    "rules": ("RULE", Rule),
    "tables": ("TABLE", Table),
}
"""The plural packages: the constant of each, and what it is an instance of."""

LIGHT = (
    *("core", "disk", "errors", "formats", "jobs", "messages", "model", "records", "registry", "repairs", "rules"),
    *("schemas", "survey", "verbs", "views", "zookeeper"),
)
"""What every command may load: to import numpy or pyarrow takes longer than most of them run."""

NO_SCREEN = (*LIGHT, "dumps", "fleet", "plans", "replicas", "segments", "startup", "tables")
"""All that is below the renderers."""

MODULE_LENGTH_ALARM = 500
FUNCTION_LENGTH_MAX = 70

NOT_VALUES = ("cli", "renderers")
"""What decides how an answer leaves stays in the process that writes it."""


Trees = dict[Path, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    """Parse every module of kcheck once."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted((ROOT / "kcheck").rglob("*.py"))}


def modules() -> list[str]:
    """Return the names of all modules of kcheck."""
    found = pkgutil.walk_packages(kcheck.__path__, "kcheck.")
    return [info.name for info in found if info.name != "kcheck.__main__"]


def of_packages(packages: Iterable[str]) -> set[str]:
    """Return the modules of these packages, which have some each."""
    names = [[name for name in modules() if f"{name}.".startswith(f"kcheck.{package}.")] for package in packages]
    assert all(names)
    return set().union(*names)


def python(code: str, *arguments: str) -> str:
    """Return what a new Python prints on stdout."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def loaded_by_import(names: Iterable[str]) -> set[str]:
    """Return the top-level names that a Python has loaded after these imports."""
    code = "import importlib, sys; [importlib.import_module(n) for n in sys.argv[1:]]; print(*sys.modules)"
    return {name.partition(".")[0] for name in python(code, *names).split()}


def loaded_by_command(*arguments: str) -> set[str]:
    """Return the names of all modules that a Python has loaded when a command has ended, clean or with findings."""
    code = (
        "import io, sys\n"
        "from kcheck.cli.app import main\n"
        "out, sys.stdout = sys.stdout, io.StringIO()\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as ended:\n"
        "    assert ended.code in (None, 0, 1), ended.code\n"
        "print(*sys.modules, file=out)\n"
    )
    return set(python(code, *arguments).split())


def built(folder: Path) -> list[str]:
    """Return the names in the wheel, built from a copy, because building writes into the tree."""
    source, target = folder / "source", folder / "wheel"
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "brokers", "cases")
    shutil.copytree(ROOT, source, ignore=unwanted)
    options = ["--quiet", "--no-deps", "--retries", "1", "--disable-pip-version-check", "--wheel-dir", str(target)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and os.environ.get("CI") != "true":
        pytest.skip("pip cannot build a wheel here: " + done.stderr.strip().rpartition("\n")[2])
    assert done.returncode == 0, done.stderr
    (found,) = target.glob("*.whl")
    with zipfile.ZipFile(found) as archive:
        return archive.namelist()


def test_the_wheel_holds_all_of_kcheck_alone(tmp_path: Path) -> None:
    """Every module, the histories, and the mark that it is typed; no test, no fixture, no page."""
    wheel = built(tmp_path)
    info = f"kcheck-{kcheck.__version__}.dist-info"
    assert {"kcheck", info} == {name.partition("/")[0] for name in wheel}
    kept = (path for pattern in ("*.py", "*.tsv", "*.history", "*.txt") for path in (ROOT / "kcheck").rglob(pattern))
    sources = {str(path.relative_to(ROOT)) for path in kept}
    assert sources | {"kcheck/py.typed"} == {name for name in wheel if name.startswith("kcheck/")}


def test_the_top_level_stays_small() -> None:
    """One place for each kind of thing, and dotfiles."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.partition("/")[0] for line in listed.splitlines()}
    assert not {name for name in top if not name.startswith(".")} - TOP_LEVEL


def test_nothing_below_the_screen_loads_a_screen() -> None:
    """All that looks at a directory comes without typer and rich, and without what is slow to import."""
    assert not loaded_by_import(of_packages(NO_SCREEN) - of_packages(["fleet.spark"])) & {"typer", "rich", "pyspark"}
    assert not loaded_by_import(of_packages(LIGHT)) & {"typer", "rich", *HEAVY}


EPOCHS = "0\n2\n0 0\n1 10\n"
COMMANDS = (
    ("inspect", "leader-epoch-checkpoint"),
    ("end-offset", "leader-epoch-checkpoint", "--log-end-offset", "20"),
    ("truncation", "1=leader-epoch-checkpoint,leo=20,hw=20", "2=leader-epoch-checkpoint,leo=9,hw=9", "--leader", "1"),
    ("rules",),
    ("explain", "KC201"),
)


@pytest.mark.sample(8)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("style", ["text", "json", "ndjson"])
def test_a_command_loads_only_what_it_needs(command: tuple[str, ...], style: str, tmp_path: Path) -> None:
    """No scan but its own, and rich for nobody: it is there for colours on a terminal. That is the time of a start."""
    file = tmp_path / "leader-epoch-checkpoint"
    file.write_text(EPOCHS)
    arguments = [part.replace("leader-epoch-checkpoint", str(file)) for part in command]
    loaded = loaded_by_command(*arguments, "--format", style)
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY, "fastcrc", "cramjam"}
    assert "rich" not in loaded
    answers = {"kcheck.replicas.end_offset", "kcheck.replicas.truncation"} & loaded
    assert answers <= {f"kcheck.replicas.{command[0].replace('-', '_')}"}


@pytest.mark.parametrize(
    ("depth", "path"), [("checkpoints", "."), ("headers", "data1/segments-0"), ("crc", "data2/plain-0")]
)
def test_small_segments_are_looked_at_without_numpy(depth: str, path: str) -> None:
    """Nor is anything at `--depth checkpoints`: to import it is a third of such a start."""
    loaded = loaded_by_command("check", "--depth", depth, str(ROOT / "fixtures/brokers/4.3.1/stopped/broker-1" / path))
    assert not {name.partition(".")[0] for name in loaded} & {*HEAVY, "cramjam"}


@pytest.mark.parametrize(
    "command",
    [("fleet", "scan", "--output-dir"), ("check", "--format", "parquet", "-o")],
    ids=lambda command: command[0],
)
def test_tables_are_written_without_pandas(command: tuple[str, ...], tmp_path: Path) -> None:
    """Wherever pandas is installed, as it is here, Arrow would load it."""
    log_dir = ROOT / "fixtures/brokers/4.3.1/stopped/broker-1"
    loaded = loaded_by_command(*command, str(tmp_path / "out"), str(log_dir), "--fail-on", "fatal", "--ignore", "KC505")
    assert "pyarrow" in loaded
    assert "pandas" not in loaded


def test_help_loads_no_scan() -> None:
    """It is what somebody types first."""
    loaded = loaded_by_command("--help")
    assert not {name for name in loaded if name.startswith(("kcheck.views", "kcheck.disk", "kcheck.rules", "rich"))}


def value_classes() -> list[type]:
    """Return every public class that holds facts: not what plugs fill in, what is read once, how answers leave."""
    found = []
    for name in modules():
        parts = name.split(".")
        if parts[-1] == "_contract" or parts[1] in NOT_VALUES or holds_arrays(name):
            continue
        for value in vars(importlib.import_module(name)).values():
            if is_value(value) and value.__module__ == name and not is_read_once(value):
                found.append(value)
    return sorted((cls for cls in found if not cls.__name__.startswith("_")), key=lambda cls: cls.__qualname__)


def holds_arrays(name: str) -> bool:
    """Whether a module imports numpy or pyarrow: arrays are no values."""
    loaded = vars(importlib.import_module(name)).values()
    return any(isinstance(value, types.ModuleType) and value.__name__ in HEAVY for value in loaded)


def is_value(value: object) -> typing.TypeGuard[type]:
    """Whether something is a dataclass or the class of a named tuple."""
    return isinstance(value, type) and (is_dataclass(value) or (issubclass(value, tuple) and hasattr(value, "_fields")))


def hints_of(cls: type) -> dict[str, typing.Any]:
    """Return the types of the fields of a class, also of those that its module imports for types alone."""
    names: dict[str, object] = {}
    for node in ast.parse(inspect.getsource(sys.modules[cls.__module__])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            imports = [part for part in node.body if isinstance(part, ast.ImportFrom)]
            exec(compile(ast.Module([*imports], []), cls.__module__, "exec"), names)
    return typing.get_type_hints(cls, localns=names)


def is_read_once(cls: type) -> bool:
    """Whether a field is an iterator: such a value stands for a file that is being read."""
    return any(typing.get_origin(hint) is Iterator for hint in hints_of(cls).values())


def sample(hint: object) -> object:
    """Return a value of that type, as full as the type allows: unions give their first, sequences hold one item."""
    if isinstance(hint, typing.NewType):
        return sample(hint.__supertype__)
    if hint in (typing.Any, object) or isinstance(hint, typing.TypeVar):
        return "anything"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return sample(arguments[0])
    if origin in (tuple, list, Sequence, set, frozenset) and arguments[1:] in ((), (...,)):
        return sample_container(origin, sample(arguments[0]))
    if origin is tuple:
        return tuple(map(sample, arguments))
    if origin in (dict, Mapping):
        return {sample(arguments[0]): sample(arguments[1])}
    if origin is Callable:
        return len
    if is_value(origin):
        return filled(origin)
    assert isinstance(hint, type), hint
    return sample_of_class(hint)


def sample_container(origin: object, item: object) -> object:
    """Return a container of one item."""
    return [item] if origin is list else {item} if origin in (set, frozenset) else (item,)


def sample_of_class(cls: type) -> object:
    """Return a value of a class."""
    if issubclass(cls, Enum):
        return next(iter(cls))
    if is_value(cls):
        return filled(cls)
    if cls in (Tree, Files):
        return LOCAL if cls is Tree else LOCAL.directory("seven")
    return {bool: True, int: 7, float: 0.5, str: "seven", bytes: b"7", tuple: (), dict: {}, types.NoneType: None}[cls]


@cache
def filled(cls: type) -> object:
    """Return an instance with a value in each field."""
    return with_fields(cls, [f.name for f in fields(cls) if f.init] if is_dataclass(cls) else [*named_tuple(cls)])


def with_fields(cls: type, names: Iterable[str]) -> object:
    """Return an instance with a value in each of these fields; what holds others of its class holds none here."""
    hints = hints_of(cls)
    return cls(**{name: () if typing.get_args(hints[name]) == (cls, ...) else sample(hints[name]) for name in names})


def named_tuple(cls: type) -> dict[str, bool]:
    """Return the fields of a named tuple, and whether each has a default."""
    return {name: name in getattr(cls, "_field_defaults", ()) for name in getattr(cls, "_fields", ())}


@pytest.mark.parametrize("cls", value_classes(), ids=lambda cls: cls.__qualname__)
def test_a_value_crosses_a_process(cls: type) -> None:
    """It comes out of pickle as it went in, with its fields full and with its defaults."""
    for value in instances(cls):
        again = pickle.loads(pickle.dumps(value))
        assert value == again
        assert type(value) is type(again)


def instances(cls: type) -> Iterator[object]:
    """Yield a full one, and one with every default."""
    yield filled(cls)
    if is_dataclass(cls):
        needed = [f.name for f in fields(cls) if f.init and f.default is MISSING and f.default_factory is MISSING]
    else:
        needed = [name for name, has_default in named_tuple(cls).items() if not has_default]
    yield with_fields(cls, needed)


@pytest.mark.parametrize("package", PLUGS)
def test_every_module_of_a_plural_package_is_a_plug(package: str) -> None:
    """It sets the constant of its package to what `_contract.py` asks for, and no two have one name."""
    constant, contract = PLUGS[package]
    found = discover(f"kcheck.{package}", constant)
    assert len(plug_names(f"kcheck.{package}")) == len(found) > 0
    assert all(isinstance(plug, contract) for plug in found)
    names = [json.dumps(getattr(plug, "kind", None) or getattr(plug, "name", None)) for plug in found]
    assert len(set(names)) == len(names)


def test_every_contract_has_its_package_here() -> None:
    """A new plural package is named in `PLUGS`."""
    contracts = {path.parent.name for path in (ROOT / "kcheck").glob("*/_contract.py")}
    assert set(PLUGS) == contracts


def test_what_an_uncounted_test_remembers_is_forgotten() -> None:
    """A counted test runs the lines of a cached call again, whoever asked first."""
    assert java._zeros()
    conftest.forget()
    assert 0 == java._zeros.cache_info().currsize


def test_a_module_has_one_subject_and_a_function_fits_a_screen(trees: Trees) -> None:
    """In kcheck, its tests and the scripts that make the fixtures."""
    folders = (("kcheck", "**/*.py"), ("tests", "**/*.py"), ("fixtures", "*.py"))
    modules = [path for folder, names in folders for path in sorted((ROOT / folder).glob(names))]
    texts = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in modules}
    lengths = {name: text.count("\n") for name, text in texts.items()}
    long = [name for name, length in lengths.items() if length > MODULE_LENGTH_ALARM]
    assert [] == long, "what is the subject of each half? Cut there, or make it shorter; never cut by length"
    functions = (
        (name, node)
        for name, text in texts.items()
        if lengths[name] > FUNCTION_LENGTH_MAX
        for node in ast.walk(trees.get(ROOT / name) or ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    assert [] == [
        (name, node.name) for name, node in functions if (node.end_lineno or 0) - node.lineno >= FUNCTION_LENGTH_MAX
    ]


ANY_MAX = 58
"""Uses of `Any` in the renderers: rows of `dump` and of fleet runs are read as JSON is."""


def test_renderers_know_the_types_of_what_they_write(trees: Trees) -> None:
    """A layout that takes a typed answer needs no `Any`; the limit only falls."""
    of_renderers = (tree for path, tree in trees.items() if path.is_relative_to(ROOT / "kcheck" / "renderers"))
    names = (node for tree in of_renderers for node in ast.walk(tree) if isinstance(node, ast.Name))
    assert ANY_MAX == sum(node.id == "Any" for node in names)


def test_answers_make_reports_in_one_place(trees: Trees) -> None:
    """But for the reports of a fleet, whose rows stream out of tables."""
    making = [
        str(path.relative_to(ROOT / "kcheck"))
        for path in trees
        for node in ast.walk(trees[path])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Report"
    ]
    runs = [f"fleet/runs/{name}.py" for name in ("diff", "history", "iceberg", "prune", "report")]
    assert ["documents/answer.py", *runs, "fleet/scan/local_engine.py"] == making


def test_a_word_of_a_shell_is_escaped_in_one_place(trees: Trees) -> None:
    """`kcheck.words` also escapes what a terminal would act on, which `shlex.quote` leaves as it is."""
    quoting = [
        str(path.relative_to(ROOT / "kcheck"))
        for path in trees
        if any(
            "shlex" in {alias.name for alias in node.names}
            for node in ast.walk(trees[path])
            if isinstance(node, ast.Import)
        )
    ]
    assert ["fleet/spark/java.py", "words.py"] == quoting


def packages() -> list[str]:
    """Return the names of the packages that contain modules of code."""
    return [name for name in ["kcheck", *modules()] if hasattr(importlib.import_module(name), "__path__")]


def test_package_docstrings_name_every_module() -> None:
    """In backquotes; a plug package says how its plugs are found, and names the modules that plugs share."""
    missing = {}
    for package in packages():
        module = importlib.import_module(package)
        docstring, plugs = module.__doc__ or "", package.removeprefix("kcheck.") in PLUGS
        names = [info.name for info in pkgutil.iter_modules(module.__path__) if not (plugs and info.name[0] != "_")]
        missing[package] = [name for name in names if name != "__main__" and f"`{name}`" not in docstring]
    assert {} == {package: names for package, names in missing.items() if names}


def test_underscored_names_stay_in_their_package(trees: Trees) -> None:
    """No other package imports them."""
    crossing = []
    for path in trees:
        package = path.relative_to(ROOT / "kcheck").parts[0]
        for node in ast.walk(trees[path]):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kcheck."):
                names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                if names[1] != package and any(name.startswith("_") for name in names):
                    crossing.append((str(path.relative_to(ROOT)), node.module))
    assert [] == crossing


def named_types(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a module's classes and type aliases, without the leading underscore."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id.lstrip("_")
            is_type_var = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "TypeVar"
            if not is_type_var and name[:1].isupper() and not name.isupper():
                yield name


def test_the_name_of_a_type_has_one_meaning(trees: Trees) -> None:
    """The words of the code are those of its documentation: a name that is defined twice means two things."""
    sources: dict[str, list[str]] = {}
    for source, tree in trees.items():
        for name in named_types(tree):
            sources.setdefault(name, []).append(str(source.relative_to(ROOT)))
    assert {name: paths for name, paths in sources.items() if len(paths) > 1} == {}


PACKAGES = frozenset(path.parent.name for path in (ROOT / "kcheck").glob("*/__init__.py"))
MODULE_PATH = re.compile(r"`(?:kcheck/|tests/)?(\w+(?:/\w+)+)\.py`")
DOTTED = re.compile(r"`(?:kcheck\.)?([a-z_]+(?:\.[A-Za-z_]\w*)+)(?:\(\))?`")
FORMER = frozenset({"scan"})
"""Packages that are no more."""


def references(text: str) -> Iterator[str]:
    """Yield what a text names of kcheck's own modules, and does not exist."""
    for path in MODULE_PATH.findall(text):
        if not any((ROOT / folder / f"{path}.py").exists() for folder in ("kcheck", "tests", "")):
            yield f"{path}.py"
    for name in DOTTED.findall(text):
        first, *rest = name.split(".")
        if first in FORMER:
            yield name
        elif first in PACKAGES and name != "zookeeper.connect" and rest[-1] not in ("md", "py", "jsonl"):
            value: object = importlib.import_module(f"kcheck.{first}")
            for part in rest:
                found = getattr(value, part, None)
                if found is None and isinstance(value, types.ModuleType):
                    with contextlib.suppress(ImportError):
                        found = importlib.import_module(f"{value.__name__}.{part}")
                value = found
            if value is None:
                yield name


def test_docstrings_and_pages_name_modules_that_exist(trees: Trees) -> None:
    """A module that moves takes its name along."""
    texts = {path: path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")}
    for path in trees:
        constants = (node for node in ast.walk(trees[path]) if isinstance(node, ast.Constant))
        texts[path] = "\n".join(node.value for node in constants if isinstance(node.value, str))
    assert [] == [(str(path), name) for path, text in texts.items() for name in references(text)]
    assert ["scan.truncation.cost", "core.gone.cost"] == list(references("`scan.truncation.cost` `core.gone.cost`"))
    assert ["core/gone.py"] == list(
        references("`core/gone.py` `core/start/claims.py` `core.start.claims.NO_EPOCH` `server.log`")
    )
