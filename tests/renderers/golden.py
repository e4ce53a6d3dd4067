"""What the golden files show, and how to write them anew: `python -m tests.renderers.golden`.

Read the difference before you keep it: somebody's script reads these lines. The directories are built from bytes in a
folder that is gone afterwards, and named by relative paths, so that the files are the same everywhere.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.names import segment_prefix
from tests.builders import batch, broker, flip_byte, index, log, message, partition_dir, run, write
from tests.cli.command import kcheck
from tests.record_bytes import batch_of, old_message, record, wrapper
from tests.replicas import test_recover_metadata, test_recover_quorum, test_recover_topic

GOLDEN = Path(__file__).parent / "golden"
FIXTURES = Path(__file__).parents[2] / "fixtures" / "brokers"
METADATA = "__cluster_metadata-0"

LOG, INDEX = "damaged/00000000000000000100.log", "damaged/00000000000000000100.index"
RECORDS = "records/00000000000000000000.log"

ANSWERS = {
    "inspect": ("inspect", "data1", "--kafka", "4.3"),
    "inspect-files": ("inspect", "data1/recovery-point-offset-checkpoint", "data1/t-0/leader-epoch-checkpoint"),
    "truncation": ("truncation", "1=data1", "2=data2", "--leader", "2", "--kafka", "4.3"),
    "candidates": ("truncation", "1=data1", "2=data2", "--kafka", "4.3"),
    "end-offset": ("end-offset", "data1", "--kafka", "4.3"),
    "dump": ("dump", LOG, "data1/t-0/00000000000000000000.log"),
    "dump-records": ("dump", RECORDS, "--records"),
    "dump-data": ("dump", RECORDS, "--print-data", "utf8"),
    "dump-files": ("dump", LOG, INDEX, INDEX.replace(".index", ".timeindex")),
    "check": ("check", "data1", "data2", "--kafka", "4.3", "--depth", "crc"),
    "predict": ("predict", "data1", "data2", "--kafka", "4.3"),
    "look": ("data2", "--kafka", "4.3"),
    "elect": ("elect", "1=outrun1", "2=outrun2", "3=outrun3"),
    "elect-dead": ("elect", "2=outrun2", "3=outrun3", "--dead", "1"),
    "elect-many": ("elect", "1=diverged1", "2=diverged2"),
    "elect-repair": ("elect", "1=zeroed1", "2=outrun2", "3=outrun3"),
    "elect-unknown": ("elect", "data1", "data2", "--kafka", "4.3"),
    "recover": ("recover", "1=zeroed1", "2=outrun2", "3=outrun3"),
    "recover-loses": ("recover", "1=diverged1", "2=diverged2"),
    "recover-absent": ("recover", "2=outrun2", "3=outrun3"),
    "recover-next": ("recover", "recovery", "--next", "1=diverged1", "2=diverged2"),
    "recover-quorum": ("recover", "quorum", "3=quorum/nodes/broker-3", "--dead", "1", "--dead", "2"),
    "recover-metadata": (
        "recover", "metadata", *(f"{number}=metadata/nodes/broker-{number}" for number in (1, 2, 3, 201)),
    ),
    "recover-topic": ("recover", "topic", "voted", *(f"{number}=topic/nodes/broker-{number}" for number in (1, 2, 3))),
    "verify": ("verify", "plan", "1=diverged1", "2=diverged2"),
    "cluster": ("cluster", "node1", "node2"),
    "cluster-brokers": ("cluster", "node2", "--table", "brokers"),
    "cluster-history": ("cluster", "node1", "--changes", "plain-0"),
    "cluster-zookeeper": ("cluster", "zookeeper"),
    "cluster-fetchers": ("cluster", "node1", "--fetchers", "3"),
}  # fmt: skip
"""A command for each layout; the folder of the log dirs is the working directory."""

RESCUES = ("recover-quorum", "recover-metadata", "recover-topic")

BEFORE = {
    "verify": ("elect", "1=diverged1", "2=diverged2", "--output-dir", "plan"),
    "recover-next": ("recover", "1=diverged1", "2=diverged2", "--output-dir", "recovery"),
}
"""What has to be run before a command."""

STYLES: dict[str, tuple[int, tuple[str, ...]]] = {
    "80.txt": (80, ()),
    "120.txt": (120, ()),
    "json": (80, ("--format", "json")),
    "ndjson": (80, ("--format", "ndjson")),
    "csv": (80, ("--format", "csv")),
    "kafka": (80, ("--format", "kafka")),
}
"""The width and the options behind each ending."""

ONLY = {
    "120.txt": ("inspect", "inspect-files", "dump", "dump-files", "cluster-fetchers"),
    "csv": (
        "end-offset",
        "dump",
        "dump-records",
        "dump-data",
        "predict",
        "verify",
        "cluster",
        "cluster-brokers",
        "cluster-history",
    ),
    "kafka": ("dump", "dump-files", "dump-records", "dump-data"),
}
"""The answers that a style shows: on a wide screen, those whose words differ from those on a narrow one."""


def names() -> list[str]:
    """Return the names of the golden files."""
    return [f"{answer}.{style}" for answer in ANSWERS for style in STYLES if answer in ONLY.get(style, ANSWERS)]


@contextlib.contextmanager
def log_dirs() -> Iterator[None]:
    """Work in a folder with two small brokers: their logs part at 60, and the first has something wrong with it.

    Beside them a segment with messages of two kinds and a batch that was changed, and its indexes.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        one = broker(
            Path("data1"), [*run(0, 59), *run(60, 99, epoch=1)], broker_id=1, epoch_entries=[(0, 0), (1, 60)],
            high_watermark=70,
        )  # fmt: skip
        partition_dir(one / "u-10", [run(0, 199), run(200, 299)], epoch_entries=[(0, 0), (5, 50), (4, 60)])
        write(one, {"recovery-point-offset-checkpoint": b"0\n3\nt 0 100\nu 10 3x\ngone 0 5\n"})
        two = [*run(0, 59), *run(60, 89, epoch=2)]
        broker(Path("data2"), two, broker_id=2, epoch_entries=[(0, 0), (2, 60)], clean=False, recovery_point=0)
        torn = [message(100), message(103, codec=1), *run(104, 113), batch(114, 3, epoch=7)]
        name = segment_prefix(100)
        entries = index((3, 41), (13, 130), (13, 230)) + bytes(16)
        times = TIME_INDEX_ENTRY.pack(1_700_000_000_000, 3) + b"\1"
        write(
            Path("damaged"),
            {f"{name}.log": log(torn) + bytes(20), f"{name}.index": entries, f"{name}.timeindex": times},
        )
        flip_byte(Path(LOG), len(torn[0].data) + len(torn[1].data) + 70)
        write(Path("records"), {Path(RECORDS).name: _records()})
        for number in (1, 2):
            node = FIXTURES / "4.3.1" / "stopped" / f"broker-{number}" / "data1"
            shutil.copytree(node / METADATA, Path(f"node{number}", METADATA))
            shutil.copy(node / "meta.properties", f"node{number}")
            shutil.copytree(FIXTURES / "4.3.1" / "diverged" / f"broker-{number}" / "data1", f"diverged{number}")
        for number in (1, 2, 3):
            outrun = FIXTURES.parent / "clusters" / "4.3.1" / "outrun" / f"broker-{number}" / "data1"
            shutil.copytree(outrun, f"outrun{number}")
        shutil.copytree("outrun1", "zeroed1")
        write(Path("zeroed1", "orders-0"), {"leader-epoch-checkpoint": bytes(8)})
        shutil.copytree(FIXTURES.parent / "zookeeper" / "3.9.2-migration", "zookeeper")
        for name, made in zip(RESCUES, (test_recover_quorum, test_recover_metadata, test_recover_topic), strict=True):
            made.laid_out(Path(name.removeprefix("recover-")))
        yield


