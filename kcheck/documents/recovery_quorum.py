"""Rows and sentences of `kcheck recover quorum`."""

from collections.abc import Iterator

from kcheck.core.rescue.lacking import CopyGap, lacking
from kcheck.core.rescue.quorum_loss import QuorumLoss, RescueNode
from kcheck.core.rescue.refusals import RescueRefusal
from kcheck.core.rescue.ways import CopyLog, Rescue
from kcheck.model.report import Row
from kcheck.words import agree, counted, listed


def verdict(loss: QuorumLoss) -> Iterator[str]:
    """Yield the loss, the forbidden steps, and possibly missing metadata, as sentences."""
    count = len(loss.voters)
    if not loss.voters:
        yield "The newest copy does not name the controllers."
    elif loss.has_majority:
        here = len(loss.survivors) - len(loss.damaged)
        yield f"{here} of {counted(count, 'controller')} still {agree(here, 'has', 'have')} the metadata."
    elif not loss.is_one_history:
        yield "The copies are of two histories of the cluster. A leader with one of them truncates the other."
        yield "Do not start any node yet."
    elif loss.behind:
        behind = loss.behind
        lack = f"{agree(len(behind), 'lacks', 'lack')} records that node {loss.newest.node_id} has ({listed(behind)})"
        one = agree(len(behind), "it", "one of them")
        yield f"{len(behind)} of {counted(count, 'controller')} {lack}: as leader, {one} would truncate the newer copy."
        yield "Do not start any controller yet."
    else:
        yield from _without_majority(loss)
    if not loss.is_one_history:
        return
    newest, copy = loss.newest, loss.copy
    yield f"The newest copy is on node {newest.node_id}: epoch {copy.epoch}, up to offset {copy.end - 1}."
    if loss.has_all_committed:
        yield "These disks belong to a majority, so the copy has everything that was committed."
    else:
        end = loss.committed_to
        unknown = "It is not known if its records were committed."
        yield f"Its records up to offset {end - 1} were committed for certain." if end else unknown
        yield (
            "Records that no copy here has are lost."
            if loss.behind
            else "Metadata that only the lost controllers had is lost."
        )


def _without_majority(loss: QuorumLoss) -> Iterator[str]:
    """Yield which controllers have lost their metadata, and of which that is not known."""
    gone, unseen = sorted({*loss.lost, *loss.damaged} - {*loss.unseen}), loss.unseen
    leader = "leader with all records" if loss.damaged else "leader"
    is_sure = len(loss.voters) - len(gone) < loss.majority
    end = f"no {leader} can be elected" if is_sure else f"a {leader} may still be elected"
    if gone:
        which = f"of {counted(len(loss.voters), 'controller')} {agree(len(gone), 'has', 'have')}"
        what = "all or a part of the metadata" if loss.damaged else "the metadata"
        yield f"{len(gone)} {which} lost {what} ({listed(gone)}): {end}."
    if unseen:
        who = agree(len(unseen), "The disk of controller", "The disks of controllers")
        yield f"{who} {listed(unseen)} {agree(len(unseen), 'is', 'are')} not here, and can have newer metadata."
    yield "Do not start any controller yet."


def role(loss: QuorumLoss, node: RescueNode) -> str:
    """Return the role of a node in the quorum, and whether it is lost."""
    brokers = {number for row in loss.nodes if row.copy is not None for number in row.copy.image.brokers}
    name = "voter" if loss.is_voter(node) else "broker" if node.node_id in brokers else "new"
    return f"{name}, given up" if node.dead else name


def lacking_words(gap: CopyGap | None) -> str:
    """Return the records that a copy lacks of the newest one, in words."""
    if gap is None:
        return "everything"
    if gap.is_nothing:
        return "-"
    parts = [counted(gap.records, "record")] if gap.records else []
    parts += [f"{name} {listed(topics, most=3)}" for name, topics in _topics(gap) if topics]
    parts += [counted(gap.changed, "partition change")] if gap.changed else []
    parts += [f"has {gap.own} of its own"] if gap.own else []
    return "; ".join(parts)


def _topics(gap: CopyGap) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("topics", gap.created), ("deletion of", gap.deleted))


def gap_of(loss: QuorumLoss, node: RescueNode) -> CopyGap | None:
    """Return the records that the copy of a node lacks; None if it has no copy."""
    return None if node.copy is None else lacking(node.copy, loss.copy)


def loss_row(loss: QuorumLoss) -> Row:
    """Return the quorum after a loss."""
    copy = loss.copy
    return {
        "voters": loss.voters,
        "dynamic": loss.is_dynamic,
        "majority": loss.majority,
        "survivors": tuple(node.node_id for node in loss.survivors),
        "lost": loss.lost,
        "dead": tuple(sorted(loss.dead)),
        "newest": {"node_id": loss.newest.node_id, "path": copy.path, "epoch": copy.epoch, "end_offset": copy.end},
        "committed_to": loss.committed_to,
        "all_committed": loss.has_all_committed,
        "copies": tuple(_copy_row(loss, node) for node in loss.nodes),
    }


def _copy_row(loss: QuorumLoss, node: RescueNode) -> Row:
    copy, gap = node.copy, gap_of(loss, node)
    return {
        "node_id": node.node_id,
        "log_dir": node.log_dir,
        "directory_id": node.directory_id,
        "voter": loss.is_voter(node),
        "dead": node.dead,
        "epoch": None if copy is None else copy.epoch,
        "end_offset": None if copy is None else copy.end,
        "snapshot": node.snapshot_end,
        "highest_epoch": node.epoch,
        "problems": () if copy is None else tuple(defect._asdict() for defect in copy.defects),
        "lacks": None if gap is None else gap._asdict(),
    }


def rescue_row(rescue: Rescue | None) -> Row | None:
    """Return the chosen way."""
    if rescue is None:
        return None
    source = next((edit.source for edit in rescue.edits if isinstance(edit, CopyLog)), None)
    return {
        "way": str(rescue.way),
        "controller": rescue.target.node_id,
        "address": rescue.address,
        "copies_from": None if source is None else source.node_id,
        "stand_ins": tuple(stand_in._asdict() for stand_in in rescue.stand_ins),
        "never_start": rescue.retired,
    }


def refusal_row(refusal: RescueRefusal) -> Row:
    """Return a reason why there is no plan."""
    return refusal._asdict()
