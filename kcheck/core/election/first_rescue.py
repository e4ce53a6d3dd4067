"""Names the rescue of the metadata that comes before any start.

Before the rescue, elections of these disks are not elections of the cluster.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from kcheck.words import agree, capital, counted, listed


class RescueVerb(StrEnum):
    """The command that brings the metadata back."""

    QUORUM = "quorum"
    """`kcheck recover quorum`: some copy is left."""
    METADATA = "metadata"
    """`kcheck recover metadata`: none is."""
    FORMAT = "format"
    """`kcheck preflight`: a controller has voters of its own, and kafka-storage.sh formats its log dir again."""
    NONE = "none"
    """`kcheck preflight`: the metadata is there, and controllers do not start for another reason."""


class FirstRescue(NamedTuple):
    """A rescue that comes before any start."""

    verb: RescueVerb
    why: str
    """The loss and the forbidden steps, as sentences without the last period."""
    command: str = ""
    """The command that plans it."""
    first: int | None = None
    """The controller that `kcheck preflight` is asked about; None if another command plans the rescue."""

    @property
    def sentence(self) -> str:
        """The loss, the forbidden steps, and the command, without a period, which could become part of a path."""
        return f"{self.why}: {self.command}"


class MetadataHere(NamedTuple):
    """The places of a cluster's metadata on the given disks."""

    voters: frozenset[int] = frozenset()
    """The controllers that elect, as the newest copy names them."""
    holders: frozenset[int] = frozenset()
    """The nodes with a copy."""
    without: frozenset[int] = frozenset()
    """The nodes that are here without one."""
    dead: frozenset[int] = frozenset()
    """The nodes that are given up."""
    damaged: frozenset[int] = frozenset()
    """The nodes with a copy that has a corrupt batch before its end."""
    starts: bool = True
    """True if a node here starts, by its premises."""
    outrun: bool = False
    """True if a broker has metadata that the controllers lack (P201)."""
    behind: bool = False
    """True if a majority of the controllers lacks metadata that a broker acted on."""
    stopped: bool = False
    """True if a controller lost its log, or too few of them start (P202, P205)."""
    ended: tuple[tuple[int, str], ...] = ()
    """The controllers that do not start for a reason outside of their metadata, each with that reason."""
    emptied: bool = False
    """True if ZooKeeper lost the topics of the disks (P309)."""
    rival: int | None = None
    """A controller that other voters elect, and that lacks committed metadata (P824)."""
    all_lost: bool = False
    """True if every log dir here is of a KRaft node, and none has a copy."""
    away: frozenset[int] = frozenset()
    """The nodes whose log dir is missing or empty, as without its disk."""
    unnamed: frozenset[int] = frozenset()
    """The controllers in the settings of these nodes that are neither here nor given up."""


def first_rescue(here: MetadataHere) -> FirstRescue | None:
    """Return the rescue that comes first; None if the controllers can elect, as far as the disks show.

    A majority of the voters elects, each with its own log (KafkaRaftClient 3.3 to 4.3.1). One that is not here counts
    as intact.
    """
    if here.all_lost and (here.starts or here.stopped):
        why = (
            "No log dir here has a copy of the metadata, and every KRaft node keeps one in __cluster_metadata-0. Start"
            f" no node: empty controllers make every partition stray. {_not_here(here)}"
        )
        return FirstRescue(RescueVerb.METADATA, why)
    if here.emptied:
        why = "ZooKeeper has lost the topics of these disks. Start no broker. Restore its data, or if that is lost"
        return FirstRescue(RescueVerb.METADATA, why)
    if here.rival is not None:
        why = (
            f"Controller {here.rival} elects a leader by a voter set of its own, without the newest metadata. Start no"
            " node while its log dir can start too"
        )
        return FirstRescue(RescueVerb.FORMAT, why, first=here.rival)
    gone = here.voters & (here.dead | (here.without - here.holders - here.away))
    away = (here.voters & here.away) - gone - here.holders
    if gone | away and 2 * len(here.voters - gone - away) <= len(here.voters):
        return FirstRescue(RescueVerb.QUORUM, _lost_words(here, gone, away))
    damaged = here.voters & here.damaged
    if damaged and 2 * len(here.voters - gone - damaged) <= len(here.voters):
        count = f"{len(damaged)} of {counted(len(here.voters), 'controller')}"
        its = agree(len(damaged), "has a corrupt metadata log", "have corrupt metadata logs")
        why = f"{count} {its} ({listed(sorted(damaged))}), truncated when they start. Do not start any node"
        return FirstRescue(RescueVerb.QUORUM, why)
    if here.behind or (here.outrun and not here.starts):
        why = "The controllers here lack metadata that the brokers have. Do not start any node"
        return FirstRescue(RescueVerb.QUORUM, why)
    ended = tuple(row for row in here.ended if row[0] in here.voters - gone - damaged)
    if here.stopped and ended and not here.starts:
        why = "; ".join(f"controller {number} does not start: {reason}" for number, reason in ended)
        why = f"No majority of the controllers starts. {capital(why)}. Solve that first, and start no broker until then"
        return FirstRescue(RescueVerb.NONE, why, first=ended[0][0])
    if here.stopped and not here.starts:
        return FirstRescue(RescueVerb.QUORUM, "No majority of the controllers starts. Do not start any node")
    return None


