"""Why metadata is not made again, and what has to be brought."""

from collections.abc import Iterable

from kcheck.core.rescue.answers import MetadataAnswers, TopicAnswer
from kcheck.core.rescue.held import HeldDisks
from kcheck.core.rescue.rebuild import Wanted, rebuild
from kcheck.core.rescue.rebuild_refusals import (
    is_enough,
    refusals_of_bootstrap,
    refusals_of_controller,
    refusals_of_held,
    refusals_of_rebuild,
)
from kcheck.core.rescue.refusals import RescueRefusal
from tests.core.rescue.disks import disks, log_dir, old, partition, replica, wanted
from tests.core.rescue.nodes import copy, node


def names(refusals: Iterable[RescueRefusal]) -> list[str]:
    """Return the names of refusals."""
    return [refusal.name for refusal in refusals]


def of_plan(held: HeldDisks, asked: Wanted | None = None) -> list[RescueRefusal]:
    """Return what is wrong with the partitions of disks."""
    asked = asked or wanted()
    return [*refusals_of_rebuild(held, rebuild(held, asked), asked)]


def test_healthy_disks_are_not_refused() -> None:
    assert names(refusals_of_held([], disks(), wanted())) == []
    assert of_plan(disks()) == []


def test_disks_without_partitions() -> None:
    assert names(refusals_of_held([], disks({}), wanted())) == ["no-partitions"]


def test_disks_of_two_clusters() -> None:
    other = disks(log_dirs=(log_dir(1), log_dir(2, cluster_id="D")))
    assert names(refusals_of_held([], other, wanted())) == ["two-clusters"]
    formatted = node(201, cluster_id="E")
    (refusal,) = refusals_of_held([formatted], disks(), wanted())
    assert refusal.why == "/1 is of cluster C, /201 of cluster E."


def test_a_process_uses_a_disk_or_a_disk_is_gone() -> None:
    held = disks(log_dirs=(log_dir(1, locked_by=7), log_dir(2, unlisted="no such directory")))
    assert names(refusals_of_held([], held, wanted())) == ["running", "missing-disk"]
    nodes = [node(1, copy(1), running=True), node(101, copy(101), running=True, changing=True)]
    (running, changing) = refusals_of_held(nodes, disks(), wanted())
    assert (running.bring, changing.name) == ("Stop node 101, and ask again.", "changing")


def test_a_copy_that_knows_everything_is_better() -> None:
    enough = disks(old=old("t", epoch=3))
    (refusal,) = refusals_of_held([], enough, wanted())
    assert (refusal.name, refusal.forced) == ("metadata-here", True)
    assert names(refusals_of_held([], enough, wanted(standalone=True))) == []
    assert not is_enough(disks())
    assert not is_enough(disks(old=old("t", epoch=2)))
    assert not is_enough(disks(old=old("t", epoch=3, missing="a.checkpoint: the snapshot is incomplete")))
    assert not is_enough(disks(old=old("u", epoch=3)))
    assert not is_enough(disks({("t", 1): partition()}, old=old("t", epoch=3)))
    assert not is_enough(disks(old=old("t", epoch=3, ids="other-")))


def test_a_broker_in_the_copy_that_is_not_here() -> None:
    held = disks(old=old("t", replicas=(1, 4), brokers=(1, 2, 3)))
    (refusal,) = refusals_of_held([], held, wanted())
    assert refusal.name == "unnamed-nodes"
    assert "3 and 4" in refusal.why
    assert "--dead 3" in refusal.bring
    assert names(refusals_of_held([], held, wanted(dead=(3, 4)))) == []


def test_two_topics_of_one_name() -> None:
    held = disks({("t", 0): partition(replica(1), replica(2, "id-other"))})
    assert names(refusals_of_held([], held, wanted())) == ["two-topics"]


def test_a_partition_that_no_disk_has() -> None:
    held = disks({("t", 1): partition(), ("t", 6): partition()})
    (refusal,) = of_plan(held)
    assert (refusal.name, refusal.forced) == ("missing-disk", False)
    assert refusal.why == "No disk here has t-0, t-2, t-3 and 2 more."
    assert of_plan(held, wanted(dead=(3,))) == []
    asked = MetadataAnswers({"t": TopicAnswer(partitions=2, replicas={0: (3,)}), "u": TopicAnswer(partitions=1)})
    (refusal,) = of_plan(disks({("t", 1): partition()}), wanted(asked))
    assert "u-0" in refusal.why


