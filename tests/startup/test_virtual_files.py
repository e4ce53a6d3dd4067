"""The files of a directory during a simulated start: java.nio.file.Files, and what is different afterwards."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import Changes, new_content
from kcheck.startup.virtual_files import DirectoryError, Folder, UnseenError, contents_of, failed
from tests.builders import BytesFiles
from tests.startup.folders import folder_of, name


def test_nothing_changes_without_a_write() -> None:
    assert not folder_of({"a": b"x"}).changes().any


def test_every_kind_of_change_is_listed() -> None:
    """A file written with the same bytes is unchanged, one that is renamed and back too."""
    folder = folder_of({"gone": b"x", "old": b"y", "same": b"z", "new bytes": b"1", "back": b"b", "clock": b"c"})
    folder.remove("gone")
    folder.rename("old", "renamed")
    folder.put("same", new_content(b"z"))
    folder.put("new bytes", new_content(b"2"))
    folder.put("created", new_content(b""))
    folder.put("clock", new_content(b"d", certain=False))
    folder.rename("back", "away")
    folder.rename("away", "back")
    assert folder.changes() == Changes(
        created=("created",),
        changed=("new bytes",),
        removed=("gone",),
        renamed=(("old", "renamed"),),
        unknown=("clock",),
    )
    assert not folder.rename("missing", "other")


def test_a_file_cut_and_filled_with_zeros_is_compared_by_its_bytes() -> None:
    """AbstractIndex.resize: a file with zeros at its end, truncated and extended again, is the same."""
    folder = folder_of({"zeros": b"ab" + bytes(9), "bytes": b"ab" + b"c" * 9})
    for file in ("zeros", "bytes"):
        folder.put(file, folder.files[file].resized(2).resized(11))
    assert folder.changes() == Changes(changed=("bytes",))


def test_a_file_that_vanishes_cannot_be_read() -> None:
    files = {"a": b"x"}
    folder = folder_of(files)
    folder.put("a", folder.files["a"].resized(5))
    del files["a"]
    with pytest.raises(UnseenError, match="a: "):
        folder.read_whole("a")
    assert folder.changes() == Changes(changed=("a",))


def test_snapshots_are_listed_by_their_offset() -> None:
    """ProducerStateManager.loadSnapshots: the folder keeps the list current."""
    folder = folder_of({name(20, ".snapshot"): b"", name(5, ".snapshot"): b""})
    assert [5, 20] == folder.snapshots.offsets
    folder.put(name(9, ".snapshot"), new_content(b""))
    folder.rename(name(20, ".snapshot"), name(20, ".snapshot.deleted"))
    folder.remove(name(5, ".snapshot"))
    assert [9] == folder.snapshots.offsets


def test_a_directory_has_the_name_of_a_file() -> None:
    """Files.deleteIfExists removes an empty directory; whoever opens or writes it gets an IOException."""
    folder = Folder(BytesFiles({}), contents_of({"a": 1}), {"empty": True, "full": False})
    assert folder.exists("empty")
    assert "empty" not in folder
    with pytest.raises(DirectoryError, match="full is a directory"):
        folder.remove("full")
    with pytest.raises(DirectoryError):
        folder.put("empty", new_content(b""))
    assert folder.rename("empty", "moved")
    folder.rename("a", "moved")
    assert not folder.exists("empty")
    assert "moved" in folder


def test_an_unreadable_file_of_a_partition() -> None:
    """LogManager.loadLogs: KafkaStorageException takes the log dir offline from 3.2.1 on (KAFKA-13773)."""
    for kafka, offline in (("3.2.0", False), ("3.2.1", True)):
        error = failed("leader-epoch-checkpoint", "IOException", release(kafka))
        assert (offline, True) == (error.offline, error.fails_later)


def test_a_link_to_itself_does_not_exist_and_cannot_be_created() -> None:
    """File.exists is false; Files.newByteChannel fails; Files.delete removes the link itself."""
    folder = Folder(BytesFiles({}), {}, loops=("a",))
    assert not folder.exists("a")
    with pytest.raises(DirectoryError, match="a is a link to itself"):
        folder.put("a", new_content(b""))
    folder.remove("a")
    folder.put("a", new_content(b""))
    assert folder.exists("a")
