"""The voters, by the settings of the controllers, and by the voter set in the metadata."""

from collections.abc import Iterator

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import kept_to
from kcheck.core.premises.facts import BrokerFacts, VoterList
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise
from kcheck.model.cluster import Voter
from kcheck.model.premises import JudgedPremise, PremiseEvidence


def static_voters(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare controller.quorum.voters with the voters in quorum-state.

    A broker does not vote, so the lists of the controllers count, as far as their settings are known. The new voters
    are treated as empty, but for those whose copy has all that the other copies have.
    """
    known = _known(facts)
    own = VoterList(facts.broker_id, facts.config_path or "", facts.configured_voters)
    if known and "controller" in facts.roles and not own.voters and not any(copy.voter_set for copy in facts.copies):
        yield from _without_list(premise, facts, known)
        return
    lists = [*([own] if own.voters and _counts(facts) else []), *facts.voter_lists]
    if not known or not lists:
        return
    state = PremiseEvidence("quorum-state", f"voters {listed(known)}")
    evidence = (*(PremiseEvidence(row.path, f"voters {listed(row.voters)}") for row in lists), state)
    other = next((row for row in lists if row.voters != known), None)
    if other is None:
        yield proven(premise, facts, *evidence)
        return
    sentence = f"controller.quorum.voters is {listed(other.voters)}, quorum-state has {listed(known)}"
    if facts.release.compares_voters_with_quorum_state:
        ended = frozenset(row.node_id for row in lists if row.voters != known) & known
        if other is own or 2 * len(known - ended) <= len(known):
            yield refuted(premise, facts, sentence, *evidence)
        return
    keepers = _keepers(facts, known)
    if keepers and all(row.voters <= keepers for row in lists):
        yield proven(premise, facts, *evidence)
        return
    new = frozenset().union(*(row.voters for row in lists)) - known - keepers
    if not any(2 * len(row.voters & (known | keepers)) > len(row.voters) for row in lists):
        reason = f"{sentence}: no majority without {listed(new)}, and with empty logs these elect each other"
        yield refuted(premise, facts, reason, *evidence)
        return
    unseen = known - facts.emptied - {copy.node_id for copy in facts.copies}
    if unseen:
        reason = f"{sentence}: which of the controllers a majority of the new list elects is not known"
        yield not_seen(premise, facts, reason, f"the log dirs of voters {listed(unseen)}", *evidence)
        return
    behind = _behind(facts, lists, known)
    if behind is None:
        yield proven(premise, facts, *evidence)
    else:
        reason = f"{sentence}: controller {behind} lacks committed metadata, and the new list can elect it"
        yield refuted(premise, facts, reason, *evidence)


def _keepers(facts: BrokerFacts, known: frozenset[int]) -> frozenset[int]:
    """Return the new voters whose copy has every record, or a later snapshot, of every other copy here."""
    return frozenset(
        copy.node_id
        for copy in facts.copies
        if copy.node_id is not None and copy.node_id not in known
        if all(kept_to(other, copy) >= other.end and other.epoch <= copy.epoch for other in facts.copies)
    )


def _known(facts: BrokerFacts) -> frozenset[int]:
    """Return the voters in the quorum-state that counts; none without one.

    From 3.9 on, no broker reads the voters in its own file. Those in the file of a controller count first.
    """
    seats = facts.configured_voters.union(*(row.voters for row in facts.voter_lists))
    copies = sorted(facts.copies, key=lambda copy: copy.node_id not in seats)
    states = [facts.elected, *(copy.elected for copy in copies)]
    if not facts.release.compares_voters_with_quorum_state and facts.broker_id not in seats:
        states = [*states[1:], states[0]]
    return next((frozenset(state.voters) for state in states if state is not None and state.voters), frozenset())


def _without_list(premise: Premise, facts: BrokerFacts, known: frozenset[int]) -> Iterator[JudgedPremise]:
    """Look for controllers of a static quorum without a list of voters."""
    evidence = PremiseEvidence(facts.config_path or "", "no controller.quorum.voters")
    state = PremiseEvidence("quorum-state", f"voters {listed(known)}")
    sentence = f"controller.quorum.voters is missing, quorum-state has {listed(known)}: the metadata has no voter set"
    if known == {facts.broker_id}:
        yield refuted(premise, facts, sentence, evidence, state)
    elif 2 * len(known & {row.node_id for row in facts.voter_lists}) <= len(known):
        yield not_seen(premise, facts, sentence, "the server.properties of the other controllers", evidence, state)


def _counts(facts: BrokerFacts) -> bool:
    """Return whether the voter list in the settings of a node counts for the election of controllers.

    A broker that is no controller, but in its own list, ends before that (P108).
    """
    if facts.roles and "controller" not in facts.roles and facts.broker_id in facts.configured_voters:
        return False
    elects = "controller" in facts.roles or not facts.voter_lists
    return elects or facts.release.compares_voters_with_quorum_state


def _behind(facts: BrokerFacts, lists: list[VoterList], known: frozenset[int]) -> int | None:
    """Return a controller that lacks what most of the known voters have, and that the new lists can elect."""
    ends: dict[int | None, tuple[int, int]] = dict.fromkeys(facts.emptied & known, (-1, -1))
    ends |= {copy.node_id: (copy.epoch, copy.end) for copy in facts.copies if copy.node_id in known}
    committed = sorted(ends.values(), reverse=True)[len(known) // 2]
    for number, end in sorted(ends.items(), key=lambda item: (item[1], item[0] or 0)):
        for voters in (row.voters for row in lists if number in row.voters):
            votes = sum(voter not in ends or ends[voter] <= end for voter in voters)
            if end < committed and 2 * votes > len(voters):
                return number
    return None


def newest_voter_set(facts: BrokerFacts) -> MetadataCopy | None:
    """Return the newest copy of the metadata that has a voter set; None if the quorum is static."""
    copies = (copy for copy in facts.copies if copy.voter_set)
    return max(copies, key=lambda copy: (copy.epoch, copy.end), default=None)


def former_voter(facts: BrokerFacts) -> Voter | None:
    """Return the voter with the id of this node whose directory the node has lost; None without one.

    After a new format the node is an observer (KafkaRaftClient 3.9 to 4.3.1) and elects no leader.
    """
    newest = newest_voter_set(facts)
    ids = facts.directory_ids - {None}
    voters = () if newest is None or not ids else newest.voter_set
    return next((row for row in voters if row.voter_id == facts.broker_id and row.directory_id not in ids), None)


def listed(numbers: frozenset[int]) -> str:
    """Return ids in their order, as 1,2,3."""
    return ",".join(map(str, sorted(numbers)))
