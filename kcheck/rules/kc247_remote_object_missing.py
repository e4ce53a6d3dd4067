"""A remote segment lacks objects in the store.

What is wrong: According to __remote_log_metadata the segment is copied completely. But the store lacks an object of it:
the `.log`, an index, or the leader epochs. Or its objects have another size. A lifecycle rule of the bucket, or an
operator, removed it. Only `kcheck tiered --store` looks.

The `.log` of LocalTieredStorage has the size of the segment. The Aiven plugin may compress and encrypt. So kcheck
compares all objects with REMOTE_SIZE in the custom metadata. With `--manifests` the chunk index gives the `.log` size.
In the Iceberg mode of the plugin kcheck looks for the manifest of a segment alone (`metadata/ID.puffin`).

What the broker does (3.6 and later): A consumer that reaches the segment gets UNKNOWN_SERVER_ERROR, again and again. In
3.9 a consumer with read_committed can fail in older segments already. The broker looks for aborted transactions in
later ones. A follower of an empty log cannot build its state.

A missing `.txnindex` is no error for the broker (RemoteIndexCache 3.6 to 4.3.1). The segment counts as one without
aborted transactions, and a consumer with read_committed gets their records. The metadata of segments that Kafka 4.0 and
later copied tells which of them have this index.

What to do: Restore the object from a version or a backup of the bucket. Exclude Kafka's prefix from lifecycle rules. If
the object is lost, move consumers to the offset after the segment.
"""

from collections.abc import Iterable, Iterator

from kcheck.core.tiered.store import MissingObjects, missing_objects
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.remote_log import StoredLog
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import bare_range, counted, partition_name, some_of

_MOST = 5


def check(view: StoredLog, release: Release) -> Iterable[Finding]:
    """Compare the finished segments with the objects."""
    missing = list(missing_objects(view))
    if missing:
        rows = [_words(row) for row in missing[:_MOST]]
        yield RULE.finding(
            Location(topic=view.topic, partition=view.partition),
            f"{partition_name(view.topic, view.partition)}: {some_of(rows, _MOST, len(missing))}",
            effect=f"{kafka(release)} {' and '.join(_effects(missing))}.",
            advice="Restore the objects from a version or a backup of the bucket.",
            data={
                "segments": tuple(
                    {
                        "segment_id": row.segment.segment_id,
                        "from": row.segment.start_offset,
                        "to_exclusive": row.segment.end_offset,
                        "lacks": row.suffixes,
                        "size": row.size,
                        "expected": row.expected,
                    }
                    for row in missing[:_MOST]
                ),
                "count": len(missing),
            },
        )


def _effects(missing: list[MissingObjects]) -> Iterator[str]:
    """Yield what consumers get."""
    readable = sum(row.is_readable for row in missing)
    if readable < len(missing):
        segments = counted(len(missing) - readable, "remote segment")
        yield f"answers UNKNOWN_SERVER_ERROR to consumers that need {segments}"
    if readable:
        yield f"returns aborted records of {counted(readable, 'remote segment')} to consumers with read_committed"


def _words(row: MissingObjects) -> str:
    segment = row.segment
    offsets = bare_range(segment.start_offset or 0, segment.end_offset or 0)
    if row.suffixes:
        return f"{offsets} lacks {some_of(row.suffixes)}"
    return f"{offsets} has {row.size} instead of {counted(row.expected or 0, 'byte')}"


RULE = Rule(severity=Severity.ERROR, scope=Scope.STORED_LOG, check=check)
