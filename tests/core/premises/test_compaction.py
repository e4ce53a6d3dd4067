"""P801: records without key in compacted topics that were never cleaned."""

from kcheck.core.premises.facts import BrokerFacts, KeylessLog
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseStatus


def rows(*logs: KeylessLog, looked: bool = True, has_image: bool = True) -> list[JudgedPremise]:
    """Return the judgements of P801."""
    image = ClusterImage({}) if has_image else None
    facts = BrokerFacts(1, release("3.9"), Mode.KRAFT, (), image=image, image_path="m")
    facts = facts._replace(keyless_logs=logs if looked else None)
    return [row for row in judged(facts) if row.id == "P801"]


def log(topic: str, number: int, records: int, removed: int) -> KeylessLog:
    """Return a log with records without key."""
    return KeylessLog(TopicPartition(topic, number), "d", records, removed)


def test_what_the_cleaner_deletes() -> None:
    """Each topic once, with all of its partitions here."""
    audit, young = rows(log("audit", 0, 60, 50), log("audit", 1, 30, 25), log("young", 0, 1, 0))
    assert (audit.status, young.status) == (PremiseStatus.REFUTED, PremiseStatus.REFUTED)
    assert audit.sentence.startswith(
        "audit is compacted; 90 records have no key: the cleaner deletes 75 at its first run; set cleanup.policy=delete"
    )
    assert [row.path for row in audit.evidence] == ["d/audit-0", "d/audit-1"]
    assert "1 record has no key: the cleaner deletes them once their segment rolls" in young.sentence


def test_where_there_are_none() -> None:
    """That proves it; without metadata, or if nobody looked, nothing is said."""
    (row,) = rows()
    assert row.status is PremiseStatus.PROVEN
    assert not rows(looked=False)
    assert not rows(has_image=False)
