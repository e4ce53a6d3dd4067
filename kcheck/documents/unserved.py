"""The records in directories that a broker does not serve, as a sentence and as a row."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kcheck.core.start.predictions import PartitionPrediction, records_words
from kcheck.core.start.startup import Outcome
from kcheck.core.start.unserved import Unserved
from kcheck.core.sums import known_sum
from kcheck.documents.strays import removal_words
from kcheck.model.names import DirectoryState
from kcheck.model.report import Row
from kcheck.words import LISTED_MAX, agree, broker_names, listed, partition_name, some_of

if TYPE_CHECKING:
    from kcheck.core.election.misplaced import OtherLog

_KINDS = {DirectoryState.STRAY: "-stray ", DirectoryState.DELETED: "-delete ", DirectoryState.CURRENT: ""}


def not_counted_words(rows: Iterable[Unserved]) -> Iterator[str]:
    """Yield what no election counts, as a sentence a kind for all brokers that have such directories."""
    by_state: dict[tuple[DirectoryState, bool, bool], list[Unserved]] = {}
    for row in rows:
        by_state.setdefault((row.state, row.is_deleting, row.is_ordered), []).append(row)
    for own in by_state.values():
        every = own[0]._replace(
            directories=tuple(directory for row in own for directory in row.directories),
            held=tuple(loss for row in own for loss in row.held),
        )
        brokers = broker_names(sorted(row.broker_id for row in own if row.broker_id is not None), LISTED_MAX)
        yield f"Not counted: {brokers}: {unserved_words(every)}."


def unserved_words(unserved: Unserved) -> str:
    """Return the records of the directories, their fate, and the first step."""
    count = len(unserved.directories)
    names = dict.fromkeys(partition_name(*row.directory[:2]) for row in unserved.directories)
    kind = _KINDS[unserved.state]
    held = f"{count} {kind}{agree(count, 'directory holds', 'directories hold')} {records_words(unserved.held)}"
    them = agree(count, "it", "them")
    topics = {row.directory.topic for row in unserved.directories}
    if unserved.is_deleting:
        of = agree(len(topics), "a topic that is", "topics that are")
        what = f"they go once all of {agree(len(topics), 'its', 'their')} replicas are online; copy {them} out first"
        return f"{held} of {of} being deleted ({some_of([*names])}): {what}"
    if unserved.state is DirectoryState.CURRENT:
        of = agree(len(topics), "a topic", "topics")
        return f"{held} of {of} that the cluster does not have ({some_of([*names])}): the broker does not serve {them}"
    if unserved.state is DirectoryState.DELETED:
        what = f"the broker removes {them} {removal_words(unserved.delay_ms)}; copy {them} out first"
        if unserved.is_ordered:
            of = agree(len(topics), "a deleted topic", "deleted topics")
            back = f"if {agree(len(topics), 'the topic', 'these topics')} should come back"
            return f"{held} of {of} ({some_of([*names])}): {what} {back}"
        return f"{held} ({some_of([*names])}): {what}"
    what = f"the broker does not serve {them}, and never removes {them}"
    alone = [partition_name(*partition) for partition in unserved.alone]
    only = f"; {listed(alone)} {agree(len(alone), 'has', 'have')} no other copy" if alone else ""
    return f"{held} ({some_of([*names])}): {what}{only}"


def kept_elsewhere_words(broker_id: int, name: str, prediction: PartitionPrediction, holders: Sequence[int]) -> str:
    """Return the fate of a directory that needs no step, because replicas of these brokers have all records."""
    verb = "removes" if prediction.outcome is Outcome.DELETED else "renames"
    fate = f"{verb} {name}{'' if verb == 'removes' else ' to -stray'}"
    return f"Broker {broker_id} {fate} when it starts. No step is needed: {same_records_words(prediction, holders)}."


def other_log_words(row: "OtherLog") -> str:
    """Return that a directory has other records than the replica of its partition, as sentences."""
    words = f"Broker {row.replica} has other records of {row.partition} than broker {row.broker_id}."
    if row.same:
        places = listed([f"broker {number} in {name}" for number, name in row.same])
        words += f" The same records as on broker {row.broker_id} are on {places}."
    return f"{words} Nothing here shows which copy is right."


def same_records_words(prediction: PartitionPrediction, holders: Sequence[int]) -> str:
    """Return which brokers have the records of a directory, as a clause."""
    assert prediction.whole is not None
    held = f"the same {records_words((prediction.whole,))}"
    if len(holders) == 1:
        return f"broker {holders[0]} has {held}"
    return f"brokers {listed(holders, most=len(holders))} together have {held}"


def unserved_row(unserved: Unserved) -> Row:
    """Return the directories of one state as a row."""
    records = known_sum(loss.records for loss in unserved.held)
    return {
        "broker_id": unserved.broker_id,
        "state": str(unserved.state),
        "dirs": tuple(row.dir for row in unserved.directories),
        "records": records,
        "bytes": sum(loss.bytes for loss in unserved.held),
        "removed_after_ms": unserved.delay_ms if unserved.state is DirectoryState.DELETED else None,
        "no_other_copy": tuple(partition_name(*partition) for partition in unserved.alone),
    }
