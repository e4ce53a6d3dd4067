"""The one table of releases. `--kafka`, `--ibp` and `--message-format` become a `Release` only here.

The facts come from the sources of the releases named in a row. inter.broker.protocol.version and metadata.version are
by ApiVersion (3.2 and earlier) and MetadataVersion (3.3 and later).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from kcheck.errors import UsageError
from kcheck.model.release import (
    Assign,
    CheckpointReader,
    EpochLoad,
    Follower,
    Lookup,
    Profile,
    ProfileRules,
    Release,
)

Version = tuple[int, ...]
Ibp = tuple[Version, int]
"""inter.broker.protocol.version or metadata.version: 2.7-IV1 is ((2, 7), 1)."""

PROFILES: dict[Profile, ProfileRules] = {
    Profile.P0: ProfileRules(lookup=Lookup.L1B, follower=Follower.HIGH_WATERMARK),
    Profile.P1A: ProfileRules(lookup=Lookup.L1A, follower=Follower.KIP101, reply_carries_epoch=False),
    Profile.P1B: ProfileRules(lookup=Lookup.L1B, follower=Follower.KIP101, reply_carries_epoch=False),
    Profile.P2: ProfileRules(lookup=Lookup.L2, follower=Follower.KIP279),
    Profile.P3: ProfileRules(lookup=Lookup.L3, follower=Follower.KIP279, assigns_epoch_at_election=True),
    Profile.P4: ProfileRules(
        lookup=Lookup.L3, follower=Follower.KIP279, assigns_epoch_at_election=True, noop_truncation_cleans_cache=True
    ),
    Profile.P4V0: ProfileRules(
        lookup=Lookup.L3,
        follower=Follower.KIP279,
        reply_carries_epoch=False,
        assigns_epoch_at_election=True,
        noop_truncation_cleans_cache=True,
    ),
    Profile.P5: ProfileRules(
        lookup=Lookup.L3, follower=Follower.FETCH, assigns_epoch_at_election=True, noop_truncation_cleans_cache=True
    ),
    Profile.P5_280: ProfileRules(
        lookup=Lookup.L3,
        follower=Follower.FETCH,
        assigns_epoch_at_election=True,
        noop_truncation_cleans_cache=True,
        checks_log_start_before_divergence=False,
    ),
}


class ReleaseRow(NamedTuple):
    """The releases `first` to `last` (both included), and what they do."""

    first: str
    """The first of them."""
    last: str
    """The last of them."""
    profile: Profile
    """The dialogue of a follower and its leader until their logs agree, with the default protocol."""
    lookup: Lookup | None
    """The answer of a leader to OffsetsForLeaderEpoch; None in 0.10 and earlier."""
    reader: CheckpointReader
    """The reader of the text checkpoints."""
    epoch_load: EpochLoad
    """The change of leader-epoch-checkpoint when a log is loaded."""
    assign: Assign
    """The handling of an entry that contradicts the epoch cache."""
    ibp: str | None
    """Their default inter.broker.protocol.version or metadata.version; None in 0.8."""
    confluent: str | None = None
    """The line of Confluent Platform that contains their line."""
    level: int | None = None
    """The first level of metadata.version of their line (MetadataVersion)."""
    level_max: int | None = None
    """The newest level that they know, where they refuse newer ones."""
    last_ibp: str | None = None
    """The last protocol version of their line, where that is not the default."""
    tested: bool = False
    """True if brokers or classes of their line answer in the tests."""

    @property
    def line(self) -> str:
        """Their line: 0.10.2, 3.9."""
        parts = self.first.split(".")
        return ".".join(parts[: 3 if parts[0] == "0" else 2])


_P, _L, _R, _E, _A = Profile, Lookup, CheckpointReader, EpochLoad, Assign

TABLE: tuple[ReleaseRow, ...] = (
    ReleaseRow("0.8.2.0", "0.8.2.2", _P.P0, None, _R.R1, _E.E0, _A.IGNORE, None),
    ReleaseRow("0.9.0.0", "0.9.0.1", _P.P0, None, _R.R1, _E.E0, _A.IGNORE, "0.9.0"),
    ReleaseRow("0.10.0.0", "0.10.0.1", _P.P0, None, _R.R2, _E.E0, _A.IGNORE, "0.10.0-IV1", "3.0"),
    ReleaseRow("0.10.1.0", "0.10.1.1", _P.P0, None, _R.R2, _E.E0, _A.IGNORE, "0.10.1-IV2", "3.1"),
    ReleaseRow("0.10.2.0", "0.10.2.2", _P.P0, None, _R.R2, _E.E0, _A.IGNORE, "0.10.2-IV0", "3.2", tested=True),
    ReleaseRow("0.11.0.0", "0.11.0.2", _P.P1A, _L.L1A, _R.R3, _E.E1, _A.IGNORE, "0.11.0-IV2", "3.3", tested=True),
    ReleaseRow("0.11.0.3", "0.11.0.3", _P.P1B, _L.L1B, _R.R3, _E.E1, _A.IGNORE, "0.11.0-IV2", "3.3", tested=True),
    ReleaseRow("1.0.0", "1.0.1", _P.P1A, _L.L1A, _R.R4, _E.E1, _A.IGNORE, "1.0-IV0", "4.0"),
    ReleaseRow("1.0.2", "1.0.2", _P.P1B, _L.L1B, _R.R4, _E.E1, _A.IGNORE, "1.0-IV0", "4.0"),
    ReleaseRow("1.1.0", "1.1.0", _P.P1A, _L.L1A, _R.R4, _E.E1, _A.IGNORE, "1.1-IV0", "4.1", tested=True),
    ReleaseRow("1.1.1", "1.1.1", _P.P1B, _L.L1B, _R.R4, _E.E1, _A.IGNORE, "1.1-IV0", "4.1", tested=True),
    ReleaseRow("2.0.0", "2.0.0", _P.P2, _L.L2, _R.R4, _E.E1, _A.IGNORE, "2.0-IV1", "5.0", tested=True),
    ReleaseRow("2.0.1", "2.0.1", _P.P3, _L.L3, _R.R4, _E.E1, _A.FILTER, "2.0-IV1", "5.0", tested=True),
    ReleaseRow("2.1.0", "2.1.1", _P.P3, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.1-IV2", "5.1"),
    ReleaseRow("2.2.0", "2.2.2", _P.P3, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.2-IV1", "5.2"),
    ReleaseRow("2.3.0", "2.3.1", _P.P3, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.3-IV1", "5.3"),
    ReleaseRow("2.4.0", "2.4.1", _P.P3, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.4-IV1", "5.4", tested=True),
    ReleaseRow("2.5.0", "2.5.1", _P.P3, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.5-IV0", "5.5"),
    ReleaseRow("2.6.0", "2.6.0", _P.P3, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.6-IV0", "6.0"),
    ReleaseRow("2.6.1", "2.6.3", _P.P4, _L.L3, _R.R5, _E.E1, _A.FILTER, "2.6-IV0", "6.0"),
    ReleaseRow("2.7.0", "2.7.2", _P.P4, _L.L3, _R.R5, _E.E2, _A.POP, "2.7-IV2", "6.1"),
    ReleaseRow("2.8.0", "2.8.0", _P.P5_280, _L.L3, _R.R5, _E.E2, _A.POP, "2.8-IV1", "6.2", tested=True),
    ReleaseRow("2.8.1", "2.8.2", _P.P5, _L.L3, _R.R5, _E.E2, _A.POP, "2.8-IV1", "6.2", tested=True),
    ReleaseRow("3.0.0", "3.0.2", _P.P5, _L.L3, _R.R5, _E.E3, _A.POP, "3.0-IV1", "7.0", 1),
    ReleaseRow("3.1.0", "3.1.2", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.1-IV0", "7.1", 2),
    ReleaseRow("3.2.0", "3.2.3", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.2-IV0", "7.2", 3),
    ReleaseRow("3.3.0", "3.3.2", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.3-IV3", "7.3", 4, 7),
    ReleaseRow("3.4.0", "3.4.1", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.4-IV0", "7.4", 8, 8),
    ReleaseRow("3.5.0", "3.5.2", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.5-IV2", "7.5", 9, 11),
    ReleaseRow("3.6.0", "3.6.2", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.6-IV2", "7.6", 12, 14),
    ReleaseRow("3.7.0", "3.7.2", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.7-IV4", "7.7", 15, 20),
    ReleaseRow("3.8.0", "3.8.1", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.8-IV0", "7.8", 20, 21),
    ReleaseRow("3.9.0", "3.9.2", _P.P5, _L.L3, _R.R6, _E.E3, _A.POP, "3.9-IV0", "7.9", 21, 23, tested=True),
    ReleaseRow("4.0.0", "4.0.2", _P.P5, _L.L3, _R.R6, _E.E4, _A.POP, "4.0-IV3", "8.0", 22),
    ReleaseRow("4.1.0", "4.1.2", _P.P5, _L.L3, _R.R6, _E.E4, _A.POP, "4.1-IV1", "8.1", 26),
    ReleaseRow("4.2.0", "4.2.1", _P.P5, _L.L3, _R.R6, _E.E4, _A.POP, "4.2-IV1", None, 28),
    ReleaseRow("4.3.0", "4.3.1", _P.P5, _L.L3, _R.R6, _E.E4, _A.POP, "4.3-IV0", None, 30, tested=True),
    ReleaseRow("4.4.0", "4.4.0", _P.P5, _L.L3, _R.R6, _E.E4, _A.POP, None, None, 31, last_ibp="4.4-IV1"),
)

TESTED = tuple(dict.fromkeys(row.line for row in TABLE if row.tested))
"""The lines whose brokers or classes answer in the tests."""

NEWEST_TESTED = TESTED[-1]
"""The newest line whose brokers and classes the tests run. It is the release if files show none."""

AS_OF = "2026-11-21"
"""The day on which the rows of `TABLE` were read from Kafka's sources; `--version` shows it."""

