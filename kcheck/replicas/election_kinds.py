"""Tells whether the controller can elect the leader of a truncation plan cleanly, by the metadata of its cluster."""

from collections.abc import Iterable

from kcheck.core.cluster.metadata_replay import METADATA_VERSION
from kcheck.core.election.election import BrokerStart, election_seat, eligible, seats_of, standing
from kcheck.core.election.fencing import fencing_order
from kcheck.core.replication.truncation_plans import TruncationPlan
from kcheck.core.start.strays import registers_cleanly
from kcheck.model.cluster import ClusterImage, PartitionRegistration, Seat, TopicImage
from kcheck.model.release import Release
from kcheck.replicas.loading import ReplicaFiles
from kcheck.replicas.replica import ReplicaState


class ElectionKinds:
    """The metadata of partitions whose brokers start, or with `live` keep running."""

    def __init__(self, image: ClusterImage, replicas: Iterable[ReplicaFiles], release: Release, *, live: bool) -> None:
        """Take the metadata, and the replicas whose log dirs say how their brokers stopped."""
        self._image, self._release, self._live = image, release, live
        self._kraft = release.is_kraft_only or METADATA_VERSION in image.features
        self._fenced = fencing_order(image.brokers, release) if self._kraft else ()
        self._clean: dict[int | None, bool] = {}
        for files in replicas:
            broker_id = files.view.where.broker_id
            self._clean[broker_id] = self._clean.get(broker_id, True) and self._is_clean(files, broker_id)

    def placed(self, plan: TruncationPlan, states: tuple[ReplicaState, ...]) -> TruncationPlan:
        """Return a plan with the metadata of its partition, by the topic id on disk, or else by name."""
        topic_id = next((state.topic_id for state in states if state.topic_id is not None), None)
        image = self._image
        topic = image.topics.get(plan.topic or "") if topic_id is None else image.topics_by_id.get(topic_id)
        registration = None if topic is None else topic.partitions.get(-1 if plan.partition is None else plan.partition)
        if topic is None or registration is None or plan.leader is None:
            return plan
        seat = self._seat(plan.leader, topic, registration)
        return plan._replace(registration=registration, seat=seat)

    def _seat(self, leader: int, topic: TopicImage, registration: PartitionRegistration) -> Seat:
        if self._live:
            is_clean = leader in eligible(seats_of(registration))
            return (Seat.ISR if registration.isr else Seat.ELR) if is_clean else Seat.NONE
        decides = standing(self._image, topic, registration, self._fenced, self._release, kraft=self._kraft)
        start = BrokerStart(leader, self._clean.get(leader, False))
        return election_seat(start, decides.seats, decides.rules)

    def _is_clean(self, files: ReplicaFiles, broker_id: int | None) -> bool:
        broker = None if broker_id is None else self._image.brokers.get(broker_id)
        return registers_cleanly(
            clean=files.view.clean_shutdown is not False,
            shutdown_epoch=None if files.log_dir is None else files.log_dir.shutdown_epoch,
            broker_epoch=None if broker is None else broker.epoch,
        )
