"""The meta.properties of a log dir does not identify its broker.

What is wrong: The file is empty, or holds only zero bytes (after a power failure). Or an entry is missing, a number is
invalid, the version is unknown, or directory.id is invalid or reserved.

What the broker does:

- 4.0 and later, and KRaft brokers in 3.7 and later: the log dir goes offline. The broker does not start without any
  valid file, or if this is the metadata log dir. Without any node id, or with a reserved directory.id, it does not
  start.
- 2.8 to 3.6, and 0.9 to 2.7: it does not start.
- With ZooKeeper, 2.8 to 3.9: it accepts a file without any entry and rewrites it. In 3.6 and earlier the broker does
  not start if another of its log dirs has a file with entries.

What to do: Stop the broker, and copy the file to a place outside every log dir. Then copy version, node.id (or
broker.id) and cluster.id from another log dir of the same broker. Never copy directory.id. Omit it, and the broker
creates a new one.
"""

from collections.abc import Iterable

from kcheck.core.start.identity import META_PROPERTIES_KIND
from kcheck.core.start.meta_properties import MetaPropertiesFault, fault_of
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import LOG_DIR_OFFLINE
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import at, defect_rows, first_of, kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the meta.properties that the broker cannot read or cannot use."""
    fault = fault_in(view, release)
    if fault is None:
        return
    assert view.reads is not None
    defects = view.parsed.defects
    warns = fault is MetaPropertiesFault.EMPTY and not release.kraft_is_production_ready
    yield RULE.finding(
        at(view, defects[0] if defects else None),
        message(view, fault),
        effect=f"{kafka(release)} {_effect(fault, release)}.",
        advice="Stop the broker, and copy the file to a place outside every log dir. Then copy version, node.id (or "
        "broker.id) and cluster.id from another log dir of this broker. Never copy directory.id.",
        severity=Severity.WARNING if warns else Severity.FATAL,
        data={"error": view.reads.error, "defects": defect_rows(defects)},
    )


def fault_in(view: FileView, release: Release) -> MetaPropertiesFault | None:
    """Return why the broker refuses the file, None if it accepts it."""
    if view.reads is None:
        return None
    from kcheck.formats.meta_properties import faulty_keys  # imports the parser: only where it read a file

    value, refused = view.parsed.value, view.reads.error is not None
    return fault_of(value.properties, value.broker_id, release, refused=refused, faulty=faulty_keys(value.properties))


def message(view: FileView, fault: MetaPropertiesFault) -> str:
    """Return the fault of the file in words."""
    defects = view.parsed.defects
    why = first_of(defects) if defects else "it names no broker"
    if fault is MetaPropertiesFault.RESERVED_DIRECTORY_ID:
        why = f"the directory.id {view.parsed.value.properties['directory.id']} is reserved"
    return f"{view.name} is invalid: {why}"


def _effect(fault: MetaPropertiesFault, release: Release) -> str:
    if fault is MetaPropertiesFault.NO_NODE_ID:
        return "does not start, because the file has no node id"
    if fault is MetaPropertiesFault.EMPTY:
        return "does not start in KRaft mode; with ZooKeeper it accepts the file and rewrites it"
    if fault is MetaPropertiesFault.UNREADABLE and release.outlives_bad_meta_properties:
        return f"{LOG_DIR_OFFLINE}; it does not start if this is the metadata log dir, or no log dir has a good file"
    return "does not start"


RULE = Rule(severity=Severity.FATAL, scope=Scope.FILE, check=check, kinds=(META_PROPERTIES_KIND,))
