"""What the files of one broker show about each premise. The sentences are those of staged incidents on real brokers."""

from typing import Any

import pytest

from kcheck.core.cluster.copies import LostCopy, MetadataCopy, RaftEpoch
from kcheck.core.premises.facts import BrokerFacts, LogDirFacts, LogFacts, MissingRecords
from kcheck.core.premises.table import BY_ID, ENDS_START, PREMISES, judged, why_not_started
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import (
    BrokerRegistration,
    ClusterImage,
    PartitionRegistration,
    QuorumState,
    TopicImage,
    Voter,
)
from kcheck.model.entries import Offset
from kcheck.model.names import DirectoryState, PartitionDirectory, TopicPartition
from kcheck.model.premises import PremiseEvidence, PremiseStatus

KRAFT = {"process.roles": "broker", "node.id": "1", "log.dirs": "d1"}
IDENTITY = {"version": "1", "node.id": "1", "cluster.id": "C", "directory.id": "D1"}


def directory(topic: str, partition: int = 0, state: DirectoryState = DirectoryState.CURRENT) -> PartitionDirectory:
    """Return the name of a partition directory."""
    return PartitionDirectory(topic, partition, state, canonical=True)


METADATA_LOG = directory("__cluster_metadata")
ORDERS = directory("orders")


def log_dir(path: str = "d1", identity: dict[str, str] | None = IDENTITY, **fields: Any) -> LogDirFacts:
    """Return a log dir with orders-0 and a metadata log."""
    return LogDirFacts(path, **{"identity": identity, "directories": (ORDERS, METADATA_LOG), **fields})


SECOND = log_dir("d2", {**IDENTITY, "directory.id": "D2"}, directories=(), shutdown_epoch=4)


LOG = LogFacts(TopicPartition("orders", 0), "d1")
MISSING = MissingRecords(Offset(20), Offset(40))
GAP = LOG._replace(missing=(MISSING,))
END = LOG._replace(missing=(MISSING._replace(known_by="replication-offset-checkpoint"),))
HEAD = LOG._replace(lost_head=(Offset(0), Offset(180)))


def image(
    *replicas: int, isr: tuple[int, ...] = (1,), log_dirs: tuple[str, ...] = ("D1",), epoch: int = 7, **fields: Any
) -> ClusterImage:
    """Return a cluster with orders-0 on these brokers, and broker 1."""
    registration = PartitionRegistration(replicas or (1,), isr, **fields)
    broker = BrokerRegistration(1, epoch, fenced=True, log_dirs=log_dirs)
    return ClusterImage({"orders": TopicImage("orders", "T", {0: registration})}, brokers={1: broker})


def copy(node: int = 100, end: int = 60, epoch: int = 1, of: ClusterImage | None = None, **fields: Any) -> MetadataCopy:
    """Return the copy of a node; controller 100 is the only voter."""
    given = {
        "voters": frozenset({100}),
        "snapshot": 0,
        "image": of or image(),
        "epochs": (RaftEpoch(epoch, 0),),
        **fields,
    }
    return MetadataCopy(f"node-{node}", node, epoch, end, **given)


def facts(*log_dirs: LogDirFacts, **fields: Any) -> BrokerFacts:
    """Return broker 1 of 4.3 with its settings and the copy of its controller."""
    of_controller = copy()
    given = {
        "broker_id": 1, "release": release("4.3"), "mode": Mode.KRAFT, "config": KRAFT,
        "config_path": "server.properties", "metadata_log_dir": "d1", "copies": (of_controller,),
        "image": of_controller.image, "image_path": of_controller.path, **fields,
    }  # fmt: skip
    return BrokerFacts(log_dirs=log_dirs or (log_dir(),), **given)


def rows(given: BrokerFacts, status: PremiseStatus) -> dict[str, str]:
    """Return the sentences of the premises with one status, by id; of several the first."""
    sentences: dict[str, str] = {}
    for judgement in judged(given):
        if judgement.status is status:
            sentences.setdefault(judgement.id, judgement.sentence)
    return sentences


def refuted(given: BrokerFacts) -> dict[str, str]:
    """Return the refuted premises."""
    return rows(given, PremiseStatus.REFUTED)


def not_seen(given: BrokerFacts) -> dict[str, str]:
    """Return what the files do not show."""
    return rows(given, PremiseStatus.NOT_SEEN)


