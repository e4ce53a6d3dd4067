"""A store that answers 503 and cuts bodies short: the rows of a store that does not, or no run."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from kcheck.errors import KcheckError
from kcheck.fleet.run import open_runs
from tests.fleet.test_local_engine import BROKERS, scanned, tables
from tests.oracle.ask import IS_WHOLE, SEED
from tests.stores import upload

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

SHARES = [0.02, 0.1, 0.3, 0.6, 1.0] if IS_WHOLE else [0.1]
"""Of the requests, those that fail."""
_ASKED_AGAIN = 0.3
"""Of so many failures the client of the store makes nothing."""


@contextmanager
def flaky(options: dict[str, Any], share: float, chance: Random) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Start a proxy before a store, which lets a share of the requests fail; gives its options, and what failed."""
    address = urlsplit(options["endpoint_url"])
    failed: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if chance.random() < share / 2:
                failed.append("503")
                self.send_response(503, "Slow Down")
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
            if content and chance.random() < share / 2:
                failed.append("cut")
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


@pytest.mark.parametrize("share", SHARES)
def test_a_store_that_fails_at_random_gives_all_rows_or_no_whole_run(
    share: float, s3: dict[str, Any], tmp_path: Path
) -> None:
    """What its client asks for again until it comes costs nothing; what never comes ends the run, or is told in it."""
    url = upload(BROKERS / "4.3.1" / "diverged", f"flaky{int(share * 100)}", s3)
    root = f"{url}/{{broker}}/{{log_dir}}"
    _, plain = scanned(tmp_path, root, name="plain", depth="headers", options=s3, jobs=4)
    with flaky(s3, share, Random(f"{SEED} {share}")) as (options, failed):
        with suppress(KcheckError):
            scanned(tmp_path, root, depth="headers", options=options, jobs=4, min_coverage=100)
        assert failed
    if "r" not in {run.name for run in open_runs([str(tmp_path / "out")])}:
        assert share > _ASKED_AGAIN
        scanned(tmp_path, root, depth="headers", options=s3, jobs=4)
    rows = tables(tmp_path / "out" / "run=r")
    is_equal = {**plain, "runs": 1} == {**rows, "runs": 1}
    assert is_equal or (share > _ASKED_AGAIN and not rows["runs"][0]["finished"])