_IBP = re.compile(r"([0-9.]+)(?:-IV([0-9]{1,4}))?")
_IBP_0_11 = ((0, 11, 0), 2)
_IBP_2_0 = ((2, 0), 0)
_IBP_2_7 = ((2, 7), 1)
_IBP_3_0 = ((3, 0), 1)
_IBP_3_3 = ((3, 3), 3)
_KNOWN_EARLY: Mapping[Version, Ibp] = {(3, 7): ((3, 8), 0), (3, 8): ((3, 9), 0), (3, 9): ((4, 0), 1)}
"""The newest step of the next version that a line has, by its full name alone (MetadataVersion)."""
_FORMAT_V2: Ibp = ((0, 11, 0), 0)


def release(kafka: str = NEWEST_TESTED, *, ibp: str | None = None, message_format: str | None = None) -> Release:
    """Return the behavior of `kafka` ("4.3", "3.9.2", "0.10.2.2"); a line means its newest release.

    `ibp` is inter.broker.protocol.version or metadata.version where it is older than the release's own,
    `message_format` log.message.format.version likewise. UsageError: not known, or not possible for this release.
    """
    version = _version(kafka)
    row = _row(version)
    protocol = _ibp(ibp, "--ibp") if ibp else _ibp(row.ibp, "") if row.ibp else (version[:2], 0)
    if row.ibp and protocol > _ibp(row.ibp, ""):
        raise UsageError(f"--ibp {ibp} is newer than Kafka {kafka} itself, which has {row.ibp}")
    known = Release(
        name=kafka,
        version=version,
        profile=row.profile,
        rules=PROFILES[row.profile],
        lookup=row.lookup,
        reader=row.reader,
        epoch_load=row.epoch_load,
        assign=row.assign,
        epoch_cache=True,
        metadata_version_max=row.level_max,
    )
    if known.is_kraft_only and protocol < _IBP_3_3:
        raise UsageError(f"--ibp {ibp}: Kafka {kafka} does not start with a metadata.version below 3.3-IV3")
    profile = _profile(known, protocol)
    return known._replace(
        profile=profile,
        rules=_rules(known, profile, protocol),
        epoch_cache=_epoch_cache(known, protocol, message_format),
    )


