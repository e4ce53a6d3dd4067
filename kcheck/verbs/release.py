"""`--kafka`: the one place that decides for which release of Kafka a command answers."""

from kcheck.core.release_evidence import evidence
from kcheck.core.releases import release as release_of
from kcheck.model.evidence import AUTO
from kcheck.model.release import Release
from kcheck.views.release_evidence import release_ranges
from kcheck.views.targets import replica_targets


def release(arguments: list[str], kafka: str, *, ibp: str | None, message_format: str | None) -> Release:
    """Return the release that the user names, or with `auto` the newest tested one that the files can be of.

    What the files say is its `evidence`. UsageError: no Kafka files at a path, or a version that is not known.
    """
    given = None if kafka == AUTO else release_of(kafka, ibp=ibp, message_format=message_format)
    if not arguments:
        return given or release_of(ibp=ibp, message_format=message_format)
    proved = evidence(release_ranges(replica_targets(arguments)), None if given is None else kafka)
    chosen = given or release_of(proved.used, ibp=ibp, message_format=message_format)
    return chosen._replace(evidence=proved)
