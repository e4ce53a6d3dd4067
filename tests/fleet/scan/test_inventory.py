"""Which log dirs a fleet has: what a layout matches, what an inventory file names, and nothing behind a link."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from kcheck.disk.listing import Listing
from kcheck.disk.local import LocalTree
from kcheck.disk.store import mounted
from kcheck.errors import UsageError
from kcheck.fleet.scan.inventory import FleetLogDir, inventory
from kcheck.jobs.workers import Limits
from kcheck.model.unreadable import UnreadableError
from tests.builders import log_dir
from tests.capture.answers import captured
from tests.cli.command import kcheck
from tests.fleet.hanging import SECONDS, hang
from tests.fleet.scan.test_local_engine import BROKERS, scanned
from tests.stores import as_on_disk, upload


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Make two clusters of two brokers, one with two log dirs, and what stands beside them."""
    for name in ("east/b1/d1", "east/b1/d2", "east/b2/d1", "west/b1/d1", "east/b1/lost+found", "east/b1/.trash",
                 "out/run=a/log_dirs"):  # fmt: skip
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "out" / "run=a" / "_manifest.json").write_text("{}")
    (tmp_path / "east" / "b1" / "notes").write_text("no directory")
    (tmp_path / "west" / "b9").symlink_to(tmp_path / "east" / "b2")
    (tmp_path / "west" / "b8").symlink_to("b1")
    return tmp_path


def found(*roots: str | Path) -> list[tuple[str | None, str | None, str]]:
    """Return cluster, broker and path."""
    whole = inventory([str(root) for root in roots])
    assert () == whole.findings
    return [(each.cluster, each.broker, each.path) for each in whole.log_dirs]


def test_a_layout_names_cluster_and_broker(fleet: Path) -> None:
    """Links, hidden directories, lost+found and the runs of earlier scans are passed over."""
    disks = ("east/b1/d1", "east/b1/d2", "east/b2/d1", "west/b1/d1")
    expected = [(*disk.split("/")[:2], f"{fleet}/{disk}") for disk in disks]
    assert expected == found(f"{fleet}/{{cluster}}/{{broker}}/{{log_dir}}")


def test_a_name_can_be_a_part_of_a_segment(fleet: Path) -> None:
    """And segments without a placeholder stand for themselves, a link as little as others."""
    expected = [
        ("east", "1", f"{fleet}/east/b1/d1"),
        ("east", "2", f"{fleet}/east/b2/d1"),
        ("west", "1", f"{fleet}/west/b1/d1"),
    ]
    assert expected == found(f"{fleet}/{{cluster}}/b{{broker}}/./d1/")
    assert [(None, "b1", f"{fleet}/west/b1/d1")] == found(f"{fleet}/west/{{broker}}/d1")


def test_a_log_dir_that_two_roots_name_is_one(fleet: Path) -> None:
    """Whatever its path is called."""
    disks = [(None, None, f"{fleet}/east/b1/{name}") for name in ("d1", "d2")]
    assert disks == found(f"{fleet}/east/b1/d{{log_dir}}", f"{fleet}/west/../east/b1/d{{log_dir}}")


def test_a_relative_layout_begins_here(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fleet / "west")
    assert [(None, "b1", "./b1/d1")] == found("{broker}/{log_dir}")


def test_a_layout_of_bundles(tmp_path: Path) -> None:
    """A bundle is a folder of log dirs or one of them; one that lies beside log dirs is none of theirs."""
    disks = [tmp_path / "disks" / broker for broker in ("b1", "b2")]
    for broker in disks:
        log_dir(broker / "d1")
        captured([broker], tmp_path)
    captured([disks[0] / "d1"], disks[0])
    inside = [(None, broker.name, f"{tmp_path}/{broker.name}.kcheck/d1") for broker in disks]
    assert inside == found(f"{tmp_path}/{{broker}}.kcheck/{{log_dir}}")
    assert [(None, "d1", f"{disks[0]}/d1.kcheck")] == found(f"{disks[0]}/{{broker}}.kcheck")
    beside = [(None, broker.name, f"{broker}/d1") for broker in disks]
    assert beside == found(f"{tmp_path}/disks/{{broker}}/{{log_dir}}")


def test_a_hidden_directory_can_be_named(fleet: Path) -> None:
    assert [(None, "b1", f"{fleet}/east/b1/.trash")] == found(f"{fleet}/east/{{broker}}/.trash")


