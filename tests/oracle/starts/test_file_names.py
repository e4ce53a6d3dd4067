"""A start fails on the names that kcheck says, and on no other: the LogManager of each release, a file for each start.

`KCHECK_SWEEP` takes every release.
"""

from itertools import product
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.leftovers import ends_start
from tests.builders import broker, run, write
from tests.oracle.ask import sampled, spread
from tests.oracle.boot import Job, boot
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError

pytestmark = pytest.mark.oracle

VERSIONS = ("0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.2.2", "2.8.2", "3.0.2", "3.9.2", "4.3.1")
STEMS = ("", "leader-epoch-checkpoint", "5", "99999999999999999999")
"""From 1.1 on a number is looked for in all of them; 0.10.2 takes `5.log` as it stands."""
KINDS = ("", ".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".bak")
SUFFIXES = ("", ".cleaned", ".swap", ".deleted", ".tmp")


@pytest.mark.parametrize("version", sampled(VERSIONS))
def test_names_that_end_a_start(version: str, tmp_path: Path) -> None:
    """A segment file, a `.cleaned` or a `.swap` without a number in its name, as each release looks for it."""
    every = ("".join(parts) for parts in product(STEMS, KINDS, SUFFIXES))
    names = spread([name for name in every if name not in ("", *STEMS)], 60)
    for number, name in enumerate(names):
        folder = tmp_path / str(number)
        write(broker(folder, run(0, 19)) / "t-0", {name: b""})
    try:
        answers = boot(version, [Job((tmp_path / str(number),)) for number in range(len(names))], processes=2)
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    ended = [name for name, answer in zip(names, answers, strict=True) if answer.outcome == "abort"]
    assert [name for name in names if ends_start(name, release(version))] == ended
