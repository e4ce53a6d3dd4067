"""How many bytes of a `.log` a broker sees: kcheck.core.start.segments agrees with FileRecords of each release."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.segments import seen_log_size
from tests.oracle.ask import Ask, assert_equal, sampled

pytestmark = pytest.mark.oracle

SIZES = (0, 78, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 78, 3 * 2**31 - 1, 3 * 2**31)


@pytest.mark.parametrize("version", sampled(("0.10.2.2", "0.11.0.3", "2.0.1", "2.1.1", "2.8.2", "3.9.2", "4.3.1")))
def test_sizes(version: str, ask: Ask) -> None:
    """At the largest that an int has, above it, and where it begins anew."""
    found = [seen_log_size(size, release(version)) for size in SIZES]
    refused = "KafkaException" if release(version).refuses_large_logs else "IllegalArgumentException"
    ours = [refused if each is None else str(each) for each in found]
    assert_equal(SIZES, ours, ask(version, "LogSizes.java", SIZES))