def test_an_undamaged_broker_with_its_metadata_is_proven() -> None:
    """Nothing is refuted, nothing is unknown, and every row names what it was seen in."""
    judgements = judged(facts(clusters=(PremiseEvidence("node-100", "C"),)))
    assert {PremiseStatus.PROVEN} == {judgement.status for judgement in judgements}
    assert {"P101", "P102", "P106", "P203", "P301", "P302", "P303", "P501"} <= {row.id for row in judgements}
    assert all(judgement.evidence for judgement in judgements)
    assert why_not_started(judgements) is None


def test_a_log_without_its_head_makes_nobody_delete_if_it_has_no_other_replica() -> None:
    other = HEAD._replace(partition=TopicPartition("gone", 0))
    assert "P304" in refuted(facts(logs=(other,)))


def test_an_emptied_zookeeper_leaves_orphans() -> None:
    """A broker of 3.9.2 started and served none of its partitions (ZooKeeper 3.8.4)."""
    directories = (*(directory("cust", number) for number in (0, 1)), directory("__consumer_offsets"))
    given = facts(
        log_dir(directories=directories), mode=Mode.ZOOKEEPER, release=release("3.9"), config={}, copies=(),
        image=ClusterImage({}), image_path="zookeeper",
    )  # fmt: skip
    sentence = refuted(given)["P309"]
    assert sentence.startswith("ZooKeeper has no topic: the 3 directories here are orphans, of __consumer_offsets (1 ")
    assert sentence.endswith("cust (2 partitions). Nothing serves them")
    assert "Do not create the topics by hand" in BY_ID["P309"].remedy
    many = tuple(directory(f"t{number}") for number in range(7))
    assert (
        "t4 (1 partition) and 2 more. Nothing" in refuted(given._replace(log_dirs=(log_dir(directories=many),)))["P309"]
    )
    assert "__a (1 partition)" in refuted(given._replace(log_dirs=(log_dir(directories=(directory("__a"),)),)))["P309"]
    assert "P309" not in refuted(given._replace(image=image(1)))
    assert "P309" not in refuted(given._replace(log_dirs=(log_dir(directories=()),)))


def test_a_log_dir_that_is_given_as_that_of_another_broker() -> None:
    """Without settings the id that the user gives counts."""
    given = facts(config=None, config_path=None, broker_id=2)
    assert refuted(given)["P102"] == "meta.properties says broker 1, but the log dir is given for broker 2"
    assert "P102" not in refuted(given._replace(broker_id=1))
    said = refuted(facts(broker_id=2))
    assert said["P102"] == "the settings name broker 1, but the path is given for broker 2"


def test_ids_are_unique_and_in_order() -> None:
    ids = [premise.id for premise in PREMISES]
    assert sorted(set(ids)) == ids
    losing = (
        "P109", "P302", "P304", "P305", "P306", "P307", "P308", "P309", "P310", "P311", "P312", "P313", "P315", "P316",
        "P317", "P319", "P320", "P321", "P324", "P351", "P352", "P356", "P367", "P375", "P402", "P404", "P601", "P602",
        "P701", "P702", "P801", "P802", "P811", "P812", "P813", "P814", "P821", "P822", "P823", "P824",
        "P825", "P826", "P836", "P837", "P840", "P841", "P842", "P850", "P861",
    )  # fmt: skip
    assert {*losing} == {*ids} - ENDS_START


NO_HISTORY_KNOWN = "which history the controllers will have is not known"


