"""A premise of the next start is refuted, so the broker does not start, or lacks records.

What is wrong: The settings, the disks and the metadata of the cluster contradict each other. The disk is of another
cluster or broker, a log dir is missing, or a disk is an old copy. docs/premises.md lists every premise.

What the broker does: It ends, or never joins its cluster. Or it starts without records that the cluster expects there.
The premise says which. The finding is fatal if the broker does not start, and else an error. A
premise that the broker needs and that no given file shows is an error too, as with corrupt metadata.

What to do: Do not start the broker. Bring the right disk, settings or metadata, then ask kcheck preflight again.

See: operations/before-a-start.md
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kcheck.documents.next_commands import page_words
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import capital

if TYPE_CHECKING:
    from kcheck.core.premises.premise import Premise


def check(view: object, release: Release) -> Iterator[Finding]:
    """Find nothing: premises are judged once a broker, by its settings and the metadata of its cluster."""
    del view, release
    return iter(())


def finding(where: Location, judged: JudgedPremise, premise: "Premise", release: Release) -> Finding:
    """Return the finding for a premise that was judged to be refuted, or that is not seen."""
    if judged.provide is not None:
        return RULE.finding(
            where,
            judged.sentence,
            effect="Its next start is not known.",
            advice=f"Do not start the broker yet. {capital(judged.wanted)}.",
            severity=Severity.ERROR,
            data={"premise": judged.id, "evidence": [f"{row.path}: {row.says}" for row in judged.evidence]},
        )
    ends_start, is_offline = premise.ends_start, premise.takes_offline and not premise.is_counted
    effect = f"{kafka(release)} takes the log dir offline." if is_offline else premise.refutation
    effect = f"{kafka(release)} does not start, or never joins its cluster." if ends_start else effect
    return RULE.finding(
        where,
        judged.sentence,
        effect=effect,
        advice=f"Do not start the broker yet. {premise.remedy}{page_words(judged.id)}",
        severity=Severity.FATAL if ends_start else Severity.ERROR,
        data={"premise": judged.id, "evidence": [f"{row.path}: {row.says}" for row in judged.evidence]},
    )


RULE = Rule(severity=Severity.FATAL, scope=Scope.LOG_DIR, check=check)
