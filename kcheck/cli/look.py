"""`kcheck PATH` without a verb: what is wrong, with the verdict on the next start in front."""

import os
import re

from kcheck.cli.options import Common, Paths, with_common


def names_path(argument: str) -> bool:
    """Whether an argument names something to look at: a path, or `BROKER=PATH`."""
    return os.path.lexists(re.sub(r"^[0-9]+=", "", argument)) or os.path.lexists(argument)


@with_common
def look(paths: Paths, common: Common) -> None:
    """Say what is wrong, and what the next start makes of it."""
    import shlex

    from kcheck.documents.predict import log_dir_row
    from kcheck.model.depth import Depth
    from kcheck.startup.log_manager import StartOptions
    from kcheck.verbs.check import check
    from kcheck.verbs.predict import predict_directories
    from kcheck.views.broker_settings import settings_of

    release, wanted = common.release(), common.wanted()
    wish = StartOptions(None, settings_of(paths, None, (), release), release, wanted)
    report = check(paths, depth=Depth.HEADERS, as_kind=None, wanted=wanted, release=release)
    rows = ({**log_dir_row(start), "partitions": ()} for start in predict_directories(paths, wish).log_dirs)
    more = {"predictions": tuple(rows), "next": f"kcheck predict {shlex.join(paths)}"}
    common.leave(report._replace(body={**more, **report.body}))
