"""`remote-log-index-cache` of a log dir, read and shown."""

from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL, LocalTree
from kcheck.model.entries import Offset
from kcheck.model.remote_index_cache import CachedIndexes, RemoteIndexCache
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from kcheck.views.log_dir import open_log_dir
from kcheck.views.remote_index_cache import remote_index_cache
from tests.cli.command import kcheck

STEM = "45_AAAAAAAAAAAAAAAAAAAAAQ"
NEWEST = release("4.3")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return the cache of a log dir, with the indexes of one segment."""
    folder = tmp_path / "d" / "remote-log-index-cache"
    folder.mkdir(parents=True)
    (tmp_path / "d" / "meta.properties").write_text("version=1\nbroker.id=1\n")
    for ending, size in (("index", 8), ("timeindex", 12), ("txnindex", 0)):
        (folder / f"{STEM}.{ending}").write_bytes(bytes(size))
    return folder


def read(cache: Path) -> object:
    """Return what a log dir shows of it."""
    return open_log_dir(LOCAL, str(cache.parent), None, NEWEST).view.remote_index_cache


def test_names_and_sizes(cache: Path) -> None:
    (cache / "0_AAAAAAAAAAAAAAAAAAAAAg.index.tmp").write_bytes(b"x")
    (cache / "0_AAAAAAAAAAAAAAAAAAAAAg.index").symlink_to("/etc/passwd")
    indexed = CachedIndexes(Offset(45), STEM[3:], 8, 12, 0)
    assert read(cache) == RemoteIndexCache(files=4, size=21, segments=1, leftovers=1, indexed=(indexed,))
    out = kcheck("inspect", cache.parent, "--kafka", "4.3").out
    assert "index cache  21 B in 4 files · 1 remote segment · 1 .tmp or .deleted" in out
    assert STEM[3:] not in out
    files = kcheck("inspect", cache.parent, "--files", "--kafka", "4.3").out
    assert f"45            {STEM[3:]}  8      12         0" in files


def test_it_is_no_partition_and_no_stray_file(cache: Path) -> None:
    """A half segment is shown, and no finding: the start deletes it."""
    (cache / f"{STEM}.index").unlink()
    done = kcheck("check", cache.parent, "--kafka", "4.3")
    assert "remote-log-index-cache" not in done.out
    assert "1 incomplete" in kcheck("inspect", cache.parent, "--kafka", "4.3").out


def test_a_file_in_its_place_and_a_link_out_of_the_log_dir(cache: Path, tmp_path: Path) -> None:
    """The link is not followed."""
    away = tmp_path / "away"
    cache.rename(away)
    assert read(cache) is None
    cache.symlink_to(away)
    assert read(cache) is None
    cache.unlink()
    cache.write_bytes(b"")
    assert "KC314" in kcheck("check", cache.parent, "--kafka", "4.3").out


def test_what_cannot_be_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a broker removed meanwhile is passed over; a refused one is a finding."""
    causes = iter((UnreadableCause.MISSING, UnreadableCause.MISSING, UnreadableCause.REFUSED))

    def fail(*_: object) -> int:
        raise UnreadableError("no", next(causes))

    monkeypatch.setattr(LocalTree, "size", fail)
    log_dir = open_log_dir(LOCAL, str(cache.parent), None, NEWEST)
    assert (None, ["remote-log-index-cache"]) == (
        log_dir.view.remote_index_cache,
        [finding.where.file for finding in log_dir.findings],
    )
    listing = LOCAL.listing(str(cache.parent))
    cache.rename(cache.parent / "gone")
    assert not isinstance(remote_index_cache(LOCAL, str(cache.parent), listing, NEWEST), RemoteIndexCache)
