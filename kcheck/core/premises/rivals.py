"""A premise about controllers that elect a second leader by voters of their own."""

from collections.abc import Iterator

from kcheck.core.cluster.quorum import rival_copy
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.voters import listed, newest_voter_set
from kcheck.model.premises import JudgedPremise, PremiseEvidence

ONE_QUORUM = "P824"
"""The premise that no controllers elect a second leader by other voters."""


def one_quorum(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for given controllers that win an election by a voter set that is not the newest one."""
    newest, rival = newest_voter_set(facts), rival_copy(facts.copies)
    if newest is None:
        return
    evidence = PremiseEvidence(newest.path, f"voters {listed(newest.voters)}, end {newest.end}")
    if rival is None:
        yield proven(premise, facts, evidence)
        return
    why = "itself" if rival.voters == {rival.node_id} else "a leader"
    sentence = (
        f"controller {rival.node_id} elects {why} by a voter set of its own ({listed(rival.voters)}). Its metadata ends"
        f" at offset {rival.end}, the newest copy at {newest.end}. Its log dir was formatted with voters again, or"
        " is an old copy"
    )
    own = PremiseEvidence(rival.path, f"voters {listed(rival.voters)}, end {rival.end}")
    yield refuted(premise, facts, sentence, own, evidence)


TABLE = (
    Premise(
        ONE_QUORUM, PremiseKind.METADATA, "No controllers elect a second leader by other voters.",
        "No given controller wins by an older or other voter set.",
        "A given controller has its directory.id in a voter set of its own copy. The given log dirs have a majority of"
        " that set, which is not the newest one.",
        "Two leaders are elected. Nodes that follow the second one truncate their metadata, and brokers rename every"
        " partition to -stray.",
        "Do not start that controller. Copy its log dir aside. Then format the log dir with kafka-storage.sh format"
        " --no-initial-controllers. Once a majority of the others runs, add the"
        " controller (kafka-metadata-quorum.sh).",
        "VoterSet, KafkaRaftClient 3.9 to 4.3.1", one_quorum, ends_start=False, cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
