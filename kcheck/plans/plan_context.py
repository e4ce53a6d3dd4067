"""The paths and settings that the steps of a recovery name."""

from collections.abc import Iterable, Mapping

from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.premises.listeners import address_of
from kcheck.disk.paths import absolute, is_absolute, join
from kcheck.disk.tree import path_at_home, real_path, tree_of
from kcheck.documents.removed_records import removed_words
from kcheck.documents.uncounted import served_from_copies
from kcheck.handouts.group_resets import resets_of
from kcheck.handouts.plan_context import PlanContext
from kcheck.model.cluster import PROVIDER
from kcheck.model.java import java_int
from kcheck.replicas.elect import ClusterElection
from kcheck.startup.log_dir_outcome import has_metadata_log
from kcheck.views.controller_settings import controller_settings
from kcheck.views.settings_files import settings_path
from kcheck.views.targets import Target, log_dirs_in, read_properties, replica_targets, written_log_dirs
from kcheck.words import milliseconds_words


def plan_context(election: ClusterElection, recovery: Recovery, folder: str, saver: str | None = None) -> PlanContext:
    """Return the paths and settings for the steps of a recovery, with its files in `folder`.

    `saver` is the subject and verb of the step that saves readable records; None without one.
    """
    targets = by_broker(election)
    seen = _settings(election, targets)
    settings = {number: settings_path(own) for number, own in targets.items()}
    return PlanContext(
        recovery=recovery,
        resets=resets_of(recovery),
        settings={number: path_at_home(path) for number, path in settings.items() if path is not None},
        log_dirs={
            number: tuple(map(path_at_home, _kept(settings[number], own, election))) for number, own in targets.items()
        },
        controllers=tuple(
            path_at_home(path) for path, said in seen.items() if said.get("process.roles", "").strip() == "controller"
        ),
        metadata=election.question.metadata,
        places=_places(election, targets),
        homes={
            (number, start.view.directory_id): path_at_home(target.log_dir)
            for number, own in targets.items()
            for target in own
            if (start := election.predicted.get(target.path)) is not None and start.view is not None
        },
        backup=join(folder, "aside"),
        saved=election.saved_in,
        old_copies=served_from_copies(election.uncounted, election.of_cluster),
        at_start={
            number: tuple(removed_words([row for row in election.removed if row.broker_id == number], saver))
            for number in {row.broker_id for row in election.removed}
        },
        addresses=_addresses(settings),
        session=_session(seen.values(), kraft=election.kraft),
    )


def by_broker(election: ClusterElection) -> dict[int, list[Target]]:
    """Return the log dirs of each broker that the user named, without the lost ones."""
    lost = {row.path for row in election.question.without}
    targets: dict[int, list[Target]] = {}
    for target in replica_targets([*election.arguments]):
        number = None if target.log_dir in lost else election.broker_of(target)
        if number is not None:
            targets.setdefault(number, []).append(target)
    return targets


def _settings(election: ClusterElection, targets: Mapping[int, list[Target]]) -> Mapping[str, Mapping[str, str]]:
    """Return the settings of controllers, by path, from --config, the paths and the given metadata."""
    question = election.question
    seen: dict[str, tuple[str, Mapping[str, str]]] = {}
    given = (target for own in targets.values() for target in own)
    for path, said in controller_settings(given, question.metadata, question.config).items():
        seen.setdefault(real_path(path), (path, said))
    return dict(seen.values())


def _addresses(settings: Mapping[int, str | None]) -> dict[int, str]:
    """Return the addresses for clients in server.properties, by broker."""
    read = {number: read_properties(path) for number, path in settings.items() if path is not None}
    found = {number: address_of(said) for number, said in read.items()}
    return {number: known for number, known in found.items() if known is not None and PROVIDER not in known}


def _session(settings: Iterable[Mapping[str, str]], *, kraft: bool) -> str | None:
    """Return the longest session timeout of settings, in words; None without one."""
    name = f"{'broker' if kraft else 'zookeeper'}.session.timeout.ms"
    given = [number for said in settings if (number := java_int(said.get(name, "").strip())) is not None]
    return None if not given else milliseconds_words(max(given))


def _kept(path: str | None, own: list[Target], election: ClusterElection) -> tuple[str, ...]:
    """Return the new log.dirs of a broker, without log dirs that are given up, and with missing ones.

    The metadata log is in the first one, unless metadata.log.dir is set. If one path is absolute, all are, as the
    broker may run in another directory than kcheck.
    """
    lost = {real_path(row.path) for row in election.question.without}
    added = [target for target in own if target.path in {row.path for row in election.question.added}]
    config = {} if path is None or not (lost or added) else {**read_properties(path), "metadata.log.dir": ""}
    named = log_dirs_in(tree_of(path), path, config) if path is not None else ()
    kept = tuple(place for place, at in zip(written_log_dirs(config), named, strict=True) if real_path(at) not in lost)
    is_typed = not any(map(is_absolute, kept))
    places = {target.path: target.log_dir if is_typed else absolute(target.log_dir) for target in added}
    first = [place for path, place in places.items() if has_metadata_log(election.predicted[path])]
    last = [place for place in places.values() if place not in first]
    return (*first, *kept, *last) if kept else tuple(target.log_dir for target in own)


def _places(election: ClusterElection, targets: Mapping[int, list[Target]]) -> dict[tuple[int, str], str]:
    """Return the directories of replicas, by broker and name."""
    return {
        (number, row.dir): path_at_home(join(target.log_dir, row.dir))
        for number, own in targets.items()
        for target in own
        if target.path in election.predicted
        for row in election.predicted[target.path].partitions
    }
