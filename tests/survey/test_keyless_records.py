"""Records without key in compacted logs, in the bytes of a broker that had not cleaned them yet."""

import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.core.premises.facts import KeylessLog
from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import ClusterImage, TopicImage
from kcheck.model.names import TopicPartition
from kcheck.model.unreadable import UnreadableError
from kcheck.survey import keyless_records
from kcheck.survey.keyless_records import KeylessRecords
from kcheck.views.log_dir import open_log_dir
from tests.cases.build import CASES, shared_copy

NEVER_CLEANED = CASES / "kc253-keyless-records-compacted" / "never-cleaned"
AUDIT = TopicPartition("audit", 0)


def logs(
    path: Path, policy: str = "", own: str | None = None, dynamic: str | None = None, entity: str = ""
) -> list[KeylessLog]:
    """Return the logs with such records.

    `policy` is of the broker's file, `dynamic` of all brokers or of the `entity`, `own` of audit.
    """
    log_dir = open_log_dir(LOCAL, str(path), None, release("3.9"))
    config = {} if own is None else {"cleanup.policy": own}
    image = ClusterImage({"audit": TopicImage("audit", None, {})}, configs={("topic", "audit"): config})
    if dynamic is not None:
        image = image._replace(configs={**image.configs, ("broker", entity): {"log.cleanup.policy": dynamic}})
    return list(KeylessRecords(release("3.9"), policy).logs(LOCAL, str(path), log_dir, image))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a log dir of its own."""
    return Path(shutil.copytree(shared_copy(NEVER_CLEANED), tmp_path / "d"))


def test_what_the_cleaner_will_delete(data: Path) -> None:
    """All but the records of the active segment; the topic or the broker says that it is compacted."""
    expected = [KeylessLog(AUDIT, str(data), 90, 75)]
    assert logs(data, own="compact") == expected
    assert logs(data, "compact") == expected
    assert logs(data) == logs(data, "compact", "delete") == []


def test_a_policy_of_all_brokers_in_the_metadata(data: Path) -> None:
    """A broker of 3.9.2 deleted 50 of 51 records by it. The cleaner starts with the policy of the file."""
    expected = [KeylessLog(AUDIT, str(data), 90, 75)]
    assert logs(data, dynamic="compact,delete") == logs(data, "compact", dynamic="delete") == expected
    assert logs(data, own="delete", dynamic="compact") == logs(data, dynamic="delete") == []


def test_a_policy_of_one_broker_in_the_metadata(data: Path) -> None:
    """Only that of the broker counts, not that of a broker with the number of the partition."""
    own = open_log_dir(LOCAL, str(data), None, release("3.9")).view.where.broker_id
    assert own not in (None, AUDIT.partition)
    expected = [KeylessLog(AUDIT, str(data), 90, 75)]
    assert logs(data, dynamic="compact", entity=str(own)) == expected
    assert logs(data, dynamic="compact", entity=str(AUDIT.partition)) == []


def test_a_log_that_was_cleaned(data: Path) -> None:
    """The cleaner has left only records with a key below its checkpoint."""
    (data / "cleaner-offset-checkpoint").write_text("0\n1\naudit 0 75\n")
    assert not logs(data, "compact")


def test_not_everything_is_read(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large log is read from its oldest segments on, and what cannot be read is passed over."""
    monkeypatch.setattr(keyless_records, "READ_SIZE_MAX", 3000)
    assert logs(data, "compact") == [KeylessLog(AUDIT, str(data), 30, 30)]

    def unreadable(*_: object, **__: object) -> None:
        raise UnreadableError("gone")

    monkeypatch.setattr(keyless_records, "read_segment", unreadable)
    assert not logs(data, "compact")


def test_preflight_says_so(data: Path) -> None:
    """Unless the broker starts without its cleaner."""
    properties = data.parent / "server.properties"
    listeners = "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n"
    text = f"node.id=1\nprocess.roles=broker,controller\ncontroller.quorum.voters=1@h:1\n{listeners}log.dirs={data}\n"
    properties.write_text(text)
    assert "P801" in [reason.premise for reason in kcheck.preflight(properties).reasons]
    properties.write_text(f"{text}log.cleaner.enable=false\n")
    assert "P801" not in [reason.premise for reason in kcheck.preflight(properties).reasons]
