"""A store that answers 503 and cuts bodies short: the rows of a store that does not, or no run."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from kcheck.errors import KcheckError, StoreFailedError
from kcheck.fleet.run import open_runs
from tests.fleet.scan.test_local_engine import BROKERS, scanned, tables
from tests.oracle.ask import SEED
from tests.stores import upload

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

LOGS = BROKERS.parent / "logs"
SHARES = [0.02, 0.1, 0.3, 0.6, 1.0]
"""Of the requests, those that fail."""
_ASKED_AGAIN = 0.3
"""Of so many failures the client of the store makes nothing."""
Chooses = Callable[[str], str | None]
"""Takes the path of a request; returns the status with which it fails, or CUT, or None."""
CUT = "cut"
NEVER_SENT = "00000000000000000000.log"
ONCE = {"config_kwargs": {"retries": {"max_attempts": 1}}}
"""Lets the client ask less often."""


def at_random(share: float, chance: Random) -> Chooses:
    """Let a share of the requests fail, one half with 503, the other by a body that is cut."""
    return lambda _: chance.choice(("503", CUT)) if chance.random() < share else None


def always(name: str, fault: str) -> Chooses:
    """Let all requests for files of a name fail."""
    return lambda path: fault if path.partition("?")[0].endswith(name) else None


@contextmanager
def flaky(options: dict[str, Any], choose: Chooses) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Start a proxy before a store, which lets chosen requests fail; gives its options, and what failed."""
    address = urlsplit(options["endpoint_url"])
    failed: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fault = choose(self.path)
            if fault is not None and fault != CUT:
                failed.append(fault)
                self.send_response(int(fault))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            connection = http.client.HTTPConnection(str(address.hostname), address.port)
            connection.request(self.command, self.path, body, dict(self.headers.items()))
            answer = connection.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                    self.send_header(name, value)
            self.end_headers()
            if content and fault == CUT:
                failed.append(fault)
                content, self.close_connection = content[: len(content) // 2], True
            self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer  # noqa: N815 - the names of http.server

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {**options, "endpoint_url": f"http://127.0.0.1:{server.server_port}"}, failed
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.whole
@pytest.mark.parametrize("share", SHARES)
def test_a_store_that_fails_at_random_gives_all_rows_or_no_run(
    share: float, s3: dict[str, Any], tmp_path: Path
) -> None:
    """What its client asks for again until it comes costs nothing; what never comes ends the run."""
    url = upload(BROKERS / "4.3.1" / "diverged", f"flaky{int(share * 100)}", s3)
    root = f"{url}/{{broker}}/{{log_dir}}"
    _, plain = scanned(tmp_path, root, name="plain", depth="headers", options=s3, jobs=4)
    with flaky(s3, at_random(share, Random(f"{SEED} {share}"))) as (options, failed):
        with suppress(KcheckError):
            scanned(tmp_path, root, depth="headers", options=options, jobs=4, min_coverage=100)
        assert failed
    if "r" not in {run.name for run in open_runs([str(tmp_path / "out")])}:
        assert share > _ASKED_AGAIN
        scanned(tmp_path, root, depth="headers", options=s3, jobs=4)
    rows = tables(tmp_path / "out" / "run=r")
    assert {**plain, "runs": 1} == {**rows, "runs": 1}


@pytest.mark.sample(1)
@pytest.mark.parametrize("fault", ["503", CUT])
def test_a_file_of_which_a_store_never_says_anything_ends_the_run(
    fault: str, s3: dict[str, Any], tmp_path: Path
) -> None:
    """That is no damage of the file. One line names it, and nothing is left."""
    url = upload(BROKERS / "4.3.1" / "diverged", f"never{fault}", s3)
    root = f"{url}/{{broker}}/{{log_dir}}"
    with (
        flaky({**s3, **ONCE}, always(NEVER_SENT, fault)) as (options, failed),
        pytest.raises(StoreFailedError, match=rf"^{url}/broker-\d/data1/\S+/{NEVER_SENT}: the store fails: [^\n]+$"),
    ):
        scanned(tmp_path, root, options=options, jobs=4)
    assert {fault} == set(failed)
    assert [] == [*(tmp_path / "out").iterdir()]


def test_logs_that_a_store_does_not_list_end_the_run(s3: dict[str, Any], tmp_path: Path) -> None:
    """How many there are is unknown. One line names their directory, and nothing is left."""
    url = upload(BROKERS / "4.3.1" / "diverged", "unlisted-logs", s3)
    logs = upload(LOGS, "broker-logs", s3)

    def choose(path: str) -> str | None:
        return "503" if path.startswith("/broker-logs?list") and "4.3.1%2F" in path else None

    with (
        flaky({**s3, **ONCE}, choose) as (options, failed),
        pytest.raises(StoreFailedError, match=rf"^{logs}/4.3.1: the store fails: [^\n]+$"),
    ):
        scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", logs=(f"{logs}/*/server.log",), options=options, jobs=4)
    assert failed
    assert not (tmp_path / "out").exists()


def test_files_that_a_store_refuses_are_findings(s3: dict[str, Any], tmp_path: Path) -> None:
    """What nobody may read, or is gone since it was listed, is the same whenever it is asked for."""
    url = upload(BROKERS / "4.3.1" / "diverged", "refused", s3)
    statuses = {"/partition.metadata": "403", "/leader-epoch-checkpoint": "404"}
    choices = [always(*refused) for refused in statuses.items()]
    with flaky(s3, lambda path: next(filter(None, (choose(path) for choose in choices)), None)) as (options, failed):
        report, rows = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", options=options, jobs=4)
    assert {*statuses.values()} == set(failed)
    found = {row["file"] for row in rows["findings"] if row["id"] == "KC001"}
    assert {name[1:] for name in statuses} == found
    assert report.unfinished


def test_a_log_dir_that_a_store_does_not_list_is_not_reached(s3: dict[str, Any], tmp_path: Path) -> None:
    """A later listing of a part of it, which the store answers, does not make it one that was."""
    url = upload(BROKERS / "4.3.1" / "diverged", "unlisted", s3)

    def choose(path: str) -> str | None:
        is_whole = "list-type=2" in path and "delimiter=&" in path
        return "503" if is_whole and "broker-2%2Fdata1" in path else None

    with flaky({**s3, **ONCE}, choose) as (options, failed):
        report, rows = scanned(tmp_path, f"{url}/{{broker}}/{{log_dir}}", options=options, jobs=4)
    assert failed
    assert {f"{url}/broker-1/data1": True, f"{url}/broker-2/data1": False} == {
        row["log_dir"]: row["problem"] is None for row in rows["log_dirs"]
    }
    assert report.unfinished
