"""The brokers of log dirs without a broker id."""

from collections.abc import Sequence

from kcheck.core.cluster.owner import owner_of, replicas_in
from kcheck.model.names import META_PROPERTIES
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import Target, TargetKind, replica_targets


def with_owners(arguments: list[str], metadata: tuple[str, ...], log_dirs: LogDirs) -> list[str]:
    """Return the arguments, as `BROKER=PATH` for log dirs without broker id.

    The metadata assign exactly their replicas to that broker. Unchanged if no broker is found.
    """
    targets = replica_targets(arguments)
    of_place: dict[str, list[Target]] = {}
    for target in targets:
        of_place.setdefault(target.config or target.folder or target.path, []).append(target)
    unnamed = {place: own for place, own in of_place.items() if _names_none(own, log_dirs)}
    image = image_at_hand(targets, metadata, log_dirs) if unnamed else None
    if image is None:
        return arguments
    directories = {
        place: [known for target in own for _, known in log_dirs.open(target).directories]
        for place, own in unnamed.items()
    }
    owners = {place: owner_of(replicas_in(known), image) for place, known in directories.items()}
    named = {place: own[0].broker_id if owners.get(place) is None else owners[place] for place, own in of_place.items()}
    if {*owners.values()} <= {None}:
        return arguments
    return [place if number is None else f"{number}={place}" for place, number in named.items()]


def _names_none(targets: Sequence[Target], log_dirs: LogDirs) -> bool:
    """Return whether these log dirs have no meta.properties, and no broker id from the user or settings."""
    return all(
        target.kind is TargetKind.LOG_DIR
        and target.broker_id is None
        and log_dirs.open(target).view.where.broker_id is None
        and META_PROPERTIES not in log_dirs.open(target).view.files
        for target in targets
    )
