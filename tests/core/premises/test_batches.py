"""Batches that no consumer accepts count where their broker leads; what was not read is a note."""

from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.entries import Offset
from kcheck.model.loss import BatchFaults, UnreadableRecords
from kcheck.model.names import TopicPartition
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import END, LOG, facts, image, log_dir, not_seen, refuted

BAD = LOG._replace(batches=BatchFaults((UnreadableRecords(Offset(3), Offset(5), "the CRC does not match"),)))
WORDS = "orders-0: offsets 3-4 cannot be read (the CRC does not match): "


def test_a_corrupt_batch() -> None:
    """It stops consumers and followers of its broker; a follower fetches nothing from it."""
    given = facts(logs=(BAD,))
    assert refuted(given._replace(image=image(1, 2, isr=(1, 2))))["P307"] == (
        f"{WORDS}where it leads, consumers and followers stop there"
    )
    assert refuted(given._replace(image=None))["P307"].startswith(WORDS)
    assert refuted(given._replace(image=image(1, isr=(1,))))["P307"] == (
        f"{WORDS}no other broker has a replica with them"
    )
    assert not_seen(given._replace(image=image(2, 1, isr=(2, 1))))["P307"] == (
        f"{WORDS}whether another replica leads is not known"
    )
    follower = given._replace(image=image(2, 1, isr=(2,)))
    assert "P307" not in refuted(follower)
    assert not_seen(follower)["P307"].startswith(WORDS)
    unclean = follower._replace(mode=Mode.ZOOKEEPER, release=release("3.9"), config={})
    assert "P307" not in refuted(unclean)


def test_logs_whose_batches_were_read_or_not() -> None:
    """All of them is a proof; otherwise a note says how many were not."""
    status = {row.id: row.status for row in judged(facts(logs=(LOG._replace(batches=BatchFaults()),)))}
    assert status["P307"] is PremiseStatus.PROVEN
    partly = facts(logs=(LOG._replace(batches=BatchFaults(is_complete=False)),))
    assert not_seen(partly)["P307"] == "not all batches of 1 log were read; kcheck check --depth crc reads all"
    assert "P307" not in {row.id for row in judged(facts(logs=(LOG,)))}


def test_the_time_index_of_other_batches() -> None:
    """Somebody copied another `.log` there, so that the records of the segment are gone."""
    given = facts(logs=(LOG._replace(batches=BatchFaults(foreign=((Offset(3), Offset(5)),))),))
    words = "orders-0: offsets 3-4 contradict their time index or the next segment"
    lost = f"{words}: the segment may be of another log, and its own records lost"
    assert refuted(given._replace(image=image(1, isr=(1,))))["P308"] == lost
    elsewhere = not_seen(given._replace(image=image(2, 1, isr=(2, 1))))["P308"]
    assert elsewhere == f"{words}: whether another replica leads is not known"
    follower = given._replace(image=image(2, 1, isr=(2,)))
    follows = "it is not elected now, so nothing is lost when it starts; its own records may be lost"
    assert not_seen(follower)["P308"] == f"{words}: {follows}"
    assert "P308" not in refuted(facts(logs=(LOG._replace(batches=BatchFaults()),)))


def test_bytes_after_the_last_batch() -> None:
    """A leader and a follower append after them, and nothing reads on from there: KC144 alone said so."""
    given = facts(logs=(LOG._replace(end=Offset(9), batches=BatchFaults(tail="it is incomplete")),))
    for known in (image(1, 2, isr=(1, 2)), image(2, 1, isr=(2,)), None):
        assert refuted(given._replace(image=known))["P351"] == (
            "orders-0: the bytes after the log end 9 are no batch (it is incomplete), and broker 1 appends new records"
            " after them. No consumer or follower can read these"
        )
    assert "P351" not in refuted(facts(logs=(LOG._replace(batches=BatchFaults()), LOG)))


def test_an_index_that_leads_to_another_place() -> None:
    """Consumers skip records where the broker leads: of 4.3.1 they did, with the entry of a later batch."""
    given = facts(logs=(LOG._replace(batches=BatchFaults(skipped=((Offset(3), Offset(5)),))),))
    words = "orders-0: the offset index leads reads of offsets 3-4 to another place"
    skipped = f"{words}: consumers and followers skip them, or stop there; kcheck repair rebuilds the index"
    assert refuted(given._replace(image=image(1, isr=(1,))))["P310"] == skipped
    follower = given._replace(image=image(2, 1, isr=(2,)))
    follows = "it is not elected now, so nothing is lost when it starts; kcheck repair rebuilds the index"
    assert not_seen(follower)["P310"] == f"{words}: {follows}"
    assert "P310" not in refuted(facts(logs=(LOG._replace(batches=BatchFaults()),)))


