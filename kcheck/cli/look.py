"""`kcheck PATH` without a verb: what is wrong, with the verdict on the next start in front."""

import os
import re

from kcheck import api
from kcheck.cli.options import Common, Paths, with_common


def names_path(argument: str) -> bool:
    """Whether an argument names something to look at: a path, or `BROKER=PATH`."""
    return os.path.lexists(re.sub(r"^[0-9]+=", "", argument)) or os.path.lexists(argument)


@with_common
def look(paths: Paths, common: Common) -> None:
    """Say what is wrong, and what the next start makes of it."""
    common.leave(api.overview(*paths, partitions=common.wanted(), kafka=common.release()).report())
