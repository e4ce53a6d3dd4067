"""The three trees answer alike: a log dir on disk, its copy in a store, and its bundle."""

import pickle
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import fsspec
import pytest

import kcheck
from kcheck.disk.kept import one_look
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import absolute, join, split
from kcheck.disk.store import mounted
from kcheck.disk.tree import Tree, logs_in, tree_of
from kcheck.jobs import workers
from kcheck.model.names import is_stranger_in_log_dir
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from kcheck.survey.coverage import Coverage
from kcheck.verbs import check as verb
from kcheck.views.targets import targets
from tests.cli.command import kcheck as run
from tests.stores import put

LOG_DIR = Path(__file__).parents[2] / "fixtures/brokers/3.9.2/stopped/broker-2/data1"
PARTITION, EPOCHS = "segments-0", "leader-epoch-checkpoint"
LOG = f"{120:020}.log"


class Place(NamedTuple):
    """A log dir in a tree."""

    tree: Tree
    path: str

    def at(self, *names: str) -> str:
        """Return the path of something in it."""
        return join(self.path, *names)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bundle") / "log-dir.kcheck"
    assert 0 == run("capture", LOG_DIR, "-o", path).code
    return str(path)


@pytest.fixture(params=["disk", "kept", "store", "bundle"])
def place(request: pytest.FixtureRequest, bundle: str) -> Iterator[Place]:
    """Give the log dir in each tree; `kept` is the disk as one command sees it."""
    if request.param == "store":
        path = "memory://trees/data1"
        put(fsspec.filesystem("memory"), LOG_DIR, path)
        with mounted([path], {}):
            yield Place(tree_of(path), path)
        return
    path = bundle if request.param == "bundle" else str(LOG_DIR)
    if request.param == "kept":
        with one_look():
            yield Place(tree_of(path), path)
        return
    yield Place(tree_of(path), path)


def test_names_and_types(place: Place) -> None:
    tree, expected = place.tree, LOCAL.listing(str(LOG_DIR), is_stranger_in_log_dir)
    for _ in range(2):
        assert expected == tree.listing(place.path, is_stranger_in_log_dir)
    assert (True, False) == (tree.is_directory(place.at(PARTITION)), tree.is_directory(place.at("meta.properties")))
    assert (stat.S_IFREG, stat.S_IFDIR, None) == tuple(
        tree.file_type(place.at(name)) for name in ("meta.properties", PARTITION, "gone")
    )
    assert [True, True, False] == [tree.exists(place.at(name)) for name in ("meta.properties", PARTITION, "gone")]
    assert (False, False) == (tree.is_empty(place.at(PARTITION)), tree.is_link(place.at("meta.properties")))
    assert (place.path, PARTITION) == split(place.at(PARTITION))
    assert place.path == absolute(place.path) == tree.real(place.path)
    assert () == logs_in(place.path)


def test_sizes(place: Place) -> None:
    folder, tree = LOG_DIR / PARTITION, place.tree
    logs = sorted(path.stat().st_size for path in folder.glob("*.log"))
    assert logs == sorted(tree.sizes(place.at(PARTITION), ".log"))
    assert [] == tree.sizes(place.at("gone"), ".log")
    assert (folder / LOG).stat().st_size == tree.size(place.at(PARTITION, LOG))


def test_the_files_of_a_directory(place: Place) -> None:
    on_disk = LOCAL.directory(str(LOG_DIR / PARTITION))
    directory = place.tree.directory(place.at(PARTITION))
    assert on_disk.entries() == directory.entries()
    with directory as held:
        assert on_disk.listing() == held.listing()
        for name in (EPOCHS, "partition.metadata", f"{120:020}.index"):
            assert on_disk.read_whole(name) == held.read_whole(name) == place.tree.read_whole(place.at(PARTITION, name))
            assert on_disk.read_filled(name) == held.read_filled(name)
        assert on_disk.readable_size(LOG) == held.readable_size(LOG)
        with held.open(LOG) as source, on_disk.open(LOG) as same:
            assert (same.size, same.pread(61, 0)) == (source.size, source.pread(61, 0))
    with place.tree.open(place.at(PARTITION, LOG)) as source, on_disk.open(LOG) as same:
        assert same.pread(61, 0) == source.pread(61, 0)
    assert directory == place.tree.directory(place.at(PARTITION))


def test_what_is_missing_is_unreadable(place: Place) -> None:
    for ask in (
        lambda: place.tree.listing(place.at("gone")),
        lambda: place.tree.size(place.at("gone")),
        lambda: place.tree.open(place.at("gone")).__enter__(),
        lambda: place.tree.directory(place.path).read_whole("gone"),
    ):
        with pytest.raises(UnreadableError) as caught:
            ask()
        assert UnreadableCause.MISSING is caught.value.cause


def test_a_tree_crosses_a_process(place: Place) -> None:
    """Whatever a command keeps of it stays behind."""
    tree, directory = pickle.loads(pickle.dumps((place.tree, place.tree.directory(place.at(PARTITION)))))
    assert LOCAL.directory(str(LOG_DIR / PARTITION)).read_whole(EPOCHS) == directory.read_whole(EPOCHS)
    assert tree.listing(place.path, is_stranger_in_log_dir) == place.tree.listing(place.path, is_stranger_in_log_dir)


def test_a_check_plans_the_same_work(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """So progress knows its goal, and `--jobs` whether more processes are worth their start."""
    coverage = Coverage()
    coverage.plan(targets([place.path]), PartitionFilter(), reads_segments=True)
    assert {"log_dirs": 1, "partitions": 11, "segments": 18, "bytes": 31_373} == coverage.planned
    started, start = list[object](), workers._start

    def counted(*arguments: object) -> object:
        started.append(arguments)
        return start(*arguments)

    for name, value in (("WORTH_SIZE", 1024), ("WORTH_COUNT", 1)):
        monkeypatch.setattr(verb, name, value)
    monkeypatch.setattr(workers, "_start", counted)
    alone = kcheck.check(place.path)
    assert [] == started
    assert alone.to_dict() == kcheck.check(place.path, reading=verb.ReadOptions(jobs=2)).to_dict()
    assert 2 == len(started)
