"""An object store for tests: a server of S3, folders that are copied into it, rows as those of a disk."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import fsspec
from moto.server import ThreadedMotoServer

Rows = dict[str, list[dict[str, Any]]]


@contextmanager
def server() -> Iterator[dict[str, Any]]:
    """Start a server of S3, and give what a client needs to find it."""
    started = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    yield {
        "endpoint_url": f"http://{host}:{port}",
        "key": "k",
        "secret": "s",
        "client_kwargs": {"region_name": "us-east-1"},
    }
    started.stop()


def upload(folder: Path, bucket: str, options: dict[str, Any]) -> str:
    """Copy a folder into a bucket; returns its URL."""
    system = fsspec.filesystem("s3", **options)
    with suppress(FileExistsError):  # A client that gets no answer in time asks again, and the bucket is there.
        system.call_s3("create_bucket", Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    put(system, folder, f"{bucket}/fleet")
    return f"s3://{bucket}/fleet"


def put(system: Any, folder: Path, target: str) -> None:
    """Copy the files of a folder below a path of a file system of fsspec."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            system.pipe_file(f"{target}/{path.relative_to(folder)}", path.read_bytes())


def as_on_disk(rows: Rows, url: str, folder: Path) -> Rows:
    """Return rows with the URL replaced by the folder."""

    def replaced(value: Any) -> Any:
        return value.replace(url, str(folder)) if isinstance(value, str) else value

    return {
        name: [{key: replaced(value) for key, value in row.items()} for row in table]
        for name, table in rows.items()
        if name != "runs"
    }
