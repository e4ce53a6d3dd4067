"""Log dirs that get no new replicas."""

import pytest

from kcheck.core.start.cordoned import is_cordoned
from kcheck.model.cluster import CORDONED, BrokerRegistration, ClusterImage
from kcheck.model.finding import Location
from kcheck.model.views import LogDirView

VIEW = LogDirView(Location(log_dir="/d/", broker_id=1), directory_id="A")


def image(*cordoned: str, setting: str | None = None) -> ClusterImage:
    """Return metadata in which broker 1 registered with these cordoned log dirs."""
    configs = {} if setting is None else {("broker", "1"): {CORDONED: setting}}
    broker = BrokerRegistration(1, 5, fenced=False, log_dirs=("A", "B"), cordoned_log_dirs=cordoned)
    return ClusterImage(topics={}, brokers={1: broker}, configs=configs)


@pytest.mark.parametrize(
    ("metadata", "setting", "cordoned"),
    [
        (None, None, None),
        (None, "/e, /d", True),
        (None, "*", True),
        (None, "", False),
        (image(), None, False),
        (image("A"), None, True),
        (image("B"), None, False),
        (image("A"), "/e", True),
        (image(setting="/d"), "/e", True),
        (image(setting=""), "/d", False),
    ],
)
def test_the_registration_or_the_configuration_says_so(
    metadata: ClusterImage | None, setting: str | None, cordoned: bool | None
) -> None:
    """A value in the metadata overrides server.properties."""
    assert is_cordoned(VIEW, metadata, setting) is cordoned


def test_a_broker_that_is_not_known() -> None:
    """No id, or one that is not registered."""
    assert is_cordoned(VIEW._replace(where=Location(log_dir="/d")), image("A"), None) is None
    assert is_cordoned(VIEW._replace(where=Location(log_dir="/d", broker_id=2)), image("A"), None) is None
