"""Takes paths, chooses the release, and completes the answer, for all functions."""

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kcheck.core.releases.releases import with_profile
from kcheck.model.evidence import AUTO
from kcheck.model.release import Release

if TYPE_CHECKING:
    from kcheck.survey.refused_paths import WithFindings
    from kcheck.verbs.release import WithOutcomes

Path = str | os.PathLike[str]
"""A file, a partition directory, a log dir or a folder of log dirs; a replica as a text `BROKER=PATH`."""


def release(
    kafka: str | Release = AUTO,
    *,
    paths: Iterable[Path] = (),
    ibp: str | None = None,
    message_format: str | None = None,
    profile: str | None = None,
    config: Path | None = None,
    log: Path | None = None,
) -> Release:
    """Return the behavior of a Kafka release: `4.3`, `3.9.2`; `ibp` and `message_format` as in server.properties.

    `auto` is the newest tested release that the files in `paths` can be of: its `evidence` says why. `profile` forces
    a truncation profile, P0 to P5. `config` and `log` are a server.properties and a broker's own log, plain or .gz,
    that say more. UsageError: a release, a version or a profile that is not known.
    """
    if isinstance(kafka, Release):
        chosen = kafka
        if chosen.evidence is not None:
            from kcheck.disk.refusals import note_again

            note_again(chosen.evidence.refused)
    else:
        from kcheck.verbs.release import NamedFiles
        from kcheck.verbs.release import release as verb

        named = NamedFiles(*(None if path is None else os.fspath(path) for path in (config, log)))
        chosen = verb(texts_of(paths), kafka, ibp=ibp, message_format=message_format, named=named)
    return with_profile(chosen, profile) if profile else chosen


def compared(
    kafka: str | Release, texts: list[str], answer: "Callable[[Release], WithOutcomes]", config: Path | None = None
) -> "WithOutcomes":
    """Return the worse of the answers for both ends of the range of releases, with their differences."""
    from kcheck.verbs.release import of_worse_end

    return complete(lambda: of_worse_end(release(kafka, paths=texts, config=config), answer))


def complete(answer_of: "Callable[[], WithFindings]") -> "WithFindings":
    """Return an answer with a finding for each path that the system refused, and that it does not name."""
    from kcheck.disk.kept import one_look
    from kcheck.survey.refused_paths import complete as with_refused

    with one_look():
        return with_refused(answer_of)


def texts_of(paths: Iterable[Path]) -> list[str]:
    """Return paths as texts."""
    return [os.fspath(path) for path in paths]


def metadata_for(paths: list[str], named: Iterable[Path]) -> tuple[str, ...]:
    """Return the metadata that the user names, else ZooKeeper's data in the folders among the paths."""
    texts = tuple(texts_of(named))
    if texts:
        return texts
    from kcheck.views.zookeeper_beside import zookeeper_beside

    return zookeeper_beside(paths)
