"""What the machine of a broker shows of its key stores."""

import os
from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL, LocalTree
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from kcheck.views import host_facts
from kcheck.views.host_facts import stopped_at, stores_of, written_at


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the settings of a TLS listener, outside of a container."""
    monkeypatch.setattr(host_facts, "in_container", lambda: False)
    return {
        "listeners": "SSL://:9092", "ssl.keystore.location": str(tmp_path / "keys.jks"), "ssl.keystore.password": "x"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "is missing, or no file"),
        (b"", "is empty"),
        (b"\xfe\xed\xfe\xed", None),
        (b"xx", "is no store of type JKS"),
    ],
)
def test_the_stores_of_this_host(
    content: bytes | None, fault: str | None, settings: dict[str, str], tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "keys.jks").write_bytes(content)
    (store,) = stores_of(settings, [str(tmp_path)], {str(tmp_path)}) or ()
    assert (str(tmp_path / "keys.jks"), fault) == (store.path, store.fault)


def test_a_directory_is_no_store(settings: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "keys.jks").mkdir()
    (store,) = stores_of(settings, [str(tmp_path)], {str(tmp_path)}) or ()
    assert store.fault == "is missing, or no file"


def test_a_store_that_only_the_broker_may_read(
    settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mode hides it from the user of kcheck, so nothing is said about it."""

    def refused(*_: object, **__: object) -> bytes:
        raise UnreadableError("Permission denied", UnreadableCause.REFUSED)

    monkeypatch.setattr(type(LOCAL), "read_whole", refused)
    assert stores_of(settings, [str(tmp_path)], {str(tmp_path)}) == ()


def test_other_machines(settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the disks, relative paths and a container show no file of the broker's machine."""
    for places in ((), ("data",), (str(tmp_path), "/gone")):
        assert stores_of(settings, places, {str(tmp_path)}) is None
    monkeypatch.setattr(host_facts, "in_container", lambda: True)
    assert stores_of(settings, [str(tmp_path)], {str(tmp_path)}) is None


def test_the_time_of_the_newest_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other files show nothing; neither does a store, nor a log dir that cannot be listed."""
    (tmp_path / "meta.properties").touch()
    assert written_at(str(tmp_path)) is None
    for time, name in enumerate((".kafka_cleanshutdown", "replication-offset-checkpoint"), 7):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(0, time * 1_000_000))
    assert written_at(str(tmp_path)) == 8
    assert written_at(str(tmp_path / "gone")) is None
    monkeypatch.setattr(LocalTree, "is_remote", True)
    assert written_at(str(tmp_path)) is None


def test_the_time_of_a_clean_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store, a log dir that cannot be listed, and a copy whose files all have one time do not show it."""
    assert stopped_at(str(tmp_path)) is None
    (tmp_path / "other").touch()
    marker = tmp_path / ".kafka_cleanshutdown"
    marker.touch()
    os.utime(marker, ns=(0, 7_654_321_000))
    assert stopped_at(str(tmp_path)) == 7654
    (tmp_path / "meta.properties").touch()
    assert stopped_at(str(tmp_path)) == 7654
    os.utime(tmp_path / "meta.properties", ns=(0, 7_654_321_000))
    assert stopped_at(str(tmp_path)) is None
    (tmp_path / "meta.properties").unlink()
    assert stopped_at(str(tmp_path / "gone")) is None
    monkeypatch.setattr(LocalTree, "is_remote", True)
    assert stopped_at(str(tmp_path)) is None
