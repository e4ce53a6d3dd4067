"""The metadata that disks, an older copy and answers give."""

from kcheck.core.rescue.answers import MetadataAnswers, TopicAnswer, answers_of
from kcheck.core.rescue.held import HeldPartition
from kcheck.core.rescue.rebuild import ELR, Rebuild, RebuiltTopic, rebuild, records_of, template
from kcheck.model.cluster import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY
from kcheck.schemas.encode import metadata_record
from tests.core.rescue.disks import disks, log_dir, old, partition, replica, wanted

CONFIG = ("ConfigRecord", {"resourceType": 2, "resourceName": "t", "name": "retention.ms", "value": "5"})
OF_BROKER = ("ConfigRecord", {"resourceType": 4, "resourceName": "", "name": "min.insync.replicas", "value": "2"})


def topic(plan: Rebuild, name: str = "t") -> RebuiltTopic:
    """Return a topic of a plan."""
    return next(row for row in plan.topics if row.name == name)


def test_only_the_best_replica_is_in_sync() -> None:
    """One that is short would lead, and cut the others, if the ISR named it."""
    held = partition(replica(1, end=20), replica(2, epoch=4), best=2)
    part = topic(rebuild(disks({("t", 0): held}), wanted())).partitions[0]
    assert (part.replicas, part.isr, part.leader, part.leader_epoch) == ((1, 2), (2,), -1, 5)
    assert part.directories == ("dir-1", "dir-2")


def test_replicas_that_are_alike_lead_by_turns() -> None:
    plan = rebuild(disks({("t", number): partition() for number in range(3)}), wanted())
    assert [part.isr for part in topic(plan).partitions.values()] == [(1,), (2,), (1,)]
    assert topic(plan).assumed == ("partitions", "replicas", "configs")


def test_a_best_replica_that_loses_records_leads_even_if_others_end_alike() -> None:
    plan = rebuild(disks({("t", 1): partition(lost=3), ("t", 0): partition()}), wanted())
    assert topic(plan).partitions[1].isr == (1,)


def test_a_partition_of_which_no_replica_loads_keeps_its_first_one() -> None:
    held = HeldPartition((replica(2, end=None), replica(3, end=None)), None)
    assert topic(rebuild(disks({("t", 0): held}), wanted())).partitions[0].isr == (2,)


def test_a_topic_keeps_its_id_or_gets_one() -> None:
    without = {("t", 0): partition(replica(1, None)), ("u", 0): partition(replica(1, None), replica(2, "id-u"))}
    plan = rebuild(disks(without), wanted())
    assert topic(plan).has_new_id
    assert (topic(plan, "u").topic_id, topic(plan, "u").has_new_id) == ("id-u", False)
    assert topic(plan).topic_id == topic(rebuild(disks(without), wanted())).topic_id


def test_without_a_configuration_nothing_is_deleted() -> None:
    held = disks(compacted=frozenset({"t", "__consumer_offsets"}), append_time=frozenset({"t"}))
    held = held._replace(partitions={**held.partitions, ("__consumer_offsets", 0): partition()})
    plan = rebuild(held, wanted())
    assert topic(plan).configs == {"retention.ms": "-1", "retention.bytes": "-1"}
    assert topic(plan).suggested == {"cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime"}
    assert topic(plan, "__consumer_offsets").configs["cleanup.policy"] == "compact"
    assert topic(plan, "__consumer_offsets").suggested == {}


def test_a_topic_with_records_in_remote_storage_stays_there() -> None:
    """Turned on later, remote records below the local log are deleted; a museum leaves the store alone."""
    held = disks(tiered=frozenset({"t"}))
    assert rebuild(held, wanted()).topics[0].configs["remote.storage.enable"] == "true"
    assert "remote.storage.enable" not in rebuild(held, wanted(standalone=True)).topics[0].configs
    assert "remote.storage.enable" not in rebuild(disks(), wanted()).topics[0].configs