def test_a_partition_with_fewer_replicas_than_others() -> None:
    held = disks({("t", 0): partition(), ("t", 1): partition(replica(1))})
    (refusal,) = of_plan(held)
    assert (refusal.name, refusal.forced) == ("fewer-replicas", True)
    assert of_plan(held, wanted(MetadataAnswers({"t": TopicAnswer(replicas={1: (1,)})}))) == []
    assert of_plan(held._replace(old=old("t"))) == []


def test_replicas_that_do_not_load_or_differ_need_a_decision() -> None:
    assert names(of_plan(disks({("t", 0): partition(best=None)}))) == ["no-replica"]
    for lost, count in ((3, "3 records"), (None, "an unknown number of records")):
        (refusal,) = of_plan(disks({("t", 0): partition(lost=lost)}))
        assert (refusal.name, refusal.forced) == ("two-histories", True)
        assert count in refusal.why
        decided = wanted(MetadataAnswers({"t": TopicAnswer(isr={0: (2,)})}))
        assert of_plan(disks({("t", 0): partition(lost=lost)}), decided) == []


def test_answers_that_no_disk_can_serve() -> None:
    for answer in (TopicAnswer(isr={0: (3,)}), TopicAnswer(replicas={0: (2,)}, isr={0: (1,)})):
        assert names(of_plan(disks(), wanted(MetadataAnswers({"t": answer})))) == ["answers"]
    two = disks({("t", 0): partition(), ("t", 1): partition()})
    assert names(of_plan(two, wanted(MetadataAnswers({"t": TopicAnswer(partitions=1)})))) == ["answers"]
    assert names(of_plan(disks(producer_id=5), wanted(MetadataAnswers(next_producer_id=5)))) == ["answers"]


def test_an_isr_with_a_short_replica_loses_records() -> None:
    """The last of the ISR to register leads: played, the others cut their logs to its end."""
    held = disks({("t", 0): partition(replica(1), replica(2, end=20))})
    both = wanted(MetadataAnswers({"t": TopicAnswer(isr={0: (1, 2)})}))
    (refusal,) = of_plan(held, both)
    assert (refusal.name, refusal.forced) == ("short-replica", True)
    assert of_plan(held, wanted(MetadataAnswers({"t": TopicAnswer(isr={0: (2,)})}))) == []


def test_the_disk_of_the_controller() -> None:
    assert names(refusals_of_controller(node(201), disks(), wanted(), is_empty=True)) == []
    (refusal,) = refusals_of_controller(None, disks(), wanted(), is_empty=True)
    assert "kafka-storage.sh format --cluster-id C" in refusal.bring
    assert names(refusals_of_controller(node(201), disks(), wanted(features={}), is_empty=False)) == [
        "controller-not-empty",
        "not-formatted",
    ]


def test_the_first_records_of_a_controller() -> None:
    """Not beside an older copy, and before 3.6 not more than a batch takes."""
    assert names(refusals_of_bootstrap([node(1)], 10_000, 7)) == []
    assert names(refusals_of_bootstrap([], 10_001, 13)) == []
    found = [*refusals_of_bootstrap([node(1), node(2, copy(2))], 10_001, 12)]
    assert names(found) == ["old-copy", "too-many-records"]
    assert found[0].why.startswith("Node 2 has a copy")


def test_log_dirs_that_were_not_named() -> None:
    """Beside another one of the broker, or among the ids that a broker registered with."""
    (beside,) = refusals_of_held([], disks(unnamed=((1, "/a"), (1, "/b"))), wanted())
    assert (beside.name, beside.why) == ("unnamed-log-dirs", "/a is a log dir of broker 1 too, and was not named.")
    assert (beside.bring[-9:], beside.forced) == ("(1=PATH).", True)
    known = old("t", epoch=2)
    row = known.image.brokers[1]._replace(log_dirs=("dir-1", "dir-9"))
    known = known._replace(image=known.image._replace(brokers={**known.image.brokers, 1: row}))
    (registered,) = refusals_of_held([], disks(old=known), wanted())
    assert registered.why == "The metadata names 2 log dirs of broker 1, and not all are here."
    without_ids = disks(old=known, log_dirs=(log_dir(1, directory_id=None), log_dir(2)))
    assert [*refusals_of_held([], without_ids, wanted())] == []
