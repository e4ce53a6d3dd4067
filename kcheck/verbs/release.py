"""`--kafka`: the one place that decides for which release of Kafka a command answers."""

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple, Protocol, Self, TypeVar

from kcheck.core.releases.release_evidence import Clue, evidence
from kcheck.core.releases.releases import release as release_of
from kcheck.disk.refusals import Refusals
from kcheck.documents.answer import Outcomes
from kcheck.model.evidence import AUTO, OtherEnd
from kcheck.model.release import Release
from kcheck.survey.refused_paths import HasFindings
from kcheck.views.named_evidence import of_broker_log, of_config
from kcheck.views.release_evidence import release_ranges
from kcheck.views.targets import replica_targets


class HasOutcomes(HasFindings, Protocol):
    """An answer that can be compared with the one for another release: `Answer` says how."""

    @property
    def badness(self) -> tuple[float, ...]:
        """Return a sort key with the worst answer last."""

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the answer, and what in it can differ."""

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""


WithOutcomes = TypeVar("WithOutcomes", bound=HasOutcomes)


class NamedFiles(NamedTuple):
    """Files of one broker that the user names as evidence."""

    config: str | None = None
    """Its server.properties."""
    log: str | None = None
    """Its own log, plain or .gz."""

    def clues(self) -> tuple[Clue, ...]:
        """Return their evidence; UsageError if one cannot be read, or the log names no version."""
        of_files = (
            () if self.config is None else of_config(self.config),
            () if self.log is None else of_broker_log(self.log),
        )
        return tuple(chain.from_iterable(of_files))


def release(
    arguments: list[str], kafka: str, *, ibp: str | None, message_format: str | None, named: NamedFiles
) -> Release:
    """Return the release that the user names, or with `auto` the newest tested release that fits the files.

    Its `evidence` comes from the files. UsageError: no Kafka files at a path, or a version that is not known.
    """
    given = None if kafka == AUTO else release_of(kafka, ibp=ibp, message_format=message_format)
    clues = named.clues()
    if not arguments and not clues:
        return given or release_of(ibp=ibp, message_format=message_format)
    with Refusals() as refused:
        ranges = release_ranges(replica_targets(arguments) if arguments else (), clues)
    proved = evidence(ranges, None if given is None else kafka)._replace(refused=tuple(refused.items()))
    chosen = given or release_of(proved.used, ibp=ibp, message_format=message_format)
    return chosen._replace(evidence=proved)


def of_worse_end(chosen: Release, answer: Callable[[Release], WithOutcomes]) -> WithOutcomes:
    """Return the worse of the answers for both ends of a range of releases; for one release its answer.

    A release with an older protocol or another profile is not compared, because the user knows the cluster.
    """
    first, said = answer(chosen), chosen.evidence
    if said is None or said.lowest is None or not _is_range(chosen):
        return first
    first, ours = first.outcomes()
    if ours is None:
        return first.of_release(chosen._replace(evidence=said._replace(other=OtherEnd(said.lowest, None))))
    lowest = release_of(said.lowest)
    other, theirs = answer(lowest).outcomes()
    ends = [(first, chosen, said.used), (other, lowest, said.lowest)]
    # Files that contradict each other can leave a range whose lower end has another mode than the disks.
    is_comparable = said.agrees or lowest.has_kraft == chosen.has_kraft
    if is_comparable and other.badness > first.badness:
        ends.reverse()
    (shown, modelled, used), (_, _, line) = ends
    return shown.of_release(modelled._replace(evidence=said._replace(used=used, other=_other_end(line, ours, theirs))))


def _is_range(chosen: Release) -> bool:
    """Return whether the files fit several releases, and the user has chosen none."""
    said = chosen.evidence
    if said is None or said.given or said.lowest in (None, said.used):
        return False
    return chosen._replace(evidence=None) == release_of(said.used)


def _other_end(line: str, ours: Outcomes, theirs: Outcomes | None) -> OtherEnd:
    if theirs is None:
        return OtherEnd(line, None)
    names = (key[0] for key in {**ours, **theirs} if ours.get(key) != theirs.get(key))
    return OtherEnd(line, tuple(sorted({str(name) for name in names})))
