"""The commands of the repairs that come first."""

import shlex

from kcheck.core.election.first_repairs import FirstRepair
from kcheck.handouts.repair_steps import commands

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
