"""`kcheck PATH` without a command: the verdict on the next start, then what is wrong."""

import os
import re

from kcheck import api
from kcheck.cli.options import Common, Metadata, Paths, with_common
from kcheck.model.names import BUNDLE_SUFFIX


def names_path(argument: str) -> bool:
    """Return whether an argument is an existing path, leads into a bundle, or is `BROKER=PATH`."""
    path = re.sub(r"^[0-9]+=", "", argument)
    return f"{BUNDLE_SUFFIX}/" in path or os.path.lexists(path) or os.path.lexists(argument)


@with_common
def overview(paths: Paths, common: Common, metadata: Metadata = None) -> None:
    """Show what is wrong, and what the next start of each broker does."""
    from kcheck.model.finding import parse_severity

    release = common.release(paths)
    answer = api.overview(*paths, metadata=metadata or (), partitions=common.wanted(), kafka=release)
    fail_on = parse_severity(common.judging.fail_on)
    common.write_answer(answer.report(), failed=lambda: answer.severity.rank >= fail_on.rank)
