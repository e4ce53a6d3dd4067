"""KC401 to KC404: the replicas of one partition beside each other."""

from kcheck.core.releases.releases import release
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.rules import Scope
from kcheck.survey.rule_runner import check_replicas
from tests.rules.build import epochs, found_by_all, ids, partition


def replica(
    broker_id: int, *, log_end: int | None = 100, high_watermark: int | None = None, lines: bytes = b"0\n1\n0 0\n",
    topic_id: str | None = None,
) -> PartitionView:  # fmt: skip
    """Return the replica of a broker."""
    view = partition(epoch_file=epochs(lines), log_end=log_end, high_watermark=high_watermark, topic_id=topic_id)
    return view._replace(where=view.where._replace(broker_id=broker_id))


def found(*replicas: PartitionView, kafka: str = "4.3") -> list[tuple[str, int | None]]:
    """Return the findings and whose they are."""
    told = found_by_all(ReplicasView(replicas), Scope.REPLICAS, kafka)
    return [(finding.id, finding.where.broker_id) for finding in told]


def test_epochs_of_compacted_files_differ_if_no_compaction_explains_it() -> None:
    """A replica that fetched a compacted log learnt later of an epoch: brokers 1 and 2 of 4.3.1 had the first two."""
    lines = (
        b"0\n5\n0 0\n1 529\n2 778\n3 791\n4 897\n",
        b"0\n6\n0 0\n1 410\n2 778\n3 788\n4 897\n5 1229\n",
        b"0\n2\n0 0\n2 500\n",
    )
    replicas = tuple(replica(at + 1, lines=each, log_end=1229) for at, each in enumerate(lines))
    compacted = tuple(each._replace(cleaned=True) for each in replicas)
    assert [("KC402", 2), ("KC402", 3)] == found(*replicas)
    assert [("KC402", 3)] == found(*compacted)


def test_replicas_of_different_topics_are_not_compared() -> None:
    """A topic was deleted and made again; up to 2.7 nothing tells."""
    replicas = (replica(1, topic_id="a", high_watermark=80), replica(2, topic_id="b", log_end=0), replica(3, log_end=9))
    for kafka, expected in (("4.3", ["KC403", "KC404"]), ("2.7", ["KC403", "KC403"])):
        found = check_replicas(ReplicasView(replicas), release(kafka))
        assert sorted(each.id for each in found) == expected


def test_log_starts_that_differ_are_told() -> None:
    """Against the highest; what has nothing in common is a warning. Logs that touch have."""
    replicas = [replica(n, log_end=end) for n, end in ((1, 100), (2, 40), (3, 50), (4, None), (5, 60), (6, 9))]
    starts = (50, 10, 20, 5, 50, None)
    views = [view._replace(log_start_offset=start) for view, start in zip(replicas, starts, strict=True)]
    told = found_by_all(ReplicasView(tuple(views)), Scope.REPLICAS)
    rows = [(finding.id, finding.where.broker_id, str(finding.severity)) for finding in told]
    assert [("KC405", 2, "warning"), ("KC405", 3, "info"), ("KC405", 4, "info")] == rows
    assert not found(*(view._replace(log_start_offset=None) for view in views))


def test_a_partition_on_fewer_brokers_than_others_of_its_topic_is_told() -> None:
    for count, expected in ((0, []), (1, []), (2, ["KC406"])):
        assert expected == ids(found_by_all(ReplicasView((replica(1),), (), count), Scope.REPLICAS))
