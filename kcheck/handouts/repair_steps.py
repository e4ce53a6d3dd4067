"""The commands of the repairs that come before any broker starts."""

from kcheck.core.election.first_repairs import FirstRepair
from kcheck.model.names import BUNDLE_SUFFIX
from kcheck.words import shell_line


def commands(repair: FirstRepair) -> tuple[str, str]:
    """Return the commands that plan a repair and apply the plan.

    For a bundle the second command asks for the log dirs.
    """
    name = f"broker-{repair.broker_id}"
    places = " --map NAME=PATH" if any(BUNDLE_SUFFIX in argument for argument in repair.arguments) else ""
    return (
        shell_line(["kcheck", "repair", *repair.arguments, "-o", f"{name}.json"]),
        f"kcheck apply {name}.json --backup {name}.backup{places}",
    )
