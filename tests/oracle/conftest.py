"""What the tests share that ask Kafka's own classes."""

import os
from collections.abc import Sequence
from typing import NoReturn

import pytest

from tests.oracle import ask as asking
from tests.oracle.kafka import NoKafkaError


@pytest.fixture(scope="session")
def ask() -> asking.Ask:
    """Ask Kafka; without it a test is skipped, or fails where KCHECK_NEEDS_KAFKA=1 or CI=true promise it."""

    def asked(version: str, source: str, cases: Sequence[str], *args: str) -> list[str]:
        try:
            return asking.ask(version, source, cases, *args)
        except NoKafkaError as error:
            no_kafka(error)

    return asked


def no_kafka(error: NoKafkaError) -> NoReturn:
    """Skip the test, or fail it in one line where KCHECK_NEEDS_KAFKA=1 or CI=true."""
    needed = os.environ.get("KCHECK_NEEDS_KAFKA") == "1" or os.environ.get("CI") == "true"
    if needed:
        pytest.fail(f"Kafka {error}", pytrace=False)
    pytest.skip(str(error))
