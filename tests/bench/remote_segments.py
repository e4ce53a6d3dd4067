"""Measures memory and time of remote segments: `python tests/bench/remote_segments.py [SEGMENTS]`.

A listing of five objects a segment is compared with the table of segments in a run of `kcheck fleet scan`. Records of
`__remote_log_metadata` (two a segment, decoded) are folded, and the listing is grouped. Each step prints seconds and
the peak memory of the process so far. A wrong number of objects ends the script.
"""

import argparse
import resource
import sys
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.arrow import batch_of  # noqa: E402 - the path above comes first
from kcheck.core.tiered.reading import remote_log  # noqa: E402 - the same
from kcheck.core.tiered.segment_records import SegmentFold  # noqa: E402 - the same
from kcheck.core.tiered.store import missing_objects, objects_by_segment  # noqa: E402 - the same
from kcheck.core.tiered.stored_objects import NamedSegments  # noqa: E402 - the same
from kcheck.fleet.run import written_run  # noqa: E402 - the same
from kcheck.fleet.run_output import RunOutput  # noqa: E402 - the same
from kcheck.fleet.scan.remote_storage import object_rows  # noqa: E402 - the same
from kcheck.model.remote_log import MetadataState, StoredLog, StoreObject  # noqa: E402 - the same
from kcheck.tables import remote_segments  # noqa: E402 - the same

TOPIC = "D2kA7PHGSbuG8vUj45S1jg"
SUFFIXES = ("index", "leader_epoch_checkpoint", "log", "snapshot", "timeindex")
RECORDS = 1000
ROWS = 65_536


def segment_id(number: int) -> str:
    """Return the id of a segment."""
    return urlsafe_b64encode(uuid.UUID(int=number * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128)).bytes)[
        :22
    ].decode()


def records(count: int) -> Iterator[dict[str, Any]]:
    """Yield the decoded records of segments of one partition."""
    for number in range(count):
        where = {"topicIdPartition": {"name": "t", "id": TOPIC, "partition": 0}, "id": segment_id(number)}
        both = {"remoteLogSegmentId": where, "brokerId": 1, "eventTimestampMs": number, "customMetadata": None}
        start = number * RECORDS
        epochs = [{"leaderEpoch": 0, "offset": start}]
        yield {
            **both, "startOffset": start, "endOffset": start + RECORDS - 1, "segmentSizeInBytes": 1 << 20,
            "segmentLeaderEpochs": epochs, "maxTimestampMs": number, "remoteLogSegmentState": 0,
        }  # fmt: skip
        yield {**both, "remoteLogSegmentState": 1}


def listed(count: int) -> Iterator[StoreObject]:
    """Yield the objects of these segments, as LocalTieredStorage names them."""
    for number in range(count):
        name = f"kafka-tiered-storage/t-0-{TOPIC}/{number * RECORDS:020d}-{segment_id(number)}"
        yield from (StoreObject(f"{name}.{suffix}", 1 << 20, number) for suffix in SUFFIXES)


def measured(what: str, step: Callable[[], object]) -> object:
    """Run a step, and print what it took."""
    began = time.process_time()
    kept = step()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{what}: {time.process_time() - began:.1f} s, peak {peak} MiB")
    return kept


def folded(count: int) -> SegmentFold:
    """Return the fold of all records."""
    fold = SegmentFold()
    for fields in records(count):
        fold.take(fields)
    return fold


def judged(count: int) -> int:
    """Return the number of objects in the table `remote_objects` of a scan."""
    with TemporaryDirectory() as folder, RunOutput(folder, "bench", {}) as output:
        columns = remote_segments.TABLE.run_columns
        fixed = {"state": "copy-finished", "topic": "t", "partition": 0, "topic_id": TOPIC}
        row = [fixed.get(column.name) for column in columns]
        at = [column.name for column in columns].index("segment_id")
        for part in batched(range(count), ROWS):
            rows = [(*row[:at], segment_id(number), *row[at + 1 :]) for number in part]
            output.write("remote_segments", batch_of(rows, columns))
        run = written_run(output, ("remote_segments",))
        rows_of_objects = object_rows(listed(count), run, is_complete=True, now_ms=0)
        return sum(verdict == "used" for *_, verdict in rows_of_objects)


def batched(numbers: range, size: int) -> Iterator[range]:
    """Yield parts of a range."""
    return (numbers[at : at + size] for at in range(0, len(numbers), size))


def main() -> None:
    """Measure each step once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("segments", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--tiny", action="store_true", help="a few segments, to see that the script works")
    parser.add_argument("--fleet", action="store_true", help="the objects of a scan alone")
    options = parser.parse_args()
    count = 100 if options.tiny else options.segments
    if options.fleet or options.tiny:
        used = measured(f"judge {count * len(SUFFIXES)} objects", lambda: judged(count))
        if used != count * len(SUFFIXES):
            raise SystemExit(f"{used} objects in use")
    if options.fleet:
        return
    fold: Any = measured(f"fold {count} segments", lambda: folded(count))
    log: Any = measured("remote log", lambda: remote_log(MetadataState.READ, fold.logs()[TOPIC, 0]))
    objects: Any = measured(
        f"group {count * len(SUFFIXES)} objects",
        lambda: objects_by_segment(listed(count), None, NamedSegments([fold.ids])),
    )
    measured("compare", lambda: len(list(missing_objects(StoredLog("t", 0, log, objects, 0)))))


main()
