"""Measures memory and time of remote segments: `python tests/bench/remote_segments.py [SEGMENTS]`.

Records of `__remote_log_metadata` (two a segment, decoded) are folded, and a listing of five objects a segment is
grouped. Each step prints the seconds and the peak memory of the process so far. Nothing here is asserted.
"""

import argparse
import resource
import sys
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.core.tiered.reading import remote_log  # noqa: E402 - the path above comes first
from kcheck.core.tiered.segment_records import SegmentFold  # noqa: E402 - the same
from kcheck.core.tiered.store import missing_objects, objects_by_segment  # noqa: E402 - the same
from kcheck.model.remote_log import MetadataState, StoredLog, StoreObject  # noqa: E402 - the same

TOPIC = "D2kA7PHGSbuG8vUj45S1jg"
SUFFIXES = ("index", "leader_epoch_checkpoint", "log", "snapshot", "timeindex")
RECORDS = 1000


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


def main() -> None:
    """Measure each step once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("segments", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--tiny", action="store_true", help="a few segments, to see that the script works")
    options = parser.parse_args()
    count = 100 if options.tiny else options.segments
    fold: Any = measured(f"fold {count} segments", lambda: folded(count))
    log: Any = measured("remote log", lambda: remote_log(MetadataState.READ, fold.logs()[TOPIC, 0]))
    objects: Any = measured(f"group {count * len(SUFFIXES)} objects", lambda: objects_by_segment(listed(count)))
    measured("compare", lambda: len(list(missing_objects(StoredLog("t", 0, log, objects, 0)))))


main()
