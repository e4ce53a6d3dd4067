"""How the tests are shared out among processes, and the store that those of them share that need one."""

from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, Any]]:
    """Start a server of S3, and give what a client needs to find it."""
    from tests.stores import server  # it takes seconds to import

    with server() as options:
        yield options
