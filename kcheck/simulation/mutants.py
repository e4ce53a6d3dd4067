"""Conditions of Kafka that can be switched off, to see whether a search finds what they are for."""

from typing import cast

from kcheck.errors import UsageError
from kcheck.model.release import ProfileRules, Release
from kcheck.model.replication_behaviours import ReplicationBehaviours

MUTANTS = {
    "M1": "a broker that has restarted takes what the controller told it before for an answer to its registration",
    "M2": "a follower begins again at a leader epoch that is not newer",
    "M4": "a new leader takes what it knew of its followers from an earlier epoch",
    "M5": "a follower joins the ISR below the high watermark",
    "M6": "a follower joins the ISR below the start of its leader's epoch (KAFKA-7128)",
    "M7": "a follower takes an answer that does not begin at its log end",
    "M9": "the controller does not compare broker epochs when the ISR changes (KIP-903)",
    "M10": "the controller does not compare partition epochs when the ISR changes",
    "M12": "the high watermark advances below min.insync.replicas (KAFKA-15583)",
    "M14": "a follower never truncates",
    "M15": "an unclean registration leaves the eligible leader replicas as they are (KIP-966)",
    "acks-at-min-isr": "the high watermark advances when min.insync.replicas have the records, not the whole ISR",
    "acks-early": "a leader acknowledges acks=all before its followers have the records",
    "bounce-unnoticed": "a broker that restarts before it is fenced stays in the ISR (KIP-380)",
    "divergence-unchecked": "a leader does not compare the last epoch of a fetch with its own (KIP-595)",
    "elects-outside-isr": "the controller elects any replica, although unclean election is off",
    "epoch-kept": "an election does not raise the leader epoch",
    "epochs-kept": "a truncation leaves the leader epochs as they are",
    "high-watermark-alone": "the high watermark advances without the followers",
    "high-watermark-at-end": "a broker starts with its log end as the high watermark",
    "isr-unconfirmed": "a leader takes a smaller ISR before the controller has confirmed it (KIP-497)",
    "leader-truncates": "a new leader truncates to its high watermark",
    "min-isr-ignored": "a leader takes and acknowledges acks=all below min.insync.replicas",
    "no-fencing": "a leader does not compare the leader epoch of a request (KIP-320, the first try)",
    "old-epoch": "a broker obeys a leader epoch older than its own",
    "to-high-watermark": "a follower truncates to its high watermark (before KIP-101)",
}
"""By name. A row of docs/releases.md about replication is one too: then the release does the opposite."""


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
    """Return the rows of docs/releases.md that `mutated` turns round."""
    own = (name for name in vars(ReplicationBehaviours) if not name.startswith("_"))
    return tuple(sorted((*own, *_OTHER_ROWS, *_PROFILE_ROWS)))


def mutated(release: Release, mutant: str | None) -> Release:
    """Return a release that does the opposite of one row, if the mutant is a row; UsageError if it is not known."""
    if mutant is None or mutant in MUTANTS:
        return release
    if mutant not in rows():
        known = ", ".join(MUTANTS)
        raise UsageError(
            f"--mutant {mutant} is not known; known are {known}, and the replication rows of docs/releases.md, "
            f"such as {rows()[0]}"
        )
    if mutant in _PROFILE_ROWS:
        at = ProfileRules._fields.index(mutant)
        turned = ProfileRules._make(not value if at == place else value for place, value in enumerate(release.rules))
        return Release(*release._replace(rules=turned))
    other = Release(*release)
    vars(other)[mutant] = not cast("bool", getattr(release, mutant))
    return other