def _records() -> bytes:
    """Return a log with records of several kinds: compressed, with headers, no UTF-8, a marker, old, cut off."""
    some = record(0, b"k0", b"first") + record(1, None, b"\xff\\", headers=[(b"trace", b"1"), (b"none", None)])
    inner = b"".join(old_message(offset, b"k", b"old") for offset in range(2))
    return (
        batch_of(some + record(2, b"k2", None, timestamp_delta=7), 3, codec=4, producer=(1000, 0, 0), attributes=0x10)
        + batch_of(record(0, b"\0\0\0\1", b"\0\0\0\0\0\7"), 1, base_offset=3, attributes=0x30, producer=(1000, 0, -1))
        + wrapper(5, inner)
        + batch_of(record(0) + b"\x7f", 2, base_offset=6)
    )


def made(name: str) -> bytes:
    """Return what stands in a golden file if it is right; call it within `log_dirs`."""
    answer, _, style = name.partition(".")
    columns, options = STYLES[style]
    if answer in BEFORE:
        kcheck(*BEFORE[answer])
    return kcheck(*ANSWERS[answer], *options, columns=columns).out.encode()


def main() -> None:
    """Write every golden file anew, and nothing else in its folder."""
    GOLDEN.mkdir(exist_ok=True)
    with log_dirs():
        written = {name: made(name) for name in names()}
    for path in GOLDEN.iterdir():
        path.unlink()
    for name, data in written.items():
        (GOLDEN / name).write_bytes(data)


if __name__ == "__main__":
    main()