def test_a_folder_of_bundles_is_a_root(tmp_path: Path) -> None:
    """Each bundle has the log dirs of a broker."""
    for number in (1, 2):
        log_dir = BROKERS / "4.3.1" / "twice" / f"broker-{number}" / "data1"
        assert 0 == kcheck("capture", log_dir, "-o", tmp_path / f"{number}.kcheck").code
    paths = [one.path for one in inventory([str(tmp_path)]).log_dirs]
    assert [str(tmp_path / f"{number}.kcheck") for number in (1, 2)] == [path.split("/data1")[0] for path in paths]


def test_a_folder_of_log_dirs_is_a_root(tmp_path: Path) -> None:
    """What makes a directory a log dir is told by what stands in it."""
    for name in ("d1", "d2"):
        log_dir(tmp_path / name)
    (tmp_path / "other").mkdir()
    whole = inventory([str(tmp_path), str(tmp_path / "d2")])
    assert (
        tuple(FleetLogDir(f"{tmp_path}/{name}", folder=str(tmp_path), is_beside_all=True) for name in ("d1", "d2"))
        == whole.log_dirs
    )


def test_an_inventory_file_names_log_dirs(fleet: Path) -> None:
    """As CSV or as Parquet, whatever the type of the broker's column."""
    paths = [f"{fleet}/east/b1/d1", f"{fleet}/east/b2/d1"]
    table, lines = fleet / "fleet.parquet", fleet / "fleet.csv"
    parquet.write_table(pa.table({"broker": [1, None], "log_dir": paths}), table)
    lines.write_text(f"\ufefflog_dir,cluster,broker\r\n{paths[0]}/,,1\r\n{paths[1]},,\r\n", newline="")
    assert [(None, "1", paths[0]), (None, None, paths[1])] == found(table) == found(lines)


def test_a_path_in_parquet_may_be_bytes(fleet: Path) -> None:
    """Many writers know no texts there; a name on a disk need be none."""
    (fleet / "d\udcff").mkdir()
    paths = [f"{fleet}/d\udcff", f"{fleet}/east/b1/d1"]
    parquet.write_table(
        pa.table({"log_dir": [path.encode(errors="surrogateescape") for path in paths]}), fleet / "f.parquet"
    )
    assert [(None, None, path) for path in paths] == found(fleet / "f.parquet")


def test_a_store_of_an_inventory_that_cannot_be_reached_is_a_finding(fleet: Path) -> None:
    """The log dirs of its other rows are there."""
    (fleet / "fleet.csv").write_text(f"log_dir\nftp://127.0.0.1:1/x\n{fleet}/east/b1/d1\n")
    with mounted([], {}):
        whole = inventory([f"{fleet}/fleet.csv"])
    assert [("ftp://127.0.0.1:1/x", True)] == [
        (finding.where.log_dir, "ConnectionRefusedError" in finding.message) for finding in whole.findings
    ]
    assert [f"{fleet}/east/b1/d1"] == [each.path for each in whole.log_dirs]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"path\n/\n", "has no column log_dir; columns cluster, broker and kafka are optional"),
        ("a.csv", b"", "has no column log_dir"),
        ("a.csv", b"log_dir,kafak\n/,3.9\n", "'kafak' is not one of the columns cluster, broker, log_dir, kafka"),
        ("a.csv", b"log_dir,broker\n,1\n", "row 1 names no log_dir"),
        ("a.csv", b"log_dir,broker\n/,1,2\n", "row 1 has not as many cells as there are columns"),
        ("a.csv", b"log_dir,broker\n/,1\n/d\n", "row 2 has not as many cells as there are columns"),
        ("a.csv", b"log_dir,kafka\n/,12\n", "row 1: .*12"),
        ("a.csv", b'log_dir\n"/\n', "unexpected end of data"),
        ("a.parquet", b"PAR1", "Parquet"),
        ("a.csv", b"log_dir\n", "no log dir is there"),
    ],
)
def test_an_inventory_file_that_makes_no_sense_is_refused(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=said):
        inventory([str(tmp_path / name)])


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("s3://bucket/{broker}", "s3://bucket: no such file or directory"),
        ("{0}/east/{disk}", "{disk}: not one of {cluster}, {broker}, {log_dir}"),
        ("{0}/{broker}/{broker}", "it has the same name twice"),
        ("{0}/{cluster}-{broker}", "is not understood"),
        ("{0}/{cluster}/..", "is not understood"),
        ("{0}/{cluster}}/x", "is not understood"),
        ("{0}/{cluster", "is not understood"),
        ("{0}/nowhere/{broker}", "/nowhere: no such file or directory"),
        ("{0}/east/{broker}/d7", "no log dir is there"),
        ("{0}/nowhere", "nowhere: no such file or directory"),
        ("{0}/nowhere.csv", "/nowhere.csv: no such file or directory"),
        ("{0}/east/b1/notes", ": not a directory, a layout"),
        ("{0}/east/b2", "no log dir in it or two levels below; name a deeper folder"),
    ],
)
def test_a_root_that_makes_no_sense_is_refused(root: str, said: str, fleet: Path) -> None:
    with pytest.raises(UsageError) as refused:
        inventory([root.replace("{0}", str(fleet))])
    assert said in str(refused.value)


