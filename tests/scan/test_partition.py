"""Small files of partition directories: many are the same to the byte."""

from pathlib import Path

import pytest

from kcheck.core.releases import release
from kcheck.formats import leader_epoch_checkpoint, partition_metadata
from kcheck.model.finding import Location
from kcheck.model.names import LEADER_EPOCHS, PARTITION_METADATA
from kcheck.model.views import FileView
from kcheck.scan.partition import view_of
from kcheck.scan.rules import check_file

FIXTURES = Path(__file__).parents[2] / "fixtures"
FORMATS = {LEADER_EPOCHS: leader_epoch_checkpoint.FORMAT, PARTITION_METADATA: partition_metadata.FORMAT}


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_seen_in_a_file_holds_for_every_one_with_the_same_bytes(name: str) -> None:
    """Each is where it stands, and is sound if and only if the rules of files find nothing in it."""
    sound = {True: 0, False: 0}
    for data in {path.read_bytes() for path in FIXTURES.rglob(name) if path.is_file()}:
        for newest in map(release, ("2.3", "4.3")):
            one, other = (view_of(data, FORMATS[name], Location(dir=where, file=name), newest) for where in "ab")
            assert one == other._replace(where=one.where)
            assert (one.where.dir, other.where.dir) == ("a", "b")
            found: FileView = one._replace(sound=False)
            assert one.sound == (not list(check_file(found, newest)))
            assert not (one.sound and list(check_file(one, newest)))
            sound[one.sound] += 1
    assert min(sound.values()) > 2
