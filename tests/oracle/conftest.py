"""What the tests share that ask Kafka's own classes."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import pytest

from tests.oracle import ask as asking
from tests.oracle.jars import NoKafkaError
from tests.oracle.kafka import Cluster, keep_archive

pytest.register_assert_rewrite("tests.oracle.clusters")  # for what its tests share

ARCHIVED = ("2.8.2", "3.9.2", "4.3.1")
"""Of these releases so many processes are started that an archive of their classes pays."""


@pytest.fixture
def ask() -> asking.Ask:
    """Ask Kafka; without it a test is skipped, or fails where KCHECK_NEEDS_KAFKA=1 or CI=true promise it."""

    def asked(version: str, source: str, cases: Iterable[object], *args: str, jvm: Sequence[str] = ()) -> list[str]:
        try:
            return asking.ask(version, source, cases, *args, jvm=jvm)
        except NoKafkaError as error:
            reason = f"Kafka {error}".partition("\n")[0]
        no_kafka(reason)

    return asked


@pytest.fixture
def start() -> Callable[..., Cluster]:
    """Make a cluster; without Kafka as `ask` does."""

    def started(*args: Any, **kwargs: Any) -> Cluster:
        try:
            if args[0] in ARCHIVED:
                keep_archive(args[0])
            return Cluster(*args, **kwargs)
        except NoKafkaError as error:
            reason = f"Kafka {error}".partition("\n")[0]
        no_kafka(reason)

    return started


def no_kafka(reason: str) -> NoReturn:
    """Skip the test, or fail it in one line where KCHECK_NEEDS_KAFKA=1 or CI=true."""
    if os.environ.get("KCHECK_NEEDS_KAFKA") == "1" or os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