def test_a_transaction_index_without_its_entries() -> None:
    """Of 4.3.1 read_committed consumers got all six aborted records after `find -name '*.txnindex' -delete`."""
    spans = ((Offset(4), Offset(7)), (Offset(11), Offset(14)))
    given = facts(logs=(LOG._replace(batches=BatchFaults(unlisted=spans)),))
    words = "orders-0: the transaction indexes lack 2 aborted transactions (offsets 4-13): "
    repair = "kcheck repair rebuilds the indexes"
    harm = f"{words}read_committed consumers get the aborted records; {repair}"
    assert refuted(given._replace(image=image(1, isr=(1,))))["P840"] == harm
    follower = given._replace(image=image(2, 1, isr=(2,)))
    follows = f"{words}it is not elected now, so nothing is lost when it starts; {repair}"
    assert not_seen(follower)["P840"] == follows
    assert "P840" not in refuted(facts(logs=(LOG._replace(batches=BatchFaults()), LOG)))


def test_a_log_that_goes_on_behind_the_recovery_point_of_a_clean_stop() -> None:
    """Brokers of 4.0.2 and 4.3.1 served the files of another partition of the topic."""
    longer = LOG._replace(end=Offset(47), closed_at=Offset(7))
    given = facts(logs=(longer,), image=image(1, isr=(1,)))
    assert refuted(given)["P312"] == (
        "orders-0: the log ends at offset 47, but ended at 7 when the broker stopped: the directory may belong to"
        " another partition or another time"
    )
    assert "P312" in not_seen(given._replace(image=image(1, 2, isr=(1, 2))))
    assert "P312" in not_seen(given._replace(image=image(2, 1, isr=(2,))))
    for end in (None, Offset(0), Offset(47)):
        assert "P312" not in refuted(given._replace(logs=(longer._replace(closed_at=end),)))
    assert "P312" in refuted(given._replace(logs=(longer,) * 2))
    assert "P312" not in refuted(given._replace(logs=(longer,) * 3))
    right = tuple(longer._replace(closed_at=Offset(47)) for _ in range(4))
    assert "P312" in refuted(given._replace(logs=((longer,) * 3 + right)))


def test_a_log_end_without_the_snapshot_of_a_clean_stop() -> None:
    """Its tail was removed with every file that knows of it, or only snapshots were: in 4.3.1 it was the tail."""
    given = facts(log_dir(clean=True), logs=(LOG._replace(end=Offset(5), lacks_snapshot=True),))
    words = (
        "orders-0 ends at 5, but the broker stopped cleanly and left no producer snapshot there: the end of the log may"
        " be missing"
    )
    assert not_seen(given._replace(image=image(1, 2, isr=(1, 2))))["P315"] == words
    follows = f"{words}. The replica is not elected now, and fetches that from the leader"
    assert not_seen(given._replace(image=image(2, 1, isr=(2,))))["P315"] == follows
    assert "P315" not in not_seen(given._replace(logs=(LOG,)))
    assert "P315" not in not_seen(given._replace(log_dirs=(log_dir(),)))
    assert "P315" not in not_seen(given._replace(logs=(END._replace(lacks_snapshot=True),)))


def test_keys_of_another_partition() -> None:
    """Only of groups and transactions a broker chose the partition; a producer may have its own method."""
    given = facts(logs=(LOG._replace(keys_of=(2, 14)),), image=image(1, isr=(1,)))
    words = "orders-0: the keys belong to orders-2: the directory may belong to partition 2"
    (row,) = (row for row in judged(given) if row.id == "P313")
    assert (PremiseStatus.NOT_SEEN, words, "orders-0") == (row.status, row.sentence, row.partition)
    assert row.provide is not None
    assert row.evidence[0].says == "14 different keys of partition 2, and no other"
    (follower,) = (row for row in judged(given._replace(image=image(2, 1, isr=(2,)))) if row.id == "P313")
    assert follower.provide is None
    assert "P313" not in {row.id for row in judged(facts(logs=(LOG,)))}
    groups = LOG._replace(partition=TopicPartition("__consumer_offsets", 3), keys_of=(2, 1))
    assert refuted(given._replace(logs=(groups,)))["P313"] == (
        "__consumer_offsets-3: the keys belong to __consumer_offsets-2: as leader the coordinator does not find its"
        " groups"
    )


def test_names_of_other_coordinators() -> None:
    """4.3.1 found no offsets of three groups after __consumer_offsets had got more partitions; 3.9.2 found all."""
    groups = LOG._replace(partition=TopicPartition("__consumer_offsets", 0), homeless=("g1", "g2"))
    ids = groups._replace(partition=TopicPartition("__transaction_state", 0), homeless=("x",))
    many = "belong to other partitions, because the topic has more now"
    of_groups = f"__consumer_offsets-0: 2 groups (g1 and g2) {many}"
    assert refuted(facts(logs=(groups,)))["P841"] == f"{of_groups}: their new coordinators do not find them"
    old = facts(logs=(groups,), release=release("3.9"), mode=Mode.ZOOKEEPER, config={})
    assert not_seen(old)["P841"] == f"{of_groups}. Their offsets may not be found"
    assert refuted(old._replace(logs=(ids,)))["P841"] == (
        f"__transaction_state-0: 1 transactional id (x) {many.replace('belong', 'belongs')}: their new coordinators do"
        " not find them"
    )
    assert "P841" not in {row.id for row in judged(facts(logs=(LOG,)))}
