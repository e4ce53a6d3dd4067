"""Roots that are URLs: which file system they name, and what is said where it cannot be had."""

from pathlib import Path

import pytest

from kcheck.disk.store import StoreTree, mounted, store_of
from kcheck.errors import UsageError
from tests.cli.command import kcheck


def test_the_host_of_a_url_is_asked() -> None:
    """WebHDFS has a host and a port in its URL; an option that says another one is refused."""
    root = "webhdfs://namenode:9870/fleet/{broker}"
    with mounted([root], {"user": "kafka"}):
        store = store_of(root)
        assert isinstance(store, StoreTree)
        assert "http://namenode:9870/webhdfs/v1" == store._system.url
    with (
        pytest.raises(UsageError, match=r"webhdfs://namenode:9870/fleet/.broker.: .*'host'"),
        mounted([root], {"host": "other"}),
    ):
        pass


def test_what_a_url_needs_is_told(tmp_path: Path) -> None:
    """Its package, and options that are options."""
    for arguments, why in (
        (("dropbox://x",), "dropbox"),
        (("nosuch://x",), "nosuch"),
        (("memory://x", "--storage-option", "y"), "write NAME=VALUE"),
    ):
        done = kcheck("fleet", "scan", *arguments, "--output-dir", tmp_path)
        assert (2, True) == (done.code, why in done.err)
    done = kcheck("check", "s3://bucket/x")
    assert 2 == done.code
    done = kcheck("fleet", "scan", "ftp://127.0.0.1:1/x", "--output-dir", tmp_path)
    assert (3, "kcheck: ftp://127.0.0.1:1/x: ConnectionRefusedError: ") == (done.code, done.err[:53])
