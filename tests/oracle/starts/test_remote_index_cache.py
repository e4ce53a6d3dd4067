"""remote-log-index-cache against RemoteIndexCache, which a start opens."""

from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.remote_index_cache import read_cache
from tests.oracle.ask import SEED, Ask, assert_equal, generated, sampled

pytestmark = pytest.mark.oracle

RELEASES = ("3.6.2", "3.7.2", "3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1")
IDS = ("AAAAAAAAAAAAAAAAAAAAAQ", "AAAA_-AAAA_AAAA-AAAAAg", "AAAAAAAAAAAAAAAAAAAA")
ODD = (".nfs0001", "foo", "a.b", "7_.index", "_.index", "x.tmp", "y.z.deleted", f"3_{IDS[0]}.other", f"{IDS[0]}.index")
SIZES = {"index": (0, 8, 16, 7), "timeindex": (0, 12, 24, 11), "txnindex": (0,)}


def a_cache(random: Random) -> dict[str, int]:
    """Return names and sizes: some segments, each with most of its files, and now and then an odd name."""
    files = dict[str, int]()
    for remote_id in random.sample(IDS, random.choice((1, 1, 2))):
        offset = random.choice(("0", "45", "45", "00000000000000000045", "-1", "+7", "x", "", "9" * 19))
        for ending, sizes in SIZES.items():
            if random.random() < 0.85:
                files[f"{offset}_{remote_id}.{ending}"] = random.choice((*sizes[:3], *sizes))
    if random.random() < 0.3:
        files[random.choice(ODD)] = random.choice((0, 0, 5, -1))
    return files or {f"1_{IDS[0]}.index": 0}


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_a_start_opens_the_cache(version: str, ask: Ask) -> None:
    """Or fails, on the same names; a directory with the ending of a leftover is removed if it is empty."""
    random = Random(f"cache {SEED}")
    caches = [a_cache(random) for _ in range(generated(600))]
    cases = [" ".join(f"{name}:{size}" for name, size in files.items()) for files in caches]
    told = []
    for files in caches:
        regular = {name: size for name, size in files.items() if size >= 0}
        cache = read_cache(regular.items(), files.keys() - regular.keys(), release=release(version))
        told.append("fails" if cache.refused_count else "starts")
    answers = [answer.partition(" ")[0] for answer in ask(version, "RemoteIndexCaches.java", cases)]
    assert {"fails", "starts"} == set(answers)
    assert_equal(cases, told, answers)