def with_profile(chosen: Release, profile: str) -> Release:
    """Return `chosen` with the truncation behavior of another profile (`--profile`); UsageError if unknown."""
    known = {p.value.lower(): p for p in Profile}
    if profile.lower() not in known:
        raise UsageError(f"--profile {profile}: not one of {', '.join(p.value for p in Profile)}")
    forced = known[profile.lower()]
    rules = PROFILES[forced]
    lookup = None if forced is Profile.P0 else rules.lookup
    return chosen._replace(profile=forced, rules=rules, lookup=lookup)


def lines() -> tuple[str, ...]:
    """Return the known lines of releases, from old to new: 0.10.2, 3.9."""
    return tuple(dict.fromkeys(row.line for row in TABLE))


@cache  # of every row, each time that a release is asked for
def _numbers(text: str) -> Version | None:
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        return None
    return tuple(int(part) for part in parts)


def _line_size(version: Version) -> int:
    return 3 if version[0] == 0 else 2


def _version(kafka: str) -> Version:
    """Return the full version; a line means its newest release."""
    version = _numbers(kafka)
    for row in reversed(TABLE):
        first, last = _numbers(row.first), _numbers(row.last)
        assert first is not None
        assert last is not None
        if version == last[: _line_size(last)]:
            return last
        if version is not None and len(version) == len(last) and first <= version <= last:
            return version
    raise UsageError(
        f"--kafka {kafka}: not a release; use auto, or one from {TABLE[0].line} to {TABLE[-1].line}"
        " (kcheck help releases)"
    )


