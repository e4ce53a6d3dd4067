"""Tells whether a log dir is cordoned and gets no new replicas (KIP-1066; LogManager.nextLogDirs 4.3.1)."""

from kcheck.model.cluster import CORDONED, ClusterImage
from kcheck.model.views import LogDirView

_ALL = "*"


def is_cordoned(view: LogDirView, image: ClusterImage | None, setting: str | None) -> bool | None:
    """Return whether the broker's registration or its configuration cordons a log dir; None if neither is known.

    `setting` is `cordoned.log.dirs` of server.properties. A value in the metadata overrides it.
    """
    broker_id = view.where.broker_id
    registration = None
    if image is not None and broker_id is not None:
        registration = image.brokers.get(broker_id)
        setting = image.configs.get(("broker", str(broker_id)), {}).get(CORDONED, setting)
    if registration is not None and view.directory_id in registration.cordoned_log_dirs:
        return True
    if setting is None:
        return None if registration is None else False
    names = [name.strip().rstrip("/") for name in setting.split(",")]
    return _ALL in names or (view.where.log_dir or "").rstrip("/") in names
