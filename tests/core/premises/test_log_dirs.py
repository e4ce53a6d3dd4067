"""The log dirs in log.dirs, and those on the disk."""

from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import (
    KRAFT,
    METADATA_LOG,
    SECOND,
    copy,
    facts,
    image,
    log_dir,
    not_seen,
    refuted,
    rows,
)


def test_settings_that_list_log_dirs_which_are_not_here() -> None:
    """Nobody knows whether the broker uses the given ones. The others are not missing."""
    given = facts(elsewhere=("/data",), config={**KRAFT, "log.dirs": "/data"})
    sentence = "server.properties lists /data, and not d1: whether broker 1 uses them is not known"
    assert {"P317": sentence} == not_seen(given)
    assert {} == refuted(given)
    assert "P311" not in rows(given, PremiseStatus.PROVEN)


def test_replicas_of_a_partition_that_was_created_without_the_broker_need_no_directory() -> None:
    """Its first ISR has all brokers that were there, so the broker never had a record that the ISR lacks."""
    without = facts(log_dir(directories=(METADATA_LOG,)))
    for isr, epoch, is_proven in (((2,), 0, True), ((2,), 1, False), ((2,), None, False), ((1, 2), 0, False)):
        partitions = {0: PartitionRegistration((2, 1), isr, 2, 0, epoch)}
        given = without._replace(image=ClusterImage({"orders": TopicImage("orders", "T", partitions)}))
        assert is_proven == ("P302" in rows(given, PremiseStatus.PROVEN))


def test_log_dirs_that_are_not_given() -> None:
    """The settings list them, or the broker registered them, or an assigned partition must be in them."""
    listed = facts(log_dir(), SECOND._replace(is_given=False))
    assert not_seen(listed)["P301"] == "broker 1 has another log dir, d2, which is not given"
    registered = facts(config=None, is_complete=False, copies=(copy(of=image(log_dirs=("D1", "D2"))),))
    assert not_seen(registered)["P301"] == "broker 1 registered 2 log dirs, and 1 of them is not given"
    without_ids = {"config": None, "copies": (copy(of=image(log_dirs=())),), "image": image(1, 2, isr=(2, 1))}
    for is_complete in (False, True):
        assigned = facts(log_dir(directories=()), is_complete=is_complete, **without_ids)
        words = "whether every log dir of broker 1 is given is not known, because orders-0 has no directory in d1"
        assert not_seen(assigned).get("P301") == (None if is_complete else words)
        for given in (listed, registered, assigned):
            assert "P301" not in rows(given, PremiseStatus.PROVEN)
