"""The commands of the repairs that come first."""

import re
import shlex

from kcheck.core.election.first_repairs import FirstRepair
from kcheck.handouts.election_files import files_of
from kcheck.handouts.repair_steps import commands
from tests.core.election.test_plans import candidate, election
from tests.core.election.test_recovery_plan import recovery

REPAIR = FirstRepair(3, ("3=disks of 3/server.properties", "--partition", "orders-0"), 1, 14, "it does not start")


def test_the_commands() -> None:
    """A shell reads the paths as the user gave them; the name of a directory cannot add a command."""
    plans, applies = commands(REPAIR)
    assert shlex.split(plans) == ["kcheck", "repair", *REPAIR.arguments, "-o", "broker-3.json"]
    assert applies == "kcheck apply broker-3.json --backup broker-3.backup"
    assert commands(REPAIR._replace(arguments=("3=all.kcheck",)))[1] == f"{applies} --map NAME=PATH"
    hostile = "a\n```\nrm -rf x'; rm"
    plans, _ = commands(REPAIR._replace(arguments=(hostile,)))
    assert "\n" not in plans
    assert r"\x0a" in plans


def test_the_plan_begins_with_them() -> None:
    """Before all else that it says of the log dirs; no such part where nothing is to be repaired."""
    part = election(candidate(1))
    text = files_of(recovery(part, repairs=(REPAIR, REPAIR._replace(broker_id=1))))["plan.md"]
    titles = re.findall(r"(?m)^## (.+)$", text)
    assert titles[:2] == ["Repair these brokers first", "What this plan does not cover"]
    assert "\nBroker 3: without the repair it does not start.\n" in text
    assert "\n".join(commands(REPAIR)) in text
    assert "epair" not in files_of(recovery(part))["plan.md"]
