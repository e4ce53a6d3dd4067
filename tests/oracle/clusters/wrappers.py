"""Two brokers whose compressed wrappers of magic 0 and 1 differ, and where they do by the records in them."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from kcheck.disk.local import LOCAL
from kcheck.records.record import Record, read_records
from kcheck.segments.batches import Walk
from tests.oracle.histories import create, load, quiet
from tests.oracle.kafka import Cluster

CODECS = ("gzip", "snappy", "lz4")
FORMATS = {0: "0.9.0", 1: "0.10.2"}
"""The message.format.version of each magic."""
COUNT = 4
"""The partitions of a topic."""
TOPICS = [f"{codec}{magic}" for codec in CODECS for magic in FORMATS]


def diverge_in_wrappers(cluster: Cluster) -> None:
    """Both write; then each writes alone, the second one after an unclean election. At the end nobody runs."""
    for topic in TOPICS:
        version = FORMATS[int(topic[-1])]
        create(cluster, topic, ",".join(["1:2"] * COUNT), message_format_version=version)
    load(cluster, *_lines(0))
    quiet()
    cluster[2].stop()
    load(cluster, *_lines(1))
    quiet()
    cluster[1].kill()
    cluster[2].start()
    load(cluster, *_lines(2))
    quiet()
    cluster.kill()


def _lines(part: int) -> Iterator[str]:
    """Yield what is sent: a few wrappers to each partition, in the last part not to each."""
    for topic in TOPICS:
        for number in range(COUNT):
            random = Random(f"{topic} {number} {part}")
            for wrapper in range(random.choice((1, 2, 3)) if part < 2 or number else 0):
                count = random.choice((1, 2, 5, 9))
                yield f"send {topic} {number} {1000 * part + 100 * wrapper} {count} {topic[:-1]}"


def records_of(folder: Path) -> dict[int, tuple[object, ...]]:
    """Return what every record of a partition directory says, by offset."""
    found: dict[int, tuple[object, ...]] = {}
    for path in sorted(folder.glob("*.log")):
        with LOCAL.open(str(path)) as source:
            for batch in Walk(source, path.stat().st_size):
                for record in read_records(source.pread(batch.size, batch.position)):
                    assert isinstance(record, Record)
                    found[record.offset] = record.timestamp, bytes(record.key or b""), bytes(record.value or b"")
    return found


def first_difference(one: Path, other: Path) -> int | None:
    """Return the first offset at which two replicas hold another record."""
    ours, theirs = records_of(one), records_of(other)
    return min((offset for offset in ours.keys() & theirs.keys() if ours[offset] != theirs[offset]), default=None)
