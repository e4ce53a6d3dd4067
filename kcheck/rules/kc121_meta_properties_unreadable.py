"""The meta.properties of a log dir does not tell the broker who the log dir belongs to.

What is wrong: the file is empty or holds only zero bytes (a power failure), a number in it is no number, the version
is not known, an entry is missing, or directory.id is no id or a reserved one.

What the broker does:

- 4.0 and later, and KRaft brokers from 3.7: the log dir goes offline; the broker does not start if it is the metadata
  log dir, or if no log dir has a good file. Without any node id, or with a reserved directory.id, it does not start.
- 2.8 to 3.6, and 0.9 to 2.7: it does not start.
- With ZooKeeper, 2.8 to 3.9, a file without any entry is accepted and written anew. Up to 3.6 the broker does not start
  if another of its log dirs has one with entries.

What to do: stop the broker, keep a copy of the file outside of every log dir, and write it anew: copy version,
node.id (or broker.id) and cluster.id from another log dir of the same broker. Never copy directory.id: leave it out,
and the broker makes a new one.
"""

import base64
from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import LOG_DIR_OFFLINE
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._identity import META_PROPERTIES_KIND, names_nothing
from kcheck.rules._words import at, defect_rows, first_of, kafka

RESERVED_IDS = 100
"""The ids below, with 64 zero bits before, are kept for a meaning (DirectoryId.reserved)."""


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the meta.properties that the broker cannot read or not use."""
    if view.reads is None or not release.reads_meta_properties:
        return
    problem = _problem(view, release)
    if problem is None:
        return
    severity, why, effect = problem
    defects = view.parsed.defects
    yield RULE.finding(
        at(view, defects[0] if defects else None),
        f"{view.name} is of no use to the broker: {why}",
        effect=f"{kafka(release)} {effect}.",
        advice="Stop the broker, keep a copy of the file outside of every log dir, and copy version, node.id (or "
        "broker.id) and cluster.id from another log dir of this broker. Never copy directory.id: leave it out.",
        severity=severity,
        data={"error": view.reads.error, "defects": defect_rows(defects)},
    )


def _problem(view: FileView, release: Release) -> tuple[Severity, str, str] | None:
    assert view.reads is not None
    value, defects = view.parsed.value, view.parsed.defects
    why = first_of(defects) if defects else "it names no broker"
    if view.reads.error is not None:
        return Severity.FATAL, why, _unreadable(release)
    if names_nothing(value.properties) or (release.is_kraft_only and value.broker_id is None):
        return _without_ids(why, release)
    if release.has_directory_ids:
        directory_id = value.properties.get("directory.id")
        if directory_id is not None and _is_reserved(directory_id):
            return Severity.FATAL, f"the directory.id {directory_id} is reserved", "does not start"
        return None
    # From 2.8 to 3.6 the reader takes any properties and fails when it uses them; directory.id it does not know.
    used = [defect for defect in defects if not defect.message.startswith("directory.id")]
    return (Severity.FATAL, why, "does not start") if used and release.takes_any_meta_properties else None


def _unreadable(release: Release) -> str:
    if not release.outlives_bad_meta_properties:
        return "does not start"
    return f"{LOG_DIR_OFFLINE}; it does not start if this is the metadata log dir, or no log dir has a good file"


def _without_ids(why: str, release: Release) -> tuple[Severity, str, str]:
    if release.is_kraft_only:
        return Severity.FATAL, why, "does not start, because it finds no node id"
    severity = Severity.FATAL if release.kraft_is_production_ready else Severity.WARNING
    return severity, why, "does not start in KRaft mode; with ZooKeeper it accepts the file and writes it anew"


def _is_reserved(directory_id: str) -> bool:
    raw = base64.urlsafe_b64decode(directory_id[:22] + "==")
    return not any(raw[:8]) and int.from_bytes(raw[8:], "big", signed=True) < RESERVED_IDS


RULE = Rule(
    id="KC121",
    name="meta-properties-unreadable",
    severity=Severity.FATAL,
    scope=Scope.FILE,
    check=check,
    page=__doc__,
    kinds=(META_PROPERTIES_KIND,),
)
