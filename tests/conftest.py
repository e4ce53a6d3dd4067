"""How the tests are shared out among processes, the store that some of them share, and a bug that some want."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give all tests of Spark to one process, so that one Spark is started; other tests go where there is room."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist tells no types
        def _split_scope(self, nodeid: str) -> str:
            return "tests/spark" if nodeid.startswith("tests/spark/") else nodeid

    return Scheduling(config, log) if config.getoption("dist") == "load" else None


@pytest.fixture
def break_partition(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Exception], None]:
    """Give what lets a bug of ours be met where the directory of that name is read."""
    from kcheck.scan import partition  # only where it is asked for

    def breaks(name: str, error: Exception) -> None:
        read = partition.read_partition

        def fails(path: str, *arguments: Any, **more: Any) -> Any:
            if path.endswith(name):
                raise error
            return read(path, *arguments, **more)

        monkeypatch.setattr(partition, "read_partition", fails)

    return breaks


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, Any]]:
    """Start a server of S3, and give what a client needs to find it."""
    from tests.stores import server  # it takes seconds to import

    with server() as options:
        yield options
