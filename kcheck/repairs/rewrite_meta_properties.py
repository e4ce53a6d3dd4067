"""meta.properties is written anew from the other log dirs of the same broker, without directory.id.

The broker makes a new directory.id at its start. Which log dirs belong to one broker is known from a
server.properties, or from `BROKER=PATH`: a file that is damaged does not tell.
"""

from collections.abc import Iterator

from kcheck.formats import meta_properties
from kcheck.formats.meta_properties import MetaProperties
from kcheck.model.finding import Finding
from kcheck.model.names import META_PROPERTIES
from kcheck.repairs._contract import Answer, Evidence, LogDirSite, Refused, Repair, Scope, Step, Write

_OWN = ("version", "node.id", "broker.id", "cluster.id")
"""What all log dirs of a broker have in common."""


def plan(site: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[Answer]:
    """Yield the new file."""
    finding = findings[0]
    sound = []
    for sibling in site.siblings:
        data = sibling.read(META_PROPERTIES)
        found = None if data is None else meta_properties.parse(data)
        if found is not None and not found.defects:
            sound.append((sibling.view.where.log_dir, found.value.properties))
    shared = [{key: each[key] for key in _OWN if key in each} for _, each in sound]
    if not shared:
        yield Refused(finding, "no other log dir of this broker is known: name all of them as BROKER=PATH")
    elif any(each != shared[0] for each in shared):
        yield Refused(finding, "the other log dirs of this broker do not agree about whose they are")
    else:
        written = meta_properties.serialize(MetaProperties(shared[0]))
        words = ", ".join(f"{key} {value}" for key, value in shared[0].items())
        evidence = tuple(
            Evidence(f"{path}/{META_PROPERTIES}", None, crc_verified=None, what=words) for path, _ in sound
        )  # fmt: skip
        reason = "it names the broker and the cluster; the broker makes a new directory.id"
        yield Step(finding, (Write(META_PROPERTIES, written),), reason, evidence)


REPAIR = Repair(
    name="rewrite-meta-properties",
    rank=35,
    scope=Scope.LOG_DIR,
    rules=("KC121",),
    plan=plan,
    page=__doc__,
)
