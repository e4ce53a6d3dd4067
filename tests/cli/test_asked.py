"""What an operator types about real incidents, and what kcheck has to say: `fixtures/asked`.

Real brokers wrote the disks, and were started on copies of them afterwards: each answer is what these showed.
"""

import contextlib
import re
import shlex
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.command import kcheck
from tests.oracle.scenes import FIXTURES

ASKED = FIXTURES / "asked"
TWO = "1=broker-1/data 2=broker-2/data"
THREE = "1=broker-1 2=broker-2 3=broker-3 --metadata controller"
SETTINGS = " ".join(f"{number}=broker-{number}/server.properties" for number in (1, 2, 3))


class Asked(NamedTuple):
    """A command, its exit code, and parts of its answer."""

    command: str
    code: int
    parts: tuple[str, ...]


def row(command: str, code: int, *parts: str) -> Asked:
    """Return a row of the table."""
    return Asked(command, code, parts)


START_1 = "preflight broker-1/server.properties"
OF_CLUSTER = "the disk of broker 1 is of cluster MkU3OEVBNTcwNTJENDM2Qg, the cluster is 1W8xkEnoQEev2B0rtHFLNw"
OF_NODE = "meta.properties says broker 1, but the settings name 7"
NO_ID = "no log dir has a meta.properties: with broker.id=-1 the broker gets a new id"
NOT_FORMATTED = "broker-5/data is not formatted or not mounted."
MISSING = "log dir broker-2/data1 is missing; 7 assigned partitions were there"
VOTERS_OF_D8 = "--metadata controller/data --metadata new-controller/data --metadata third-controller/data"
VOTERS = "controller.quorum.voters is 1,2,3, quorum-state has 1"
HISTORY = "the controllers have another history than broker 1"
LOST_LOG = "broker 1 is a controller with partitions and has lost __cluster_metadata-0"
EMPTY_ZOOKEEPER = "ZooKeeper has no topic: the 5 directories here are orphans"
OLD_COPY = "the disks are an old copy, made before broker 2 registered last (epoch 190 on disk, 338 in the cluster)"
HERE = "nothing that is on these disks is lost."
LED_LAST = "Not counted: broker 1: no log dir here has the log of orders-0, which broker 1 led last."
FIND = "First find the newest disk of broker 2"
AT_RISK = (
    "Records that only that disk has are not counted. Without that disk the records of solo-1 there are lost"
    " for good, because no other replica exists. clicks-2 can lose records, because broker 2 led it last."
    " Read kcheck help old-copy."
)
BY_ITSELF = "is in the log dir of its current log, and the broker cannot rename it"
EMPTIED = "solo-0 would start empty, because no directory is here and no other broker has a replica"
STRAYS = "2 -stray directories hold 90 records (old-1, solo-0)"
DELETED = "4 -delete directories hold 280 records"
KEEP_DELETED = "Next: mv broker-1/data/*-delete broker-1/data1/*-delete DIR/"
TOO_SMALL = "orders and 5 more topics have segment.bytes=16000; Kafka 4.3.1 refuses less than 1048576"
NO_ROLES = "Kafka 4.0 and later do not read zookeeper.connect; process.roles is missing"
HEAD = (
    "orders-1 begins at 180 here, its epochs at 0: as leader broker 1 makes the other replicas delete the records below"
)
KEYLESS = "audit is compacted; 90 records have no key: the cleaner deletes 75 at its first run"
ORPHAN = "1 directory holds 40 records of a topic that the cluster does not have (cust-0)"
FAILED = "the log dir with the metadata log, broker-3/data, fails"

ENDS = (
    "broker 2 ends when broker 1 leads orders-2: that log ends at 20, before the high watermark here. Brokers of 2.0.0"
    " and earlier then end"
)
NOT_LOOKED_AT = "whether the log of each leader is as long as the log here, or the broker ends"
OLD_THREE = "1=broker-1 2=broker-2 3=broker-3 --metadata zookeeper --kafka 1.1.1"