def test_a_partition_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / "leader-epoch-checkpoint").write_text("0\n0\n")
    with pytest.raises(UsageError, match="a partition directory; name its log dir"):
        inventory([str(tmp_path / "t-0")])


def test_a_log_dir_has_one_broker(fleet: Path) -> None:
    """Two roots that tell different ones are refused, both named."""
    with pytest.raises(UsageError, match=r"belongs to cluster east and broker b2, but .*/d1 to broker east"):
        inventory([f"{fleet}/{{cluster}}/{{broker}}/d1", f"{fleet}/{{broker}}/b2/d1"])
    with pytest.raises(UsageError, match="to no broker"):
        inventory([f"{fleet}/{{cluster}}/{{broker}}/d1", f"{fleet}/east/b2/d{{log_dir}}"])


def test_what_cannot_be_listed_is_a_finding(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are there all the same."""
    listing = LocalTree.listing

    def refuse(tree: LocalTree, path: str, *strange: Any) -> Listing:
        if path.endswith("b1"):
            raise UnreadableError("Input/output error")
        return listing(tree, path, *strange)

    monkeypatch.setattr(LocalTree, "listing", refuse)
    whole = inventory([f"{fleet}/{{cluster}}/{{broker}}/{{log_dir}}"])
    assert [f"{fleet}/east/b1", f"{fleet}/west/b1"] == [finding.where.log_dir for finding in whole.findings]
    assert [f"{fleet}/east/b2/d1"] == [each.path for each in whole.log_dirs]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.usefixtures("hours")
@pytest.mark.parametrize("call", ["scandir", "path.islink", "path.realpath", "stat"])
def test_a_disk_that_does_not_answer_is_a_finding(call: str, fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount whose server is gone answers nothing: not what stands in it, and not what it is."""
    *module, name = call.split(".")
    owner = os.path if module else os
    original = getattr(owner, name)
    dead = f"{fleet}/east/b1/d1"
    roots = [f"{fleet}/{{cluster}}/{{broker}}/d{{log_dir}}"]
    if call == "scandir":
        dead = f"{fleet}/east/b1"
    elif call == "stat":
        roots = [dead, f"{fleet}/east/b2/d{{log_dir}}"]

    def asked(path: str, **how: Any) -> object:
        if path == dead:
            hang()
        return original(path, **how)

    monkeypatch.setattr(owner, name, asked)
    whole = inventory(roots, Limits(SECONDS, 1 << 30))
    (finding,) = whole.findings
    assert ("KC000", dead) == (finding.id, finding.where.log_dir)
    assert f"no answer in {SECONDS} s" in finding.message
    left = [f"{fleet}/{name}" for name in ("east/b1/d2", "east/b2/d1", "west/b1/d1")]
    expected = {"scandir": left[1:], "stat": left[1:2]}.get(call, left)
    assert expected == [each.path for each in whole.log_dirs]


@pytest.mark.sample(1)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_inventory_in_a_store_names_log_dirs_in_stores(kind: str, s3: dict[str, Any], tmp_path: Path) -> None:
    """They are in another bucket than it, and no root says so."""
    folder = BROKERS / "4.3.1" / "diverged"
    url = upload(folder, f"named-{kind}", s3)
    names = ("broker-1/data1", "broker-2/data1")
    file = tmp_path / f"fleet.{kind}"
    write: Any = csv.write_csv if kind == "csv" else parquet.write_table
    write(pa.table({"log_dir": [f"{url}/{name}" for name in names]}), file)
    there = upload(tmp_path, f"names-{kind}", s3)
    _, expected = scanned(tmp_path, *(folder / name for name in names), name="disk")
    for name, root in {"there": f"{there}/{file.name}", "here": file}.items():
        _, found = scanned(tmp_path, root, name=name, options=s3, jobs=None)
        assert as_on_disk(expected, url, folder) == as_on_disk(found, url, folder)
