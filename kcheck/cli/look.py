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
    import shlex

    from kcheck.documents.predict import log_dir_row

    release, partitions = common.release(), common.wanted()
    report = api.check(*paths, partitions=partitions, kafka=release).report()
    prediction = api.predict(*paths, skip_files=True, partitions=partitions, kafka=release)
    rows = tuple({**log_dir_row(log_dir), "partitions": ()} for log_dir in prediction.log_dirs)
    more = {"predictions": rows, "next": f"kcheck predict {shlex.join(paths)}"}
    common.leave(report._replace(body={**more, **report.body}))