TOO_NEW = "metadata.version is 30, of Kafka 4.3: Kafka 3.9.2 does not start with these metadata"
HELD = (
    "KRaft controller 100 holds /controller in ZooKeeper, and broker 1 starts without"
    " zookeeper.metadata.migration.enable=true. No broker becomes the controller, and its partitions get no leader"
)
MIGRATES = "broker-1/migrating.properties"
TWO_MIGRATE = "1=broker-1/migrating.properties 2=broker-2/migrating.properties"

BY_FOLDER = "1=broker-1 2=broker-2 --metadata controller"
BY_SETTINGS = "1=broker-1/server.properties 2=broker-2/server.properties --metadata controller"

NO_STATE = "ZooKeeper has no state of t-0, t-1, and directories are here. The controller treats them as new partitions"
CREATED_AGAIN = "broker 2 stopped before t was created again in ZooKeeper. t-0, t-1, t-2 here are of the former topic"
OF_THREE = "--metadata controller-101/data1 --metadata controller-102/data1 --metadata controller-103/data1"
SECOND = "controller 103 elects itself by a voter set of its own (103). Its metadata ends at offset 0, the newest copy"

TABLE: dict[str, tuple[Asked, ...]] = {
    # kafka-storage.sh format --standalone for controller 103 of three, 4.3.1. It led, all nodes truncated their
    # metadata to its own, and each partition became stray.
    "second-quorum": (
        row(f"{START_1} --metadata controller-101/data1 --metadata controller-102/data1", 0, "may start"),
        row(f"{START_1} {OF_THREE}", 1, f"loss P824 {SECOND}"),
        row(f"preflight controller-103/server.properties {OF_THREE}", 1, f"loss P824 {SECOND}"),
        row(f"predict broker-1/server.properties {OF_THREE}", 1, SECOND),
        row(f"check broker-1 {OF_THREE}", 1, f"error KC315 {SECOND}"),
        row(f"elect 1=broker-1 2=broker-2 {OF_THREE}", 1, "start all brokers ? ? ? ?"),
        row("recover .", 1, "Next: kcheck preflight controller-103 --metadata controller-101/data1"),
        row("preflight controller-103 --metadata controller-101/data1", 1, f"loss P824 {SECOND}"),
        row("recover quorum .", 1, "Do not start 103 before. kcheck cluster shows the voters of that copy."),
        row("cluster .", 1, "controller 103 wins by a voter set of its own (103)"),
        row(".", 1, SECOND),
    ),
    # The znodes state of t-0 and t-1 were deleted. Broker 2 of 2.8.2 was back first and led, 15 records behind in each.
    "state-removed-2.8.2": (
        row(f"{START_1} --metadata zookeeper", 1, f"loss P825 {NO_STATE}"),
        row("predict broker-2/server.properties --metadata zookeeper", 1, NO_STATE),
        row("check 1=broker-1 2=broker-2 --metadata zookeeper", 1, f"error KC315 {NO_STATE}"),
        row("elect 1=broker-1 2=broker-2 --metadata zookeeper", 0, "start all brokers at most 30", "lead first 30"),
        row("recover 1=broker-1 2=broker-2 --metadata zookeeper", 1, "This plan: nothing is lost.", "1. Start"),
    ),
    # Topic t was deleted and created again while broker 2 of 2.8.2 was down, without topic ids. Broker 2 was back with
    # the old records, and led after the preferred election: no consumer could read the 25 new ones.
    "topic-created-again-2.8.2": (
        row("preflight broker-2/server.properties --metadata zookeeper", 1, f"loss P826 {CREATED_AGAIN}"),
        row("predict broker-2/server.properties --metadata zookeeper", 1, CREATED_AGAIN),
        row("check broker-2 --metadata zookeeper", 1, "error KC238 t-0"),
        row("elect 1=broker-1 2=broker-2 --metadata zookeeper", 1, "Then ask again: kcheck compares no leaders"),
        row("recover 1=broker-1 2=broker-2 --metadata zookeeper", 1, "Move these directories away before the broker"),
    ),
    # A migration of 3.9.2 in dual write. Without the migration both brokers started, and no partition had a leader.
    # With migrating.properties everything was served.
    "migration-given-up": (
        row(f"{START_1} --metadata zookeeper --kafka 3.9.2", 1, f"abort P373 {HELD}", "delete /controller"),
        row(f"{START_1} --metadata zookeeper --metadata controller/data", 1, f"abort P373 {HELD}"),
        row("predict broker-1/server.properties --metadata zookeeper --kafka 3.9.2", 1, HELD),
        row("check broker-1 --metadata zookeeper --kafka 3.9.2", 1, f"fatal KC315 {HELD}"),
        row(f"{START_1}", 1, "unknown P373 KRaft controllers led", "unknown P303", "with a controller's log dir"),
        row(f"preflight {MIGRATES} --metadata zookeeper --metadata controller/data", 0, "may start"),
        row(f"recover {TWO_MIGRATE} --metadata zookeeper --metadata controller/data", 0, "nothing is lost."),
    ),
    # Broker 1 was back with an older copy. Brokers 2 and 3 ended: "log truncation is not allowed".
    "follower-ends-1.1.1": (
        row("preflight broker-2/server.properties --metadata zookeeper --kafka 1.1.1", 0, "may start", NOT_LOOKED_AT),
        row(f"predict {OLD_THREE}", 1, ENDS, ENDS.replace("broker 2", "broker 3")),
        row(f"check {OLD_THREE}", 1, f"error KC315 orders-2: {ENDS}"),
        row(f"elect {OLD_THREE}", 1, f"Not counted: {ENDS}"),
    ),
    # log.dirs of broker 1 has data9 too, which the broker made.
    "made-log-dir-2.4.1": (
        row(f"{START_1} --metadata zookeeper --kafka 2.4.1", 0, "may start"),
        row(
            "predict broker-1/server.properties --metadata zookeeper --kafka 2.4.1", 0,
            "broker-1/data9 broker 1: will boot",
        ),
        row(f"{START_1} --kafka 2.4.1", 1, "abort P301 broker-1/data9: log dir broker-1/data9 is missing"),
    ),
    # The directories of data2 of broker 1 were moved by hand, and data2 left log.dirs. In 3.9.2 solo-2 had no leader.
    "moved-off-a-log-dir": (
        row(".", 1, "does not contain ./broker-1/data2, where the metadata has solo-2. The controllers elect no"),
        row(f"recover {BY_FOLDER}", 1, "Starting everything now: 1 partition may get no leader (solo-2)."),
        row(f"{START_1} --metadata controller", 1, "unknown P861 broker 1 led solo-2 last in a log dir"),
    ),
    # data2 of broker 1 is no more in log.dirs, and moves of its logs to data1 had begun. A broker of 3.9.2
    # made solo-2 again, empty, and led it.
    "move-interrupted": (
        row(f"{START_1} --metadata controller", 1, "loss P302 solo-2 would start empty"),
        row(f"elect {BY_FOLDER}", 1, "First add broker-1/data2 to log.dirs of broker 1", "as they are at most 40"),
        row(f"recover {BY_FOLDER}", 1, "at most 40 records are lost", "1. Add broker-1/data2 to log.dirs of broker 1."),
        row(f"elect {BY_SETTINGS}", 1, "solo-2 starts empty", "an unknown number of records are lost"),
        row(f"recover {BY_SETTINGS}", 1, "This plan: an unknown number of records are lost."),
        row(".", 1, "broker-1/data2, which alone has solo-2, t-2, t-3"),
    ),
    "cluster-id": (
        row(f"{START_1} --metadata controller/data", 1, f"abort P101 broker-1/data: {OF_CLUSTER}"),
        row("predict broker-1/data --metadata controller/data", 1, "will not boot", OF_CLUSTER),
        row("check broker-1/data broker-2/data controller/data", 1, f"fatal KC315 {OF_CLUSTER}", "1 fatal"),
        row(f"elect {TWO}", 1, "does not start: the disk of broker 1", "compares no leaders"),
        row(f"recover {TWO}", 1, f"Broker 1 should not start: {OF_CLUSTER}", "Solve that first, and ask again."),
        row("elect 1=broker-1/server.properties --metadata controller/data", 1, f"does not start: {OF_CLUSTER}"),
    ),
    "node-id": (
        row(START_1, 1, f"abort P102 broker-1/data: {OF_NODE}"),
        row("predict broker-1/data --config broker-1/server.properties", 1, "will not boot", OF_NODE),
        row("predict broker-1/server.properties", 1, "will not boot", OF_NODE),
        row("check broker-1/data --config broker-1/server.properties", 1, f"fatal KC315 {OF_NODE}"),
    ),
    "generated-broker-id": (
        row(f"{START_1} --metadata zookeeper", 1, f"abort P103 {NO_ID}", "14 replicas here belong to broker 1"),
        row(START_1, 1, NO_ID),
        row("check broker-1/server.properties", 1, f"fatal KC315 {NO_ID}"),
        row("predict broker-1/server.properties", 1, "will not boot", NO_ID),
        row("predict broker-1 --metadata zookeeper", 1, "Kafka 3.9", "will not boot", NO_ID),
        row("elect 1=broker-1 --metadata zookeeper", 1, "First repair broker 1 (2 steps, 112 bytes)"),
    ),
    "not-formatted": (
        row("preflight broker-5/server.properties", 1, f"abort P104 {NOT_FORMATTED}"),
        row("predict broker-5/server.properties", 1, "will not boot", NOT_FORMATTED),
        row("repair broker-5/server.properties", 1, NOT_FORMATTED),
        row("broker-5", 1, "will not boot", NOT_FORMATTED),
    ),
    "disk-gone": (
        row("broker-2", 1, "will not boot", MISSING),
        row("check 2=broker-2", 1, f"fatal KC315 {MISSING}"),
        row(f"elect {THREE}", 1, f"does not start: {MISSING}", "Start broker 1 first", "Then start 3."),
        row(f"elect {SETTINGS} --metadata controller", 1, "Start broker 1 first", "Then start 3."),
        row("preflight broker-2/server.properties --metadata controller", 1, f"abort P301 broker-2/data1: {MISSING}"),
        row(f"recover {THREE}", 1, "Broker 2 should not start: ", "1. Make broker 2 able to start: ",
            "Once every broker here can start, ask again",
            "had __transaction_state-0, clicks-2, old-0 and 4 more there. clicks-2 can lose records",
            "3. Let broker 1 lead clicks-2 before broker 3 starts, by an unclean election."),
    ),
    "voters-config": (
        row(START_1, 1, f"abort P105 {VOTERS}"),
        row("cluster broker-1/data", 1, f"fatal KC315 {VOTERS}"),
        row("check broker-1/data --config broker-1/server.properties", 1, f"fatal KC315 {VOTERS}"),
    ),
    "voters-started-first": (
        row(f"{START_1} {VOTERS_OF_D8}", 1, "abort P105 controller.quorum.voters is 101,102,103, quorum-state has 101",
            "abort P201 nodes 1 and 102 have two histories of the metadata"),
        row("preflight new-controller/server.properties --metadata controller/data --metadata third-controller/data", 1,
            "unknown P201 nodes 102 and 101 have two histories"),
        row("cluster controller/data new-controller/data third-controller/data", 1, "103 1 18 - can win"),
    ),
    "voter-formatted-again": (
        row("cluster broker-1 broker-2 broker-3", 1, "node 3 has directory wcx9J0mJ3gGPJ7r3BnZQRw, the voter set has",
            "remove-controller", "add-controller"),
        row("preflight broker-3/server.properties", 1, "not known", "unknown P204", "unknown P303"),
        row("preflight broker-3/server.properties --metadata broker-1 --metadata broker-2", 1, "unknown P302 early-0"),
        row(f"elect {SETTINGS}", 0, "Start brokers 1 and 2 together", "Then start 3", "nothing is lost"),
        row(f"recover {SETTINGS}", 0, "Starting everything now: nothing is lost.", "2. Start broker 3."),
    ),
    "controllers-reformatted": (
        row("new-controller", 1, "hether the cluster has topics is not known"),
        row("predict new-controller", 1, "the metadata of controller 100 has none, as after a format"),
        row(f"{START_1} --metadata new-controller", 1, f"abort P201 {HISTORY}"),
        row("predict broker-1/data --metadata new-controller", 1, "will not boot", HISTORY),
        row("cluster broker-1/data new-controller", 1, f"fatal KC315 {HISTORY}"),
        row(f"elect {TWO} --metadata new-controller", 1, HISTORY, "Do not start any node: kcheck recover quorum"),
        row(f"recover {TWO} --metadata new-controller", 1, "Bring the quorum of the controllers back"),
    ),
    "voters-without-metadata": (
        row(START_1, 1, f"abort P202 {LOST_LOG}"),
        row("preflight broker-3/server.properties", 1, "not known", "name --metadata with the log dirs of controllers"),
        row(f"elect {SETTINGS}", 1, "node 3, is older than orders-2 on the disks and does not have late.",
            "Do not start any of them. Without a newer copy: kcheck recover metadata"),
        row(f"recover {SETTINGS}", 1, "2 of 3 controllers have lost their metadata (1 and 2)"),
        row("check 1=broker-1 2=broker-2 3=broker-3", 1, f"fatal KC315 {LOST_LOG}"),
        row("cluster broker-1 broker-2 broker-3", 1, f"fatal KC315 {LOST_LOG}"),
    ),
    "zookeeper-lost-2.4.1": (
        row("check broker-1/data --metadata empty-zookeeper", 1, f"error KC315 {EMPTY_ZOOKEEPER}",
            "kcheck recover metadata --zookeeper", "Do not create the topics by hand."),
        row("check broker-1/data --metadata zookeeper", 0, "cust-0: the cluster has no topic of this name"),
        row("predict broker-1/data --metadata zookeeper", 1, "cust-0: stray"),
        row(f"{START_1} --metadata zookeeper", 1, "stray broker-1/data/cust-0"),
        row("elect 1=broker-1 --metadata zookeeper", 1, f"broker 1: {ORPHAN}", "every partition gets a leader"),
        row("recover 1=broker-1 --metadata zookeeper", 1, f"Not counted: broker 1: {ORPHAN}"),
    ),
    "zookeeper-lost-3.9.2": (
        row("check broker-1/data --metadata empty-zookeeper", 1, f"error KC315 {EMPTY_ZOOKEEPER}"),
        row("check broker-1/data --metadata zookeeper", 1, "error KC235 orders-0/partition.metadata"),
        row("predict broker-1/data --metadata zookeeper", 1, "will boot but not serve 4 partitions", "orders-0: stray"),
        row(f"{START_1} --metadata zookeeper", 1, "stray broker-1/data/orders-0"),
        row("repair broker-1/data --metadata zookeeper", 0, "move aside orders-0/partition.metadata"),
        row("elect 1=broker-1 --metadata zookeeper", 1, f"broker 1: {ORPHAN}",
            "First repair broker 1 (2 steps): then, under the best leaders, no election loses a record."),
    ),
    "combined-nodes": (
        row(f"elect {SETTINGS}", 0, "Start brokers 1 and 2 together", "Then start 3.", "nothing is lost"),
        row(f"recover {SETTINGS}", 0, "1. Start brokers 1 and 2 together", "2. Start broker 3."),
        row("preflight broker-3/server.properties", 1, "not known"),
    ),
    "fresh-volume-zookeeper": (
        row(f"{START_1} --metadata zookeeper", 1, "loss P302 orders-0 may lead here without a directory"),
        row(f"elect {TWO} --metadata zookeeper", 1, "Start broker 2 first", "saves 80 records", LED_LAST, HERE),
        row(f"recover {TWO} --metadata zookeeper", 1, "80 records are lost, all of them", LED_LAST, f"plan: {HERE}"),
        row(f"elect {TWO}", 1, "Not counted: broker 1: broker-1/data has no partitions"),
        row("predict 1=broker-1/data --metadata zookeeper", 1, "orders-0 may lead here without a directory"),
    ),
    "empty-disk-repaired": (
        row("preflight broker-2/server.properties", 1, "not known"),
        row("preflight broker-2/server.properties --metadata controller", 1, "solo-1 would start empty"),
        row(f"elect {THREE} --topic solo", 1, "solo-1 starts empty: no disk here has its log."),
        row(f"elect {THREE}", 1, "orders-0, orders-3, solo-1 and 1 more start empty",
            "an unknown number of records are lost"),
    ),
    "internal-topics-removed": (
        row(f"elect {SETTINGS} --metadata controller", 1, "__consumer_offsets-0, __transaction_state-0 start empty"),
        row(f"recover {SETTINGS} --metadata controller", 1, "at most 85 records are lost"),
        row(f"{START_1} --metadata controller", 1, "__consumer_offsets-0, __transaction_state-0 have no directory"),
        row("preflight broker-3/server.properties --metadata controller", 1, "__transaction_state-0 may lead here"),
        row("check 1=broker-1 2=broker-2 3=broker-3", 1, "it hangs, because its coordinator does not have it"),
    ),
    "first-segment-missing": (
        row(f"elect {THREE} --partition orders-1", 0, f"Broker 1: {HEAD}", "180 records are lost, all of them"),
        row("truncation 1=broker-1 2=broker-2 3=broker-3 --partition orders-1 --leader 1", 1, "deleted: offsets 0-179"),
        row("check 1=broker-1 2=broker-2 3=broker-3 --partition orders-1", 1, "error KC203"),
        row(f"{START_1} --metadata controller", 1, f"loss P304 broker-1/data: {HEAD}"),
        row(f"recover {THREE} --partition orders-1", 1, "180 records are lost, all of them", "Move 1 directory of"),
    ),
    "files-removed": (
        row(f"{START_1} --metadata controller", 1, "orders-1 has no segment with offsets 180-359",
            "note: orders-3 begins at 180", "note: orders-2 has no segment"),
        row("repair broker-1/server.properties --metadata controller --against broker-2", 1, "move aside data/orders-1",
            "move aside data/orders-2", "move aside data1/orders-3"),
    ),
    "zookeeper-settings-on-4": (
        row(f"{START_1} --kafka 4.3.1", 1, f"abort P501 {NO_ROLES}"),
        row("predict broker-1/server.properties --kafka 4.3.1", 1, "will not boot", NO_ROLES),
    ),
    "segment-bytes-refused": (
        row(f"{START_1} --kafka 4.3.1", 1, f"abort P503 {TOO_SMALL}"),
        row("predict broker-1/server.properties --kafka 4.3.1", 1, "will not boot", TOO_SMALL),
    ),
    "power-loss": (
        row("predict broker-3/server.properties", 1, "will not boot", FAILED),
        row("preflight broker-3/server.properties --allow offline --allow loss", 1, f"abort broker-3/data: {FAILED}",
            "should not start"),
        row(f"elect {THREE}", 1, "First repair broker 3 (1 step, 14 bytes)", "follow the plan 0 0"),
        row(f"recover {THREE}", 1, "14 partitions get no leader", "Broker 3 cannot start",
            "This plan: nothing is lost."),
    ),
    "power-loss-3.9.2": (
        row(f"elect {THREE}", 1, "follow the plan at most 85", "at most 30"),
        row(f"elect {THREE} --partition old-1", 1, "start all brokers 20 20"),
        row("predict 3=broker-3 --partition old-1", 1, "LOST 20 records (offsets 20-39)"),
        row(f"recover {THREE}", 1, "at most 306 records are lost", "This plan: at most 85 records"),
    ),
    "old-copy-of-a-disk": (
        row("preflight broker-2/server.properties", 1, "not known"),
        row("preflight broker-2/server.properties --metadata controller", 1, f"loss P701 {OLD_COPY}"),
        row("preflight broker-2/server.properties --metadata controller --allow elr", 1, f"loss P701 {OLD_COPY}"),
        row(f"elect {THREE}", 1, f"{FIND}: {OLD_COPY}. {AT_RISK}", "saves 40 records", f"and {HERE}"),
        row(f"recover {THREE}", 1, f"{FIND}: {OLD_COPY}. {AT_RISK}", f"This plan: {HERE}", "Let broker 1 lead"),
        # Of 3.9.2 no node started: "No MetadataVersion with feature level 30". The controllers have lost nothing.
        row(f"recover {THREE} --kafka 3.9.2", 1, f"1. Make broker 1 able to start: {TOO_NEW}"),
        row(f"{START_1} --metadata controller --kafka 3.9.2", 1, f"abort broker-1/data: {TOO_NEW}"),
    ),
    "unclean-election-happened": (
        row(f"elect {THREE} --topic old --save-lost saved", 1, "start all brokers 80 80", "Saved 90 records of 6"),
        row("check 1=broker-1 2=broker-2 3=broker-3 --topic old", 1, "error KC254 old-1: an unclean election of epoch"),
        row(f"recover {THREE} --topic old", 1, "Starting everything now: 80 records are lost"),
        row(f"{START_1} --metadata controller", 1, "P602"),
    ),
    "future-only": (
        row(START_1, 1, "30 records (offsets 0-29) lost"),
        row("predict broker-1/server.properties", 1, "will boot but lose 30 records"),
        row("repair broker-1/server.properties", 0, "KC316: rename it to aa-0"),
        row("elect 1=broker-1/server.properties", 1, "First repair broker 1 (1 step)"),
        row("broker-1/server.properties", 1, "will boot but lose 30 records", "error KC316"),
        row("recover 1=broker-1/server.properties", 1, "30 records are lost", "This plan: nothing is lost."),
    ),
    "future-beside-current": (
        row(START_1, 1, "abort", BY_ITSELF),
        row("predict broker-1/server.properties", 1, "will not boot", BY_ITSELF),
        row("repair broker-1/server.properties", 0, "KC317: move the -future directory out"),
    ),
    "directories-moved": (
        row(f"{START_1} --metadata controller", 1, "state-1 exists twice"),
        row("preflight broker-2/server.properties --metadata controller", 1, "orders-2.bak is not a valid partition"),
        row(f"elect {SETTINGS} --metadata controller", 1, "First repair brokers 1 and 2 (1 step each)"),
        row(f"recover {SETTINGS} --metadata controller", 1, "3 partitions get no leader", "1. Broker 1 cannot start"),
    ),
    "topic-deleted": (
        row("broker-1", 1, "will boot but lose 140 records", DELETED, "removes them 600 s after its start",
            KEEP_DELETED),
        row("predict broker-1", 1, DELETED, KEEP_DELETED),
        row(START_1, 1, DELETED, "removes them 600 s after its start"),
        row("cluster controller --topic old", 0, "topic old was deleted at offset 394"),
        row(f"elect {THREE}", 1, "Not counted: brokers 1, 2 and 3: 12 -delete directories hold 840 records of deleted"),
        row(f"recover {THREE}", 1, "Not counted: brokers 1, 2 and 3: 12 -delete directories", "move 4 -delete"),
    ),
    "topic-deleted-put-back": (
        row(f"{START_1} --metadata controller", 1, "old-0"),
        row("check 1=broker-1 --metadata controller --topic old", 1, "KC235"),
        row("repair broker-1/server.properties --metadata controller --adopt", 0, "old-0/partition.metadata"),
    ),
    "wrapper-reaches-back": (
        row("check broker-1/data --depth records --kafka 0.10.2", 1, "error KC170", "it holds offsets 0-29"),
        row("predict broker-1/data --kafka 0.10.2", 1, "will not boot", "InvalidOffsetException"),
    ),
    "quiet-broker": (
        row("broker-1/data --severity info", 0, "warning KC252 fut-0: a record of the year 58,875",
            "group g is at 5 of ooo-0", "group h is at 500 of txt-0", "info KC602 txt-0"),
        row("elect 1=broker-1/data", 0, "offsets beyond the log end"),
    ),
    "hanging-transaction": (
        row("broker-1 --severity info", 0, "info KC602 payments-0: transaction of producer 4000"),
        row(f"elect {SETTINGS} --metadata controller", 0, "nothing is lost"),
        row(f"recover {SETTINGS} --metadata controller", 0, "Starting everything now: nothing is lost."),
    ),
    "keyless-records-compacted": (
        row("broker-1", 1, KEYLESS),
        row("check 1=broker-1 --depth records", 0, "warning KC253 audit-0"),
        row(START_1, 1, f"loss P801 {KEYLESS}"),
        row("elect 1=broker-1", 1, f"Not counted: broker 1: {KEYLESS}", "First: "),
        row("recover 1=broker-1", 1, f"Not counted: broker 1: {KEYLESS}"),
    ),
    "stray-directories": (
        row("broker-1", 1, STRAYS, "solo-0 has no other copy"),
        row("predict broker-1/server.properties", 1, STRAYS, EMPTIED),
        row(f"{START_1} --metadata controller", 1, f"loss P302 {EMPTIED}", STRAYS),
        row(f"elect {SETTINGS} --metadata controller", 1, "First repair broker 1 (1 step)", "50 records are lost"),
        row(f"elect {SETTINGS} --metadata broker-1/data --metadata controller", 1, "First repair broker 1 (1 step)"),
        row(f"recover {SETTINGS} --metadata controller", 1, "50 records are lost", "This plan: nothing is lost."),
        row(f"recover {SETTINGS} --metadata broker-1/data --metadata controller", 1, "This plan: nothing is lost."),
    ),
    "wrappers-diverge": (
        row("truncation 1=plain/broker-1 2=plain/broker-2 --kafka 0.10.2 --leader 1", 1, "DIVERGES from offset 15"),
        row("truncation 1=gzip/broker-1 2=gzip/broker-2 --kafka 0.10.2 --leader 1", 1, "DIVERGES from offset 15"),
        row("elect 1=gzip/broker-1 2=gzip/broker-2 --kafka 0.10.2", 1, "Under the best leaders 15 records are lost"),
        row("recover 1=gzip/broker-1 2=gzip/broker-2 --kafka 0.10.2", 1, "Under the best leaders 15 records are lost"),
    ),
}  # fmt: skip
"""What is asked of each incident."""


