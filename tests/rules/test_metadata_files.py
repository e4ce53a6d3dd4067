"""KC111, KC121, KC131, KC193: partition.metadata, meta.properties, the marker of a clean shutdown, a snapshot."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.parsed import BrokerReads
from kcheck.model.views import FileView
from kcheck.rules.kc111_partition_metadata_unreadable import RULE as KC111
from kcheck.rules.kc121_meta_properties_unreadable import RULE as KC121
from kcheck.rules.kc193_bootstrap_records_ignored import RULE as KC193
from tests.cases.build import CASES
from tests.rules.build import file_view, found_by

FATAL, WARNING, INFO = Severity.FATAL, Severity.WARNING, Severity.INFO

TOPIC_ID = b"version: 0\ntopic_id: qzsY3uLbQ9mBq1s8vT0oWg"
KRAFT = b"#\n#Sat Mar 02 09:14:55 UTC 2024\ncluster.id=TzyYHphLTKC2YDT31HuF0g\nnode.id=7\nversion=1\n"
ZOOKEEPER = b"#\nversion=0\nbroker.id=7\n"


def metadata(data: bytes, kafka: str = "4.3") -> FileView:
    """Return a partition.metadata."""
    return file_view("partition-metadata", "partition.metadata", data, kafka, dir="t-0")


def properties(data: bytes, kafka: str = "4.3") -> FileView:
    """Return a meta.properties."""
    return file_view("meta-properties", "meta.properties", data, kafka)


def marker(data: bytes, kafka: str = "4.3") -> FileView:
    """Return a .kafka_cleanshutdown."""
    return file_view("clean-shutdown", ".kafka_cleanshutdown", data, kafka)


@pytest.mark.parametrize("kafka", ["0.11.0", "2.8", "3.6", "4.3"])
@pytest.mark.parametrize("data", [TOPIC_ID, TOPIC_ID + b"\n", TOPIC_ID.replace(b"\n", b"\r\n")])
def test_a_topic_id_that_the_broker_reads(data: bytes, kafka: str) -> None:
    """Line ends do not matter."""
    assert not found_by(KC111, metadata(data, kafka), kafka)


@pytest.mark.parametrize(
    ("data", "kafka"),
    [(KRAFT, "2.8"), (KRAFT, "4.3"), (ZOOKEEPER, "0.9.0"), (ZOOKEEPER, "2.0"), (ZOOKEEPER, "3.9"), (b"", "0.8.2"),
     (KRAFT + b"directory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n", "4.3"), (KRAFT + b"directory.id=x\n", "3.6")],
)  # fmt: skip
def test_an_identity_that_the_broker_reads(data: bytes, kafka: str) -> None:
    """Up to 3.6 nobody looks at directory.id, before 0.9 there is no such file."""
    assert not found_by(KC121, properties(data, kafka), kafka)


@pytest.mark.parametrize(
    ("data", "kafka", "words"),
    [
        (KRAFT.replace(b"=7", b"=7 "), "4.3", "takes this log dir offline"),
        (KRAFT.replace(b"=7", b"=7 "), "3.6", "does not start"),
        (KRAFT.replace(b"version=1", b"version=2"), "4.3", "takes this log dir offline"),
        (KRAFT.replace(b"version=1", b"version=2"), "2.4", "does not start"),
        (KRAFT + b"directory.id=x\n", "4.3", "takes this log dir offline"),
        (b"version=0\ncluster.id=TzyYHphLTKC2YDT31HuF0g\n", "4.3", "the file has no node id"),
        (KRAFT + b"directory.id=AAAAAAAAAAAAAAAAAAAAAQ\n", "4.3", "does not start"),
    ],
)
def test_an_identity_that_is_of_no_use(data: bytes, kafka: str, words: str) -> None:
    """A number that is none, a version that is not known, an id that is none or reserved."""
    (found,) = found_by(KC121, properties(data, kafka), kafka)
    assert found.severity is FATAL
    assert words in found.effect


def test_without_a_reader_nothing_is_said() -> None:
    """The broker's reader is what counts."""
    assert not found_by(KC121, properties(b"")._replace(reads=None))
    assert not found_by(KC111, metadata(b"")._replace(reads=None))
    assert found_by(KC111, metadata(TOPIC_ID)._replace(reads=BrokerReads(None, "IOException")))


def test_records_in_the_snapshot_of_a_formatted_directory() -> None:
    """4.3 never reads them; other snapshots hold records, and damage is another rule's."""
    case = CASES / "kc193-bootstrap-records-ignored"
    (path,) = (case / "records").rglob("*.checkpoint")
    data = path.read_bytes()
    (clean,) = (case / "clean").rglob(path.name)

    def snapshot(data: bytes, name: str = path.name) -> FileView:
        return file_view("metadata-snapshot", name, data, dir="__cluster_metadata-0")

    (found,) = found_by(KC193, snapshot(data))
    assert found.severity is WARNING
    assert not found_by(KC193, snapshot(data), "4.4")
    assert not found_by(KC193, snapshot(data), "4.2")
    assert not found_by(KC193, snapshot(clean.read_bytes()))
    assert not found_by(KC193, snapshot(data[:-1]))
    assert not found_by(KC193, snapshot(data, "00000000000000000009-0000000001.checkpoint"))
    assert not found_by(KC193, snapshot(data, "bootstrap.checkpoint"))
