"""Every WARN, ERROR and FATAL that the sources of a release can log has a wording in the catalogue."""

import re
import subprocess
from pathlib import Path

import pytest

from kcheck.disk.package_data import log_catalogue
from kcheck.messages.matching import match
from tests.oracle.ask import IS_WHOLE
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError, classpath, jar
from tests.oracle.logs.log_calls import calls_in, messages
from tests.oracle.logs.test_log_patterns import RELEASES

ARTIFACT = re.compile(
    r"/org/apache/kafka/(kafka_2\.\d\d|kafka-(?:storage|raft|metadata|server|\w+-coordinator)[a-z-]*)/"
)
OPEN = "Controller 17 epoch 17 17"
"""A message that is nothing but values: any message of the controller would have its wording."""


def sources(version: str) -> list[Path]:
    """Return the jars with the sources of a release's broker: of its storage alone, unless in a sweep."""
    try:
        names = {*ARTIFACT.findall(classpath(version))} if IS_WHOLE else {"kafka-storage"}
        return [jar(f"org.apache.kafka:{name}:{version}:jar:sources") for name in sorted(names)]
    except (NoKafkaError, subprocess.CalledProcessError) as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])


def is_known(text: str) -> bool:
    """Whether the catalogue has a message, alone or before the text of an exception."""
    return any(match(log_catalogue(), text + end) is not None for end in ("", " java.io.IOException: x"))


@pytest.mark.oracle
@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else ("4.3.1",))
def test_every_call_that_warns_is_in_the_catalogue(version: str) -> None:
    calls = [call for path in sources(version) for call in calls_in(path)]
    assert len(calls) > (100 if IS_WHOLE else 50)
    assert [] == [call for call in calls if not is_known(call.text) and call.text != OPEN]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('warn(s"a $b ${c.map(_ => "d")} e")', "a 17 17 e"),
        ('error("a " + b(c, ")") + " d", e)', "a 17 d"),
        ('log.warn("a {} b", c)', "a 17 b"),
        ('fatal(("a %s " + "b %d").format(c, d))', "a 17 b 17"),
        ('LOG.error(String.format("a %s", b), c)', "a 17"),
        ('logger.error("a \\"b\\"\\n and more")', 'a "b"'),
        ('warn(b + "a")', None),
    ],
)
def test_messages_of_a_source(source: str, text: str | None) -> None:
    """Scala and Java put the values of a message together in these ways."""
    assert ([] if text is None else [text]) == [*messages(source)]