def test_a_partition_without_a_disk_stays_offline() -> None:
    """It is on a broker that never comes back: an empty log would pass for a full one."""
    held = {("t", 1): partition(), ("t", 3): partition()}
    plan = rebuild(disks(held), wanted(dead=(3,)))
    part = topic(plan).partitions[0]
    assert plan.without_disk == (("t", 0), ("t", 2))
    assert (part.replicas, part.isr, part.leader_epoch, part.directories) == ((3,), (3,), 0, (UNASSIGNED_DIRECTORY,))
    alone = topic(rebuild(disks(held), wanted(standalone=True))).partitions[0]
    assert alone.replicas == ((1 << 31) - 1,)


def test_producer_ids_begin_above_all_that_disks_and_copies_know() -> None:
    assert rebuild(disks(), wanted()).next_producer_id == 2000
    assert rebuild(disks(producer_id=4995), wanted()).next_producer_id == 7000
    assert rebuild(disks(old=old("t", next_producer_id=9000)), wanted()).next_producer_id == 11000
    assert rebuild(disks(), wanted(MetadataAnswers(next_producer_id=8))).next_producer_id == 8


def test_an_older_copy_fills_what_disks_do_not_say() -> None:
    acl = ("AccessControlEntryRecord", {"id": "A"})
    other = ("ConfigRecord", {**CONFIG[1], "resourceName": "u"})
    plan = rebuild(disks(old=old("t", epoch=7, records=[CONFIG, OF_BROKER, acl, other])), wanted())
    part = topic(plan).partitions[0]
    assert (part.replicas, part.isr, part.leader_epoch) == ((2, 1), (2,), 8)
    assert (topic(plan).configs, topic(plan).assumed) == ({"retention.ms": "5"}, ())
    assert plan.records == (OF_BROKER, acl)


def test_a_replica_that_came_after_the_copy_is_one_too() -> None:
    held = {("t", 0): partition(replica(3), replica(2), best=3)}
    plan = rebuild(disks(held, log_dirs=(log_dir(1), log_dir(2), log_dir(3)), old=old("t")), wanted())
    part = topic(plan).partitions[0]
    assert (part.replicas, part.directories) == ((2, 1, 3), ("dir-2", UNASSIGNED_DIRECTORY, "dir-3"))


def test_a_topic_that_was_created_again_is_not_that_of_the_copy() -> None:
    plan = rebuild(disks(old=old("t", ids="old-", records=[CONFIG])), wanted())
    assert (topic(plan).topic_id, topic(plan).configs["retention.ms"]) == ("id-t", "-1")


def test_topics_of_the_copy_without_a_disk() -> None:
    """Those on brokers here were deleted since; those on others stay, offline."""
    here = rebuild(disks(old=old("t", "gone")), wanted())
    assert (here.left_out, [row.name for row in here.topics]) == (("gone",), ["t"])
    there = rebuild(disks(old=old("gone", replicas=(3, 4))), wanted(dead=(3, 4)))
    assert topic(there, "gone").partitions[0].replicas == (3, 4)
    assert there.without_disk == (("gone", 0),)


def test_answers_come_first() -> None:
    answer = TopicAnswer("x" * 22, 2, {0: (2, 1), 1: (5,)}, {0: (2,)}, {"a": "b"})
    plan = rebuild(disks(old=old("t", records=[CONFIG])), wanted(MetadataAnswers({"t": answer}, records=(OF_BROKER,))))
    parts = topic(plan).partitions
    assert (topic(plan).topic_id, topic(plan).configs, plan.records) == ("x" * 22, {"a": "b"}, (OF_BROKER,))
    assert [(part.replicas, part.isr) for part in parts.values()] == [((2, 1), (2,)), ((5,), (5,))]


def test_a_log_dir_without_an_id_is_any() -> None:
    plan = rebuild(disks(log_dirs=(log_dir(1, directory_id=None), log_dir(2))), wanted())
    assert topic(plan).partitions[0].directories == (MIGRATING_DIRECTORY, "dir-2")


