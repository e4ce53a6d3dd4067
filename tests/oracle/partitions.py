"""Partitions of which a cluster knows before a broker of it has run: their files can be written before the start."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kcheck.formats import meta_properties, partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.names import META_PROPERTIES, PARTITION_METADATA
from tests.builders import write
from tests.oracle.histories import topic_id
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster

TOPICS = Path(__file__).parent / "java" / "Topics.java"


class Led(NamedTuple):
    """Who has partition 0 of a topic; the first leads unless another is named."""

    replicas: Sequence[int]
    leader_epoch: int
    leader: int | None = None
    """The leader, if it is not the first replica; it is alone in sync."""
    settings: str = ""
    """NAME=VALUE,... of the topic; in KRaft mode alone."""

    @property
    def first_leader(self) -> int:
        """The broker that leads."""
        return self.replicas[0] if self.leader is None else self.leader


def make_known(cluster: Cluster, topics: Mapping[str, Led]) -> None:
    """Put topics into the metadata of a cluster that is not yet started (ZooKeeper, or KRaft from 4.0); start that."""
    if cluster.mode == "zk":
        cluster.beside.start()
        lines = ["create /brokers null", "create /brokers/topics null"]
        for topic, led in topics.items():
            path = f"create /brokers/topics/{topic}"
            leader = led.first_leader
            state = f'"leader":{leader},"version":1,"leader_epoch":{led.leader_epoch},"isr":[{leader}]'
            replicas = ",".join(map(str, led.replicas))
            lines.append(f'{path} {{"version":1,"partitions":{{"0":[{replicas}]}}}}')
            lines += [f"{path}/partitions null", f"{path}/partitions/0 null"]
            lines.append(f'{path}/partitions/0/state {{"controller_epoch":0,{state}}}')
        server = f"127.0.0.1:{cluster.beside.port}"
        run_java(
            cluster.version, "org.apache.zookeeper.ZooKeeperMain", "-server", server, stdin="\n".join([*lines, ""])
        )
        return
    logs = {number: broker.log_dirs[0] for number, broker in cluster.brokers.items()}
    directory_ids = {
        number: meta_properties.parse((log / META_PROPERTIES).read_bytes()).value.properties["directory.id"]
        for number, log in logs.items()
    }
    rows = []
    for topic, led in topics.items():
        metadata = partition_metadata.serialize(PartitionMetadata(0, topic_id(topic)))
        for number in led.replicas:
            write(logs[number] / f"{topic}-0", {PARTITION_METADATA: metadata})
        replicas, ids = ",".join(map(str, led.replicas)), ",".join(directory_ids[number] for number in led.replicas)
        rows.append(
            f"{topic} {topic_id(topic)} 0 {replicas} {ids} {led.leader_epoch} {led.first_leader} {led.settings}\n"
        )
    run_java(cluster.version, TOPICS, str(cluster.beside.log_dirs[0]), stdin="".join(rows))
    cluster.beside.start()