def _row(version: Version) -> ReleaseRow:
    return next(row for row in reversed(TABLE) if version >= (_numbers(row.first) or ()))


@cache
def _last_ivs() -> Mapping[Version, int]:
    """Return the last IV of each known line of inter.broker.protocol.version or metadata.version."""
    texts = ("0.8.0", "0.8.1", *(row.last_ibp or row.ibp or row.line for row in TABLE))
    return {_numbers(line) or (): int(iv or 0) for line, _, iv in (text.partition("-IV") for text in texts)}


def _ibp(text: str, option: str) -> Ibp:
    """Return (line, IV) of "2.7-IV1", "2.7" (its last IV) or "2.7.1" (as ApiVersion reads it)."""
    match = _IBP.fullmatch(text)
    numbers = _numbers(match[1]) if match else None
    line = numbers[: _line_size(numbers)] if numbers else ()
    last = _last_ivs().get(line)
    iv = last if match is None or match[2] is None else int(match[2])
    if last is None or iv is None or iv > last:
        raise UsageError(f"{option} {text}: not a version; for example {TABLE[-1].line}, or 2.7-IV1")
    return line, iv


def protocol(text: str, of: Release) -> Ibp | None:
    """Return an inter.broker.protocol.version or log.message.format.version; None for one of a newer release."""
    try:
        known = _ibp(text, "")
    except UsageError:
        return None
    own = of.version[: _line_size(of.version)]
    line, step = _KNOWN_EARLY.get(own, (own, 0)) if "-" in text else (own, 0)
    return known if known[0] <= own or (known[0] == line and known[1] <= step) else None


def _profile(known: Release, protocol: Ibp) -> Profile:
    """Apply the protocol gates: AbstractFetcherThread, ReplicaFetcherThread, RemoteLeaderEndPoint."""
    follower = known.rules.follower
    if protocol < _IBP_0_11:
        return Profile.P0
    if follower in (Follower.HIGH_WATERMARK, Follower.KIP101):
        return known.profile
    if protocol < _IBP_2_0:
        return known.profile if known.profile is Profile.P2 else Profile.P4V0
    if follower is Follower.FETCH and protocol < _IBP_2_7:
        return Profile.P4
    return known.profile


def _rules(known: Release, profile: Profile, protocol: Ibp) -> ProfileRules:
    """Return the steps of a profile in this release; `known` still has the release's own profile."""
    rules = PROFILES[profile]
    if known.lookup is None:
        return rules
    # The lookup belongs to the binary, whatever the protocol between the brokers; the epoch in the reply does not.
    return rules._replace(
        lookup=known.lookup,
        reply_carries_epoch=known.lookup in (Lookup.L2, Lookup.L3) and protocol >= _IBP_2_0,
        assigns_epoch_at_election=known.rules.assigns_epoch_at_election,
        noop_truncation_cleans_cache=known.rules.noop_truncation_cleans_cache,
    )


def _epoch_cache(known: Release, protocol: Ibp, message_format: str | None) -> bool:
    """Return whether a log keeps an epoch cache.

    See Log.initializeLeaderEpochCache 2.1.1, LogConfig 3.0, UnifiedLog 4.0.
    """
    if not known.has_leader_epochs:
        return False
    deletes_file_below_v2 = known.drops_epochs_of_old_formats and protocol < _IBP_3_0
    written = _ibp(message_format, "--message-format") if message_format else _FORMAT_V2
    return written >= _FORMAT_V2 or not deletes_file_below_v2
