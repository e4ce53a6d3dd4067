"""Finds replicas of a partition that end below the high watermark of another one."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.views import PartitionView, ReplicasView


class Lag(NamedTuple):
    """A replica that ends below the largest high watermark."""

    replica: PartitionView
    """The replica."""
    end: Offset
    """Its log end."""
    highest: PartitionView
    """The replica with the largest high watermark."""
    high_watermark: Offset
    """That high watermark."""

    @property
    def in_sync(self) -> bool:
        """True if the cluster lists the replica as in sync, by metadata that are as new as the high watermark."""
        cluster, certain = self.replica.in_cluster, self.highest.in_cluster
        registration = None if cluster is None else cluster.registration
        if registration is None or certain is None or not certain.is_certain:
            return False
        return self.replica.where.broker_id in registration.isr

    @property
    def words(self) -> str:
        """The two offsets in words."""
        other = self.highest.where.broker_id
        return f"the log end {self.end} is below the high watermark {self.high_watermark} of broker {other}"

    @property
    def data(self) -> Mapping[str, object]:
        """The two offsets for scripts."""
        other = self.highest.where.broker_id
        return {"log_end_offset": self.end, "high_watermark": self.high_watermark, "other_broker_id": other}


def lags(view: ReplicasView) -> Iterator[Lag]:
    """Yield the replicas whose log end is below the largest high watermark."""
    known = [(replica.high_watermark, replica) for replica in view.replicas if replica.high_watermark is not None]
    if not known:
        return
    mark, highest = max(known, key=lambda pair: pair[0])
    for replica in view.replicas:
        end = replica.log_end_offset
        if end is not None and end < mark and replica is not highest:
            yield Lag(replica, end, highest, mark)
