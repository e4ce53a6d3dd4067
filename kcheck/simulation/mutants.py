"""Conditions of Kafka that can be switched off, to see whether a search finds what they are for."""

from typing import NamedTuple, cast

from kcheck.errors import UsageError
from kcheck.model.release import ProfileRules, Release
from kcheck.model.replication_behaviours import ReplicationBehaviours


class Conditions(NamedTuple):
    """Conditions that Kafka keeps in every release."""

    awaits_registration: bool = True
    """A broker that has restarted waits for the answer to its registration."""
    begins_at_newer_epoch_alone: bool = True
    """A follower begins again only at a newer leader epoch."""
    forgets_followers: bool = True
    """A new leader forgets what it knew of its followers in an earlier epoch."""
    joins_isr_at_high_watermark: bool = True
    """A follower joins the ISR at the high watermark."""
    joins_isr_at_epoch_start: bool = True
    """A follower joins the ISR once it has reached the first offset of its leader's epoch (KAFKA-7128)."""
    compares_fetch_offsets: bool = True
    """A follower takes only an answer that begins at its log end."""
    compares_broker_epochs: bool = True
    """The controller compares broker epochs when the ISR changes (KIP-903)."""
    compares_partition_epochs: bool = True
    """The controller compares partition epochs when the ISR changes."""
    waits_for_min_isr: bool = True
    """The high watermark waits for min.insync.replicas (KAFKA-15583)."""
    truncates: bool = True
    """A follower truncates."""
    unclean_start_leaves_elr: bool = True
    """An unclean registration takes a broker out of the eligible leader replicas (KIP-966)."""
    waits_for_whole_isr: bool = True
    """The high watermark waits for the complete ISR, not for min.insync.replicas alone."""
    acknowledges_after_replication: bool = True
    """A leader acknowledges acks=all when its followers have the records."""
    notices_bounces: bool = True
    """A broker that restarts before it is fenced leaves the ISR (KIP-380)."""
    compares_last_epochs: bool = True
    """A leader compares the last epoch of a fetch with its own (KIP-595)."""
    elects_in_sync_alone: bool = True
    """The controller elects replicas in sync, unless unclean election is on."""
    raises_epoch_at_election: bool = True
    """An election raises the leader epoch."""
    truncates_epochs: bool = True
    """A truncation truncates the leader epochs too."""
    waits_for_followers: bool = True
    """The high watermark waits for the followers."""
    starts_at_checkpoint: bool = True
    """A broker starts with the high watermark of its checkpoint."""
    awaits_smaller_isr: bool = True
    """A leader takes a smaller ISR when the controller has confirmed it (KIP-497)."""
    leader_keeps_log: bool = True
    """A new leader keeps its log."""
    refuses_below_min_isr: bool = True
    """A leader refuses acks=all below min.insync.replicas."""
    compares_leader_epochs: bool = True
    """A leader compares the leader epoch of a request with its own (KIP-320)."""
    refuses_old_epochs: bool = True
    """A broker refuses a leader epoch older than its own."""
    truncates_by_epochs: bool = True
    """A follower truncates by leader epochs, not to its high watermark (KIP-101)."""


MUTANTS = {
    "M1": "awaits_registration", "M2": "begins_at_newer_epoch_alone", "M4": "forgets_followers",
    "M5": "joins_isr_at_high_watermark", "M6": "joins_isr_at_epoch_start", "M7": "compares_fetch_offsets",
    "M9": "compares_broker_epochs", "M10": "compares_partition_epochs", "M12": "waits_for_min_isr", "M14": "truncates",
    "M15": "unclean_start_leaves_elr", "acks-at-min-isr": "waits_for_whole_isr",
    "acks-early": "acknowledges_after_replication", "bounce-unnoticed": "notices_bounces",
    "divergence-unchecked": "compares_last_epochs", "elects-outside-isr": "elects_in_sync_alone",
    "epoch-kept": "raises_epoch_at_election", "epochs-kept": "truncates_epochs",
    "high-watermark-alone": "waits_for_followers", "high-watermark-at-end": "starts_at_checkpoint",
    "isr-unconfirmed": "awaits_smaller_isr", "leader-truncates": "leader_keeps_log",
    "min-isr-ignored": "refuses_below_min_isr", "no-fencing": "compares_leader_epochs",
    "old-epoch": "refuses_old_epochs", "to-high-watermark": "truncates_by_epochs",
}  # fmt: skip
"""Names of `--mutant`, each with the condition that it switches off. docs/simulate.md describes the effects.

A row of docs/releases.md about replication is a name too. Then the release does the opposite.
"""

_OTHER_ROWS = (
    "applies_diverging_fetches",
    "drops_epochs_of_old_formats",
    "exits_out_of_range_without_unclean_election",
    "fences_by_current_leader_epoch",
    "high_watermark_floor_is_log_start",
    "truncation_lowers_high_watermark",
)
"""Rows of `Behaviours` that decide how replicas follow."""
_PROFILE_ROWS = tuple(name for name, default in ProfileRules._field_defaults.items() if isinstance(default, bool))


def rows() -> tuple[str, ...]:
    """Return the rows of docs/releases.md that `without` turns round."""
    own = (name for name in vars(ReplicationBehaviours) if not name.startswith("_"))
    return tuple(sorted((*own, *_OTHER_ROWS, *_PROFILE_ROWS)))


def without(mutant: str | None, release: Release) -> tuple[Release, Conditions]:
    """Return a Kafka in which one behavior or condition is the opposite; UsageError if the mutant is not known."""
    if mutant is None:
        return release, Conditions()
    if mutant in MUTANTS:
        return release, Conditions()._replace(**{MUTANTS[mutant]: False})
    if mutant not in rows():
        known = ", ".join(MUTANTS)
        raise UsageError(
            f"--mutant {mutant}: not one of {known}, or a replication row of docs/releases.md, such as {rows()[0]}"
        )
    if mutant in _PROFILE_ROWS:
        at = ProfileRules._fields.index(mutant)
        turned = ProfileRules._make(not value if at == place else value for place, value in enumerate(release.rules))
        return Release(*release._replace(rules=turned)), Conditions()
    other = Release(*release)
    vars(other)[mutant] = not cast("bool", getattr(release, mutant))
    return other, Conditions()
