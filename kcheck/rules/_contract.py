"""The parts that a module of this package provides."""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from kcheck.model.finding import Claim, Claimed, Effect, Finding, Location, Severity
from kcheck.model.release import Release


class Scope(StrEnum):
    """The view that a rule gets.

    FILE gets a FileView, SEGMENT and FAULTY_SEGMENT a SegmentView. PARTITION and READ_PARTITION get a PartitionView,
    the latter with read segments. LOG_DIR gets a LogDirView, BROKER every LogDirView of one broker (a tuple). The
    others get a ReplicasView, a Quorum, a Coordinated, a StoredLog, a Store, and RUN the rows of
    `model/lost.py`.
    """

    FILE = "file"
    SEGMENT = "segment"
    FAULTY_SEGMENT = "faulty segment"
    PARTITION = "partition"
    READ_PARTITION = "read partition"
    LOG_DIR = "log dir"
    BROKER = "broker"
    REPLICAS = "replicas"
    CLUSTER = "cluster"
    COORDINATORS = "coordinators"
    STORED_LOG = "stored log"
    STORE = "store"
    RUN = "run"


SERIES: dict[Scope, tuple[str, ...]] = {
    Scope.FILE: ("KC10", "KC11", "KC12", "KC13", "KC17", "KC18", "KC19", "KC20", "KC21"),
    Scope.SEGMENT: ("KC1",),
    Scope.FAULTY_SEGMENT: ("KC1",),
    Scope.PARTITION: ("KC2",),
    Scope.READ_PARTITION: ("KC18", "KC2"),
    Scope.LOG_DIR: ("KC3",),
    Scope.BROKER: ("KC3",),
    Scope.REPLICAS: ("KC4",),
    Scope.CLUSTER: ("KC5",),
    Scope.COORDINATORS: ("KC6",),
    Scope.STORED_LOG: ("KC24",),
    Scope.STORE: ("KC24",),
    Scope.RUN: ("KC5",),
}
"""First characters of the rule ids of each scope. Rules of unwanted scopes are not imported."""

Check = Callable[[Any, Release], Iterable[Finding]]
Precondition = Callable[[Any], bool]


_OPERATION = re.compile(r"^See: (operations/[\w-]+\.md)$", re.MULTILINE)


class Rule(NamedTuple):
    """One thing that can be wrong.

    Its module says the rest: `kc201_epoch_order.py` holds KC201, `epoch-order`, and its docstring is the page.
    """

    severity: Severity
    """The usual one; a finding may differ by release."""
    scope: Scope
    check: Check
    kinds: tuple[str, ...] = ()
    """The kinds of the files that a rule of files is shown."""
    when: Precondition | None = None
    """True for every view in which the rule finds anything, and cheap; without it the rule sees all views.

    Neighboring rules that name the same function share one call.
    """
    shared_page: str = ""
    """The end of a page that several rules share."""
    depends_on_others: bool = False
    """True if its advice names a leader, an order of starts or another replica: `kcheck recover` sees more."""
    cites_metadata: bool = False
    """True if findings name the copy of the metadata and its end, and so change with every metadata record."""

    @property
    def id(self) -> str:
        """Return `KC201`."""
        return id_and_name(self.check.__module__)[0]

    @property
    def name(self) -> str:
        """Return `epoch-order`."""
        return id_and_name(self.check.__module__)[1]

    @property
    def page(self) -> str:
        """Return the operator's page; empty under `python -OO`, which removes docstrings."""
        return f"{self.check.__globals__['__doc__'] or ''}{self.shared_page}"

    @property
    def operation(self) -> str | None:
        """Return the page of operations that its page names, `operations/disk-full.md`; None if it names none."""
        named = _OPERATION.search(self.page)
        return None if named is None else named[1]

    def finding(
        self,
        where: Location,
        message: str,
        *,
        effect: str | Effect,
        advice: str,
        severity: Severity | None = None,
        data: Mapping[str, object] | None = None,
    ) -> Finding:
        """Return a finding of this rule; an `Effect` carries its claims about the next start.

        FATAL claims that the broker does not start, unless an `Effect` has other claims.
        """
        words, claims = effect if isinstance(effect, Effect) else (effect, ())
        severity = severity or self.severity
        if severity is Severity.FATAL and not isinstance(effect, Effect) and where.dir is not None:
            claims = (Claim(Claimed.FAILS),)
        return Finding(
            id=self.id,
            name=self.name,
            severity=severity,
            where=where,
            message=message,
            effect=words,
            advice=advice,
            data=data or {},
            claims=claims,
        )


@cache
def id_and_name(module: str) -> tuple[str, str]:
    """Return the id and name in the name of a module; cached, so that findings share the strings."""
    rule_id, _, name = module.rpartition(".")[2].partition("_")
    return rule_id.upper(), name.replace("_", "-")
