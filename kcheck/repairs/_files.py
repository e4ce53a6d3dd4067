"""What repairs share about names and places of files."""

from collections.abc import Iterable

from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import INDEX_ENDINGS, log_name, segment_bases
from kcheck.repairs._contract import Evidence, PartitionSite

SEGMENT_ENDINGS = (".log", *INDEX_ENDINGS, ".snapshot")

DAMAGE = ("KC141", "KC142", "KC143", "KC144", "KC145", "KC146", "KC147", "KC148", "KC149")
"""The rules about batches that changed after they were written."""

RECORDS = ("KC163", "KC164", "KC165", "KC166", "KC168", "KC169", "KC183")
"""The rules about batches that were written wrong: their CRCs match."""


def path_of(site: PartitionSite, name: str) -> str:
    """Return the path of a file of a partition, from its log dir on."""
    return f"{site.dir}/{name}"


def bases(site: PartitionSite) -> list[Offset]:
    """Return the base offsets of the remaining segments."""
    return segment_bases(site.names)


def unsettled(site: PartitionSite, rules: Iterable[str]) -> Finding | None:
    """Return the first finding of some rules that no planned edit settles."""
    wanted = frozenset(rules)
    return next((each for each in site.findings if each.id in wanted and not site.settled(each)), None)


def whole_log(site: PartitionSite) -> Evidence:
    """Return the evidence that every batch of a log was read and is valid, or that the log has none."""
    if not bases(site):
        return Evidence(site.dir, None, crc_verified=None, what="the directory has no .log")
    last = bases(site)[-1]
    return Evidence(
        path_of(site, log_name(last)), site.size(log_name(last)), crc_verified=True,
        what=f"every batch of {len(bases(site))} .log files is valid; the last one ends here",
    )  # fmt: skip