def if_lost(
    voters: frozenset[int], holders: frozenset[int], dead: frozenset[int], without: frozenset[int]
) -> FirstRescue | None:
    """Return the rescue that comes first if the controllers that are not here are lost; None with a majority here.

    No disk of a broker shows whether they are. `holders` have a copy, and the nodes `without` are here too.
    """
    gone = (voters & without) - holders - dead
    away = voters - holders - dead - gone
    if not away or 2 * len(voters & holders) > len(voters):
        return None
    who = f"{agree(len(away), 'controller', 'controllers')} {listed(sorted(away), most=5)}"
    words = capital(f"{who} {agree(len(away), 'is', 'are')} not here")
    if gone:
        which = f"{agree(len(gone), 'Controller', 'Controllers')} {listed(sorted(gone))}"
        words = f"{which} {agree(len(gone), 'has', 'have')} lost the metadata. {words}"
    its = agree(len(away), "its disk is", "their disks are")
    return FirstRescue(RescueVerb.QUORUM, f"{words}. If {its} lost, start no node")


def _not_here(here: MetadataHere) -> str:
    """Return which disks to bring, because they can have a copy."""
    words = [_mount(here.away)] if here.away else []
    if here.unnamed:
        who = f"{agree(len(here.unnamed), 'Node', 'Nodes')} {listed(sorted(here.unnamed))}"
        are = agree(len(here.unnamed), "is a controller", "are controllers")
        words.append(f"{who} {are} by the settings. Name {agree(len(here.unnamed), 'its', 'their')} log dirs too")
    return ". ".join(words or ["If a controller or broker has a copy, name its log dir too"])


def _mount(away: Iterable[int]) -> str:
    nodes = sorted(away)
    disks = agree(len(nodes), "The disk of node", "The disks of nodes")
    are, them = agree(len(nodes), "is", "are"), agree(len(nodes), "it", "them")
    return f"{disks} {listed(nodes)} {are} missing or empty, and can have a copy. Mount {them} first"


def _lost_words(here: MetadataHere, gone: frozenset[int], away: frozenset[int]) -> str:
    mount = [_mount(away)] if away else []
    if not gone:
        return ". ".join([*mount, "Do not start any node"])
    count = f"{len(gone)} of {counted(len(here.voters), 'controller')}"
    which = listed(sorted(gone))
    is_sure = 2 * len(here.voters - gone) <= len(here.voters)
    end = ": no majority has the history" if is_sure else ""
    if gone <= here.dead:
        end = ": no leader can be elected" if is_sure else ""
        why = f"{count} {agree(len(gone), 'is', 'are')} given up{end}"
    elif gone.isdisjoint(here.dead):
        its = agree(len(gone), "its", "their")
        why = f"{count} {agree(len(gone), 'has', 'have')} lost {its} metadata ({which}){end}"
    else:
        why = f"{count} are given up, or have lost their metadata ({which}){end}"
    return ". ".join([why, *mount, "Do not start any of them"])