def test_the_records_of_a_plan_can_be_written() -> None:
    """Without ELR no broker is registered, and the feature is off; below 3.7 no partition names log dirs."""
    held = disks({("t", 0): partition(replica(1, "t" * 22), replica(2))}, log_dirs=(log_dir(1, directory_id="d" * 22),))
    plan = rebuild(held, wanted(features={"metadata.version": 16, "eligible.leader.replicas.version": 1}))
    rows = [*records_of(plan, held)]
    assert [(name, version) for name, version, _ in rows] == [
        ("FeatureLevelRecord", 0), ("TopicRecord", 0), ("PartitionRecord", 0), ("ConfigRecord", 0),
        ("ConfigRecord", 0), ("ProducerIdsRecord", 0),
    ]  # fmt: skip


def test_with_elr_brokers_are_registered_under_the_epoch_that_they_name() -> None:
    """Else their first registration counts as unclean, and nobody is left in the ISR."""
    held = disks(log_dirs=(log_dir(1, shutdown_epoch=9, directory_id="d" * 22), log_dir(2, directory_id="e" * 22)))
    plan = rebuild(held, wanted(MetadataAnswers(elr=True)))
    rows = [*records_of(plan, held)]
    assert [data["brokerEpoch"] for name, _, data in rows if name == "RegisterBrokerRecord"] == [9, -1]
    assert [metadata_record(*row)[1] for row in rows if row[0] == "RegisterBrokerRecord"] == [0, 0]
    assert ("ConfigRecord", {**OF_BROKER[1], "value": "1"}) in plan.records
    own = rebuild(held, wanted(MetadataAnswers(elr=True, records=(("AccessControlEntryRecord", {}), OF_BROKER))))
    assert [data["value"] for name, data in own.records if name == "ConfigRecord"] == ["2"]


def test_the_template_gives_the_same_plan() -> None:
    held = disks(compacted=frozenset({"t"}))
    plan = rebuild(held, wanted())
    again = rebuild(held, wanted(answers_of(template(plan) | {"topics": {
        "t": {**template(plan)["topics"]["t"], "topic_id": "i" * 22},  # type: ignore[index]
    }}, b"")))  # fmt: skip
    assert topic(again).partitions == topic(plan).partitions
    assert topic(again).configs == topic(plan).configs
    assert (topic(again).assumed, again.next_producer_id) == ((), plan.next_producer_id)


def test_topics_of_brokers_keep_the_settings_that_brokers_give_them() -> None:
    """State of share groups and of remote storage has no retention, and the plan does not ask for one later."""
    names = ("__share_group_state", "__remote_log_metadata")
    plan = rebuild(disks({(name, 0): partition() for name in names}), wanted())
    assert [topic(plan, name).configs["retention.ms"] for name in names] == ["-1", "-1"]
    assert [topic(plan, name).assumed for name in names] == [("partitions", "replicas")] * 2


def test_of_a_copy_that_lacks_a_part_nothing_is_deleted() -> None:
    """Its settings count, and may not be all; partitions that it does not name have no known order."""
    held = disks({("t", 0): partition(), ("t", 1): partition()}, old=old("t", records=[CONFIG], missing="a.checkpoint"))
    plan = rebuild(held, wanted())
    assert topic(plan).configs == {"retention.ms": "5", "retention.bytes": "-1"}
    assert topic(plan).assumed == ("partitions", "replicas", "configs")
    answered = rebuild(held, wanted(MetadataAnswers({"t": TopicAnswer(configs={"a": "b"}, partitions=2)})))
    assert (topic(answered).configs, topic(answered).assumed) == ({"a": "b"}, ("replicas",))


def test_features_are_at_the_levels_of_an_older_copy() -> None:
    """Brokers ran with them. A controller that an earlier release formatted may not know them."""
    levels = {"metadata.version": 25, "group.version": 1, "transaction.version": 0, "kraft.version": 1}
    plan = rebuild(disks(old=old("t", features=levels)), wanted())
    assert plan.features == {"metadata.version": 25, "group.version": 1}
    assert not plan.elr
    with_elr = rebuild(disks(old=old("t", features={**levels, ELR: 1})), wanted())
    assert (with_elr.features[ELR], with_elr.elr) == (1, True)
    assert not rebuild(disks(old=old("t", features={**levels, ELR: 1})), wanted(MetadataAnswers(elr=False))).elr
    assert rebuild(disks(old=old("t", features={"metadata.version": 31})), wanted()).features == {
        "metadata.version": 30
    }