@pytest.mark.parametrize(
    ("given", "premise", "sentence"),
    [
        (
            facts(clusters=(PremiseEvidence("m", "X"),)),
            "P101",
            "the disk of broker 1 is of cluster C, the cluster is X",
        ),
        (facts(config={**KRAFT, "node.id": "7"}), "P102", "meta.properties says broker 1, but the settings name 7"),
        (
            facts(
                log_dir(identity=None),
                mode=Mode.ZOOKEEPER,
                release=release("3.9"),
                config={"broker.id": "-1"},
                broker_id=None,
                copies=(),
                image=None,
            ),
            "P103",
            (
                "no log dir has a meta.properties: with broker.id=-1 the broker gets a new id, and the replicas in d1"
                " stay with the old one"
            ),
        ),
        (
            facts(log_dir(identity=None, directories=()), copies=(), image=None, broker_id=5),
            "P104",
            (
                "d1 is not formatted or not mounted. Mount the disk. Only a new one needs kafka-storage.sh format"
                " --cluster-id CLUSTER_ID --config server.properties"
            ),
        ),
        (
            facts(
                release=release("3.4"),
                config={**KRAFT, "controller.quorum.voters": "100@a:1,2@b:1,3@c:1"},
                elected=QuorumState(100, 1, -1, (100,)),
            ),
            "P105",
            "controller.quorum.voters is 2,3,100, quorum-state has 100",
        ),
        (
            facts(log_dir(identity={**IDENTITY, "node.id": "2"}), broker_id=2, config=None),
            "P106",
            "directory.id D1 is registered by broker 1: the disk is a copy of that broker's disk",
        ),
        (
            facts(config={**KRAFT, "controller.quorum.voters": "1@a:1"}),
            "P108",
            "process.roles is broker, but node 1 is in controller.quorum.voters",
        ),
        (
            facts(copies=(copy(end=17), copy(1, 61))),
            "P201",
            (
                "the controllers have another history than broker 1. Its copy of the metadata goes to offset 60 in"
                " epoch 1, theirs to offset 16 in epoch 1. They agree at most before offset 17"
            ),
        ),
        (
            facts(broker_id=100, copies=(copy(end=17), copy(1, 61))),
            "P201",
            (
                "the controllers have another history than broker 1. Its copy of the metadata goes to offset 60 in"
                " epoch 1, theirs to offset 16 in epoch 1. They agree at most before offset 17"
            ),
        ),
        (
            facts(log_dir(directories=(ORDERS,)), config={**KRAFT, "process.roles": "broker,controller"}),
            "P202",
            (
                "broker 1 is a controller with partitions and has lost __cluster_metadata-0: with other empty voters it"
                " can elect an empty history"
            ),
        ),
        (
            facts(metadata_log_dir="d2"),
            "P203",
            (
                "__cluster_metadata-0 is in d1, but the settings keep it in d2: set metadata.log.dir, or restore the"
                " order of log.dirs"
            ),
        ),
        (
            facts(log_dir(directories=()), LogDirFacts("d2", is_there=False)),
            "P301",
            "log dir d2 is missing; 1 assigned partition was there",
        ),
        (facts(log_dir(), LogDirFacts("d2")), "P301", "d2 has no readable meta.properties; readable in d1"),
        (
            facts(log_dir(directories=(METADATA_LOG,))),
            "P302",
            "orders-0 would start empty, because no directory is here and no other broker has a replica",
        ),
        (
            facts(log_dir(directories=(METADATA_LOG,), clean=True, shutdown_epoch=7), image=image(1, 2, isr=(1,))),
            "P302",
            (
                "orders-0 may lead here without a directory. Broker 1 makes an empty log, and the other"
                " replicas would delete their records"
            ),
        ),
        (
            facts(SECOND, log_dir(is_named=False), config={**KRAFT, "log.dirs": "d2"}),
            "P311",
            "log.dirs in server.properties does not contain d1, which alone has orders-0",
        ),
        (
            facts(SECOND, log_dir(is_named=False), image=None, copies=(), config={**KRAFT, "log.dirs": "d2"}),
            "P311",
            "log.dirs in server.properties does not contain d1, which alone has orders-0",
        ),
        (
            facts(logs=(HEAD,), image=image(1, 2)),
            "P304",
            (
                "orders-0 begins at 180 here, its epochs at 0: as leader broker 1 makes the other replicas"
                " delete the records below"
            ),
        ),
        (
            facts(logs=(HEAD,), image=image(1)),
            "P304",
            "orders-0 begins at 180 here, its epochs at 0: no other broker has a replica with the records below",
        ),
        (
            facts(logs=(GAP,), image=image(1, 2)),
            "P305",
            "orders-0 has no segment with offsets 20-39: where it leads, consumers skip them",
        ),
        (
            facts(logs=(END,), image=image(1, 2)),
            "P306",
            (
                "orders-0 ends at 20 here, but replication-offset-checkpoint shows records up to offset 39: as leader"
                " broker 1 makes the other replicas delete theirs"
            ),
        ),
        (
            facts(logs=(END,), image=image(1)),
            "P306",
            (
                "orders-0 ends at 20 here, but replication-offset-checkpoint shows records up to offset 39: no other"
                " broker has a replica with them"
            ),
        ),
        (
            facts(logs=(HEAD,), image=None),
            "P304",
            (
                "orders-0 begins at 180 here, its epochs at 0: as leader broker 1 makes the other replicas"
                " delete the records below"
            ),
        ),
        (
            facts(config={"zookeeper.connect": "z:2181", "broker.id": "1"}),
            "P501",
            "Kafka 4.0 and later do not read zookeeper.connect; process.roles is missing",
        ),
        (facts(config={"broker.id": "1"}), "P501", "process.roles is missing"),
        (
            facts(log_dir(shutdown_epoch=3)),
            "P701",
            "d1 is an old copy, made before broker 1 registered last (epoch 3 on disk, 7 in the cluster)",
        ),
        (
            facts(
                log_dir(shutdown_epoch=3),
                log_dir("d2", {**IDENTITY, "directory.id": "D2"}, directories=(), shutdown_epoch=4),
            ),
            "P701",
            "the disks are an old copy, made before broker 1 registered last (epoch 3 on disk, 7 in the cluster)",
        ),
    ],
)
def test_a_refuted_premise_says_why(given: BrokerFacts, premise: str, sentence: str) -> None:
    assert sentence == refuted(given)[premise]
    ends = premise in ENDS_START
    assert ends is (why_not_started(judged(given)) is not None)


