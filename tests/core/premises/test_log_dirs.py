"""The log dirs in log.dirs, and those on the disk."""

from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import KRAFT, METADATA_LOG, facts, log_dir, not_seen, refuted, rows


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
