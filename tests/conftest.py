"""How the tests are shared out among processes, and the fixtures that several folders use."""

import os
import sys
import threading
import tomllib
from collections.abc import Callable, Generator, Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.builders import log_dir, partition_dir, partition_metadata, run, write
from tests.oracle.ask import IS_WHOLE, SWEEP, spread

# Hundreds of processes are started, each of which would compile kcheck again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long one example of a property takes, or to make it, says more about the machine than about kcheck.
settings.register_profile(
    "kcheck",
    deadline=None,
    max_examples=100 * SWEEP if IS_WHOLE else 25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("kcheck")

SPARK = "tests/fleet/spark/"
OWN_SPARK = (f"{SPARK}test_cluster.py", f"{SPARK}test_connect.py")
"""Their processes of Spark are not those of the other tests."""
CLUSTERS = "tests/oracle/clusters/"
"""They wait for brokers."""

ORDER = (SPARK, CLUSTERS, "tests/oracle/", "tests/")
"""What takes longest begins first."""

FLOOR = (
    *(
        f"tests/{name}/"
        for name in (
            "core", "messages", "model", "tables", "formats", "records", "zookeeper", "schemas", "repairs", "rules",
            "cases", "replicas", "survey", "views",
        )
    ),
    "tests/test_words.py",
)  # fmt: skip
"""Whose lines are counted for the coverage floor: to count makes the pure packages less than half as fast."""

NICE = pytest.StashKey[int]()
"""The priority of this process when its first test began."""
COUNTED = pytest.StashKey[bool]()
"""Whether the test before was counted."""


def is_counted(item: pytest.Item) -> bool:
    """Whether the lines that a test runs count: for the floor, or for tests/mutants.py, which asks who runs what."""
    return item.nodeid.startswith(FLOOR) or item.config.getoption("cov_context", None) is not None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run two processes more than there are cores: one of them waits for a broker, and one for Spark."""
    return (os.cpu_count() or 1) + 2


def left_to_the_whole(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests with the marker `whole`, and the cases of a test beyond those that its marker `sample` takes."""
    left_out = {item for item in items if item.get_closest_marker("whole")}
    cases: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        if item not in left_out and (marker := item.get_closest_marker("sample")):
            cases.setdefault((item.nodeid.partition("[")[0], *marker.args), []).append(item)
    taken = {item for (_, count), some in cases.items() for item in spread(some, count)}
    return left_out | {item for some in cases.values() for item in some if item not in taken}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests into their order, and leave out what only the whole comparison runs."""
    left_out = set() if IS_WHOLE else left_to_the_whole(items)
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: next(at for at, name in enumerate(ORDER) if item.nodeid.startswith(name)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count the lines of those tests alone that hold the coverage floor.

    The marker `no_cover` does not: in a process of pytest-xdist, pytest-cov counts twice and pauses one of the two.
    """
    if is_counted(item):
        return (yield)
    tracers = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracers[0])
        threading.settrace(tracers[1])


PURE = tuple(
    name.replace("/", ".")
    for name in tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["tool"]["coverage"]["run"][
        "source"
    ]
)
"""The packages that the coverage floor is about."""


def forget() -> None:
    """Empty the caches of the pure packages."""
    for module in [module for name, module in sys.modules.items() if name.startswith(PURE)]:
        for value in vars(module).values():
            if isinstance(value, _lru_cache_wrapper):
                value.cache_clear()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End a run in which a test has lowered the priority of its process: those after it would take minutes."""
    now = os.getpriority(os.PRIO_PROCESS, 0)
    assert now == item.session.stash.get(NICE, now), "a test lowered the priority of this process"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note the priority, and forget what uncounted tests have put into caches.

    Its lines would not run again in a counted one.
    """
    item.session.stash.setdefault(NICE, os.getpriority(os.PRIO_PROCESS, 0))
    counted = is_counted(item)
    if counted and not item.session.stash.get(COUNTED, True):
        forget()
    item.session.stash[COUNTED] = counted


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests of Spark to one process, so that one Spark is started, and the quick ones file by file."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist tells no types
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(SPARK) and not nodeid.startswith(OWN_SPARK):
                return SPARK
            return nodeid if nodeid.startswith("tests/oracle/") else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Scheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where the files of a test are: paths are told as they were given, relative ones too."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data() -> Path:
    """Make a log dir with two segments in one partition and one in another."""
    path = log_dir(
        Path("data"),
        recovery_point={"a-0": 200, "b-1": 3},
        high_watermark={"a-0": 250},
        log_start={"a-0": 40},
    )
    partition_dir(path / "a-0", [run(0, 199), run(200, 299, epoch=2)], epoch_entries=[(0, 0), (2, 200)])
    write(path / "a-0", {"partition.metadata": partition_metadata()})
    partition_dir(path / "b-1", [run(0, 9)], index_every=None)
    return path


@pytest.fixture
def break_partition(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Exception], None]:
    """Give what lets a bug of ours be met where the directory of that name is read."""
    from kcheck.views import partition  # only where it is asked for

    def breaks(name: str, error: Exception) -> None:
        read = partition.read_partition

        def fails(disk: Any, *arguments: Any, **more: Any) -> Any:
            if disk.path.endswith(name):
                raise error
            return read(disk, *arguments, **more)

        monkeypatch.setattr(partition, "read_partition", fails)

    return breaks


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, Any]]:
    """Start a server of S3, and give what a client needs to find it."""
    from tests.stores import server  # it takes seconds to import

    with server() as options:
        yield options