@pytest.mark.parametrize(
    ("given", "premise", "beginning"),
    [
        (
            facts(copies=(copy(2, voters=frozenset({1, 2, 3}), voter_set=(Voter(1, "OLD", ()), Voter(3, "D3", ()))),)),
            "P107",
            "node 1 has directory D1, the voter set has OLD: it has no vote",
        ),
        (
            facts(
                config={**KRAFT, "process.roles": "broker,controller"},
                copies=(copy(1, voters=frozenset({1, 2, 3})),),
            ),
            "P204",
            "which history the controllers will have is not known: broker 1 is one of them",
        ),
        (
            facts(config=None, copies=(copy(1, voters=frozenset({1, 2, 3})),)),
            "P204",
            "which history the controllers will have is not known: broker 1 is one of them",
        ),
        (
            facts(
                config=None,
                copies=(copy(1, voters=frozenset({1, 2, 3})),),
                lost_copies=(LostCopy("c/m", 2, damage="m.log: offset 7"),),
            ),
            "P204",
            f"{NO_HISTORY_KNOWN}: broker 1 is one of them; the copy of controller 2 cannot be read in full (c/m)",
        ),
        (
            facts(config={**KRAFT, "process.roles": "broker,controller"}, copies=(), image=None),
            "P204",
            "which history the controllers will have is not known: broker 1 is one of them",
        ),
        (
            facts(config=None, image=image(log_dirs=("D1", "D2")), copies=(copy(of=image(log_dirs=("D1", "D2"))),)),
            "P301",
            "broker 1 registered 2 log dirs, and 1 of them is not given",
        ),
        (
            facts(log_dir(directories=(METADATA_LOG,)), image=image(2, 1, isr=(2,))),
            "P302",
            "orders-0 has no directory here; whether another broker has the records is not known",
        ),
        (
            facts(copies=(), image=None),
            "P303",
            "what the cluster expects of broker 1 now is not known: there is no copy of its metadata",
        ),
        (
            facts(copies=(copy(1),)),
            "P303",
            "what the cluster expects of broker 1 now is not known: the only copy of its metadata is its own",
        ),
        (
            facts(copies=(), image=None, lost_copies=(LostCopy("c/m", 100, damage="m.log: offset 7"),)),
            "P353",
            "what the cluster expects of broker 1 is not known now, because the metadata in c/m cannot be read in full",
        ),
        (
            facts(mode=Mode.ZOOKEEPER, release=release("3.9"), copies=(), image=None, broker_id=None),
            "P303",
            "what the cluster expects of the broker is not known, because its metadata is in ZooKeeper",
        ),
    ],
)
def test_what_was_not_seen_is_named(given: BrokerFacts, premise: str, beginning: str) -> None:
    assert not_seen(given)[premise].startswith(beginning)
    assert all(row.provide for row in judged(given) if row.status is PremiseStatus.NOT_SEEN)