def test_every_incident_is_asked() -> None:
    """No folder is kept without a question."""
    assert sorted(TABLE) == sorted(path.name.removesuffix(".tar.xz") for path in ASKED.glob("*.tar.xz"))


@pytest.mark.parametrize("name", TABLE)
def test_an_incident(name: str, tmp_path: Path) -> None:
    """Every verb says what the real brokers showed."""
    with tarfile.open(ASKED / f"{name}.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    (tmp_path / "empty-zookeeper" / "version-2").mkdir(parents=True, exist_ok=True)
    wrong = []
    with contextlib.chdir(tmp_path):
        for command, code, parts in TABLE[name]:
            ended = kcheck(*shlex.split(command), columns=200)
            text = " ".join((ended.out + ended.err).split())
            wrong += [f"{command}: exit {ended.code}, not {code}"] if ended.code != code else []
            wrong += [f"{command}: {part!r} is not in: {text}" for part in parts if part not in text]
    assert [] == wrong


@pytest.mark.parametrize(
    ("name", "place", "commands"),
    [
        (
            "combined-nodes",
            "broker-1/data/__cluster_metadata-0/00000000000000000000.log",
            {
                "preflight broker-2/server.properties --metadata broker-1": 1,
                f"elect {SETTINGS} --metadata broker-1": 0,
                f"recover {SETTINGS}": 0,
            },
        ),
        (
            "fresh-volume-zookeeper",
            "zookeeper/version-2/log.1",
            {f"{START_1} --metadata zookeeper": 1, f"elect {TWO} --metadata zookeeper": 1},
        ),
    ],
)
def test_damaged_metadata(name: str, place: str, commands: dict[str, int], tmp_path: Path) -> None:
    """They decide nothing, and are no usage error: what others say counts, or nothing is known."""
    with tarfile.open(ASKED / f"{name}.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    path = tmp_path / place
    data = bytearray(path.read_bytes())
    data[1_500] ^= 1
    path.write_bytes(data)
    with contextlib.chdir(tmp_path):
        ended = {command: kcheck(*shlex.split(command), columns=200) for command in commands}
    assert commands == {command: one.code for command, one in ended.items()}
    out = " ".join(next(iter(ended.values())).out.split())
    assert re.search(r"cannot be read in full \(.+\); name --metadata with another copy", out)
