"""Every premise, and the judgement of a broker by all of them."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from kcheck.core.election.first_rescue import MetadataHere
from kcheck.core.premises import (
    addresses,
    age,
    batches,
    clones,
    compaction,
    elections,
    followers,
    identity,
    joining,
    last_logs,
    log_ranges,
    metadata,
    migration,
    mounts,
    names,
    presence,
    providers,
    remote,
    resources,
    retention,
    rights,
    rivals,
    settings,
    short_leaders,
    zookeeper_sessions,
)
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.identity import FORMATTED, NODE_ID
from kcheck.core.premises.metadata import MAJORITY_STARTS
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import TOPICS_THERE
from kcheck.core.premises.short_leaders import FOLLOWS_NO_SHORTER
from kcheck.core.premises.voters import former_voter
from kcheck.model.premises import SAME_HISTORY, JudgedPremise, PremiseStatus

_ALL = (
    *identity.TABLE, *metadata.TABLE, *presence.TABLE, *log_ranges.TABLE, *followers.TABLE, *batches.TABLE,
    *rights.TABLE, *resources.TABLE, *settings.TABLE, *elections.TABLE, *age.TABLE, *compaction.TABLE, *retention.TABLE,
    *remote.TABLE, *joining.TABLE, *short_leaders.TABLE, *migration.TABLE, *addresses.TABLE, *zookeeper_sessions.TABLE,
    *providers.TABLE, *names.TABLE, *clones.TABLE, *rivals.TABLE, *mounts.TABLE, *last_logs.TABLE,
)  # fmt: skip
PREMISES = tuple(sorted(_ALL, key=lambda premise: premise.id))
"""In the order of their ids."""
BY_ID = {premise.id: premise for premise in PREMISES}


OTHER_RECORDS = frozenset((names.OWN_NAME, age.OF_TOPIC, identity.TOPIC_IDS))
"""The premises without which directories have records of another partition or topic. No leaders are compared then."""


def _ids(has: Callable[[Premise], object]) -> frozenset[str]:
    return frozenset(premise.id for premise in PREMISES if has(premise))


NAMED_BY_RULES = _ids(lambda premise: premise.rules)
"""The premises about logs, which `check` reports by other rules than KC315."""
OF_OTHERS = _ids(lambda row: row.kind is PremiseKind.IDENTITY and row.ends_start) - {FORMATTED}
"""The premises without which disks, settings or arguments are perhaps of another broker or cluster."""
HOLES = _ids(lambda premise: premise.cost is PremiseCost.HOLE)
"""The premises without which a follower lacks what it does not fetch from its leader."""
REMOVED = _ids(lambda premise: premise.cost is PremiseCost.REMOVED)
"""The premises without which a broker removes records that its disk has now."""
UNCOUNTED = REMOVED | _ids(lambda premise: premise.cost is PremiseCost.UNCOUNTED)
"""The premises without which a broker loses what no election counts."""
WRONG_METADATA = _ids(lambda premise: premise.cost is PremiseCost.METADATA)
"""The premises that make the metadata useless for the next election if they are refuted."""
COUNTED = _ids(lambda premise: premise.is_counted)
"""The premises whose costs the losses of partitions contain."""
MAY_LACK = _ids(lambda premise: premise.may_lack)
"""The premises that leave open, where they are not seen, which records a log lacks."""
OF_QUORUM = _ids(lambda premise: premise.is_of_quorum)
"""The premises without which the metadata is brought back before any broker starts."""
ENDS_START = _ids(lambda premise: premise.ends_start)
"""The premises without which the broker does not start."""
TAKES_OFFLINE = _ids(lambda premise: premise.takes_offline)
"""The premises without which a log dir goes offline."""


def with_premises(here: MetadataHere, judgements: Iterable[JudgedPremise]) -> MetadataHere:
    """Return the places of a cluster's metadata. The premises of its nodes add the facts about its controllers."""
    rows = [row for row in judgements if row.status is PremiseStatus.REFUTED]
    refuted = {row.id for row in rows}
    ended = {
        row.broker_id: row.sentence
        for row in reversed(rows)
        if row.broker_id is not None and row.id in ENDS_START - OF_QUORUM
    }
    return here._replace(
        outrun=SAME_HISTORY in refuted,
        stopped=NODE_ID not in refuted and not OF_QUORUM.isdisjoint(refuted - {SAME_HISTORY}),
        ended=tuple(sorted(ended.items())),
        emptied=TOPICS_THERE in refuted,
    )


def why_not_started(judgements: Iterable[JudgedPremise]) -> str | None:
    """Return why the broker does not start by its refuted premises; None if they let it start."""
    refuted = (judgement for judgement in judgements if judgement.status is PremiseStatus.REFUTED)
    return next((judgement.sentence for judgement in refuted if judgement.id in ENDS_START), None)


def why_offline(judgements: Iterable[JudgedPremise]) -> dict[str, str]:
    """Return why log dirs go offline by the refuted premises, by path."""
    return {
        judgement.log_dir: judgement.sentence
        for judgement in judgements
        if BY_ID[judgement.id].takes_offline
        and judgement.status is PremiseStatus.REFUTED
        and judgement.log_dir is not None
    }


def judged(facts: BrokerFacts) -> tuple[JudgedPremise, ...]:
    """Return the judgement of every premise that applies, by the files of a broker.

    Disks of another broker show nothing about the logs of this one.
    """
    rows = tuple(judgement for premise in PREMISES for judgement in premise.judge(premise, facts))
    if not any(row.id == NODE_ID and row.status is PremiseStatus.REFUTED and row.log_dir is not None for row in rows):
        return rows
    return tuple(row for row in rows if row.id in ENDS_START and not presence.lacks_log_dirs(row))


def judged_together(
    facts: Mapping[object, BrokerFacts], aborted: Container[object]
) -> dict[object, tuple[JudgedPremise, ...]]:
    """Return the judgements about several brokers; `aborted` are brokers whose log dirs prevent their start.

    A controller that does not start, or has no vote, is missing in the quorum of the others.
    """
    if len(facts) > 1:
        facts = clones.with_clones(names.with_names(addresses.with_peers(followers.with_followers(facts))))
    alone = {broker: judged(own) for broker, own in facts.items()}
    ended = {broker for broker, rows in alone.items() if broker in aborted or why_not_started(rows) is not None}
    missing = {broker for broker, own in facts.items() if broker in ended or former_voter(own) is not None}
    stopped = frozenset(number for broker in missing if (number := facts[broker].broker_id) is not None)
    running = {broker: own for broker, own in facts.items() if broker not in ended}
    running = short_leaders.with_leaders(running) if len(running) > 1 else running
    return {
        broker: rows
        if broker in ended
        else (*rows, *_together(running[broker]._replace(stopped=stopped | facts[broker].stopped)))
        for broker, rows in alone.items()
    }


def _together(facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Yield the judgements that need the nodes that do not start."""
    for premise in (BY_ID[MAJORITY_STARTS], BY_ID[FOLLOWS_NO_SHORTER]):
        yield from premise.judge(premise, facts)