@pytest.mark.parametrize(
    ("given", "premise"),
    [
        (facts(log_dir(identity={"version": "1"}), clusters=(PremiseEvidence("m", "X"),)), "P101"),
        (facts(config=None), "P102"),
        (facts(config={**KRAFT, "node.id": "-1"}), "P102"),
        (facts(log_dir(identity=None)), "P102"),
        (facts(mode=Mode.ZOOKEEPER, config={"broker.id": "1"}), "P103"),
        (facts(log_dir(identity=None, directories=()), mode=Mode.ZOOKEEPER, config={"a": "b"}), "P103"),
        (facts(log_dir(identity=None), mode=Mode.ZOOKEEPER), "P104"),
        (facts(log_dir(identity=None), config=None, release=release("3.9")), "P104"),
        (facts(log_dir(identity=None), is_complete=False), "P104"),
        (facts(elected=QuorumState(1, 1, -1, None)), "P105"),
        (facts(log_dir(identity={"node.id": "1"})), "P106"),
        (facts(config=None, broker_id=None), "P106"),
        (facts(copies=(copy(voter_set=(Voter(3, "D3", ()),)),)), "P107"),
        (facts(log_dir(identity=None), copies=(copy(voter_set=(Voter(1, "D3", ()),)),)), "P107"),
        (facts(config={**KRAFT, "controller.quorum.voters": "x"}), "P108"),
        (facts(copies=(copy(1), copy(voters=frozenset({100, 101})))), "P201"),
        (facts(log_dir(is_readable=False), config={**KRAFT, "process.roles": "controller"}), "P202"),
        (facts(log_dir(directories=()), config={**KRAFT, "process.roles": "controller"}), "P202"),
        (facts(metadata_log_dir=None), "P203"),
        (facts(config={**KRAFT, "process.roles": "controller"}, broker_id=None), "P204"),
        (facts(image=None, copies=()), "P301"),
        (facts(LogDirFacts("d1", is_there=False), broker_id=None), "P302"),
        (facts(image=image(log_dirs=()), copies=(copy(of=image(log_dirs=())),)), "P301"),
        (facts(config=None, is_complete=False, copies=(copy(of=image(log_dirs=())),)), "P301"),
        (facts(copies=(copy(of=image(log_dirs=("D1", "D2"))),)), "P301"),
        (facts(log_dir(is_readable=False)), "P302"),
        (facts(is_complete=False, copies=(copy(of=image(log_dirs=("D1", "D2"))),)), "P302"),
        (facts(release=release("3.2"), copies=(), image=None), "P303"),
        (facts(copies=(), image=None, lost_copies=(LostCopy("c/m", 100, damage="m.log: offset 7"),)), "P303"),
        (facts(lost_copies=(LostCopy("c/m", 100, damage="m.log: offset 7"),)), "P353"),
        (facts(config=None), "P501"),
        (facts(release=release("2.8")), "P501"),
        (facts(broker_id=9), "P701"),
    ],
)
def test_where_nothing_shows_it_a_premise_is_silent(given: BrokerFacts, premise: str) -> None:
    assert premise not in {judgement.id for judgement in judged(given)}


@pytest.mark.parametrize(
    ("given", "premise"),
    [
        (
            facts(
                config={"broker.id": "-1"},
                mode=Mode.ZOOKEEPER,
                release=release("3.9"),
            ),
            "P303",
        ),
        (facts(log_dir(identity={"broker.id": "1"}), config={"a": "b"}, mode=Mode.ZOOKEEPER), "P103"),
        (facts(config={**KRAFT, "controller.quorum.voters": "9@a:1"}, elected=QuorumState(9, 1, -1, (9,))), "P105"),
        (facts(copies=(copy(voter_set=(Voter(1, "D1", ()),)),)), "P107"),
        (facts(config={**KRAFT, "controller.quorum.voters": "100@a:1"}), "P108"),
        (facts(copies=(copy(), copy(1))), "P201"),
        (facts(config={**KRAFT, "process.roles": "controller"}), "P202"),
        (facts(config={**KRAFT, "process.roles": "controller"}), "P204"),
        (facts(log_dir(shutdown_epoch=7)), "P701"),
    ],
)
def test_a_proven_premise(given: BrokerFacts, premise: str) -> None:
    assert premise in rows(given, PremiseStatus.PROVEN)


def test_many_partitions_are_named_three_at_a_time() -> None:
    partitions = {number: PartitionRegistration((1,), (1,)) for number in range(5)}
    cluster = ClusterImage({"t": TopicImage("t", None, partitions)})
    sentence = refuted(facts(log_dir(directories=(METADATA_LOG,)), image=cluster))["P302"]
    assert sentence.startswith("t-0, t-1, t-2 and 2 more would start empty")
    missing = facts(log_dir(directories=()), LogDirFacts("d2", is_there=False), image=cluster)
    assert refuted(missing)["P301"] == "log dir d2 is missing; 5 assigned partitions were there"


def test_a_relative_log_dir_leads_somewhere() -> None:
    given = facts(log_dir(), LogDirFacts("d2", is_there=False, resolved="/home/d2"))
    assert refuted(given)["P301"] == "log dir d2 is missing; the path is relative, and leads to /home/d2"


def test_replicas_that_a_reassignment_adds_need_no_directory() -> None:
    adding = image(2, 1, isr=(2,), adding=(1,))
    assert "P302" in rows(facts(log_dir(directories=(METADATA_LOG,)), image=adding), PremiseStatus.PROVEN)
