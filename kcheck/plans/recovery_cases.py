"""The plans of `kcheck recover` for cases, in which something that is not seen differs from the assumptions."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from kcheck.core.election.recovery_plan import BrokerLogDir
from kcheck.core.premises.presence import LOG_DIRS_THERE
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.documents.premises import with_disk_elsewhere, with_removed_logs
from kcheck.model.premises import PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.plans.first_repairs import elect
from kcheck.plans.plan_context import by_broker
from kcheck.replicas.elect import ClusterElection
from kcheck.views.targets import has_no_disk
from kcheck.words import LISTED_MAX, agree, broker_names, listed

_IS = ("is", "are")


class Case(NamedTuple):
    """The steps if something differs from the assumptions of the plan."""

    condition: str
    """The difference, as a clause."""
    decided_by: str
    """The evidence that shows whether it applies."""
    election: ClusterElection
    """The recommended leaders in this case."""
    dead: tuple[int, ...] = ()
    """The brokers whose disks are then given up."""


def case_folder(folder: str, number: int) -> str:
    """Return the directory of the plan for a case, the first of which has number 1."""
    return join(folder, f"case-{number}")


def case_words(case: Case, folder: str) -> str:
    """Return the sentence that leads to the plan of a case."""
    return f"If {case.condition} (see {case.decided_by}), follow the plan in {folder}."


def if_lost(answer: ClusterElection, arguments: list[str], release: Release) -> Iterator[Case]:
    """Yield the steps if missing disks, of brokers or of one log dir, never come back."""
    question = answer.question
    absent = {number for part in answer.partitions for number in part.unknown_replicas}
    absent -= {*answer.brokers}
    if absent and not question.incomplete_ok:
        dead = tuple(sorted(absent))
        if_lost = replace(question, dead=(*question.dead, *dead))
        whose = broker_names(dead, LISTED_MAX)
        yield Case(
            f"the disks of {whose} are lost",
            f"the log dirs of {whose}",
            elect(arguments, if_lost, wanted=PartitionFilter(), release=release).whole(),
            dead,
        )
    lost = lost_log_dirs(answer)
    if lost:
        if_lost = replace(question, without=(*question.without, *lost))
        disks, paths = agree(len(lost), "disk", "disks"), listed([row.path for row in lost])
        words = f"the {disks} of {paths} {agree(len(lost), 'is', 'are')} lost"
        election = elect(arguments, if_lost, wanted=PartitionFilter(), release=release).whole()
        yield Case(words, "the mounts of its host", election)


def if_newest_lost(answer: ClusterElection) -> Case | None:
    """Return the steps if the newest disks of brokers never come back. None if all are here.

    The disks here are then all that is left, so the same leaders and starts are the best ones.
    """
    without = [row.broker_id for row in answer.question.without]
    old = tuple(sorted(with_disk_elsewhere(answer.uncounted, without) - {*answer.question.without_newest}))
    if not old or answer.rescue is not None:
        return None
    lost = replace(answer.question, without_newest=(*answer.question.without_newest, *old))
    removed = with_removed_logs(answer.uncounted)
    disks, own = [row for row in old if row not in removed], [row for row in old if row in removed]
    noun, host, verb = (agree(len(disks), *words) for words in (("disk", "disks"), ("its host", "their hosts"), _IS))
    words = [f"the newest {noun} of {broker_names(disks, LISTED_MAX)} {verb} lost"] if disks else []
    words += [f"no backup has the directories that were removed on {broker_names(own, LISTED_MAX)}"] if own else []
    places = [f"the disks of {host}"] if disks else []
    places += ["the backups"] if own else []
    return Case(" and ".join(words), " and ".join(places), replace(answer, question=lost))


def lost_log_dirs(election: ClusterElection) -> tuple[BrokerLogDir, ...]:
    """Return the log dirs that do not exist or are empty, of brokers with others that are not."""
    refuted = (row for row in election.premises if row.status is PremiseStatus.REFUTED and row.id == LOG_DIRS_THERE)
    lost = {
        row.log_dir: row.broker_id
        for row in refuted
        if row.log_dir is not None and has_no_disk(tree_of(row.log_dir), row.log_dir)
    }
    kept = {number for number, own in by_broker(election).items() if any(target.log_dir not in lost for target in own)}
    return tuple(BrokerLogDir(number, path) for path, number in lost.items() if number is not None and number in kept)
