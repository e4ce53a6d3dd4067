"""Settings of brokers and controllers of 3.9.2 in a migration from ZooKeeper to KRaft, and what these nodes did."""

import pytest

from kcheck.core.cluster.copies import MetadataCopy, decides_alone
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import BrokerRegistration
from tests.core.premises.test_premises import IDENTITY, KRAFT, copy, facts, image, log_dir

ENABLE = "zookeeper.metadata.migration.enable"
ZOOKEEPER = {"broker.id": "1", "log.dirs": "d1", "zookeeper.connect": "z:2181"}
MIGRATING = {**ZOOKEEPER, ENABLE: "True"}
CONTROLLER = {"process.roles": "controller", "node.id": "100", "log.dirs": "d1"}
OLD = BrokerRegistration(1, 7, fenced=False, migrating=True)


def at(state: str | None, *brokers: BrokerRegistration) -> MetadataCopy:
    """Return the controller's copy in a state of the migration."""
    return copy(of=image()._replace(migration=state, brokers={row.broker_id: row for row in brokers or (OLD,)}))


def migrating(of: MetadataCopy, **fields: object) -> BrokerFacts:
    """Return a broker of 3.9 with the controller's copy."""
    given = {
        "release": release("3.9"), "mode": Mode.ZOOKEEPER, "config": ZOOKEEPER, "copies": (of,), "image": of.image,
        **fields,
    }  # fmt: skip
    return facts(log_dir(identity={**IDENTITY, "version": "0"}), **given)


def status(given: BrokerFacts, premise: str) -> str | None:
    """Return the status of a premise; None where it does not apply."""
    return next((str(row.status) for row in judged(given) if row.id == premise), None)


HELD = image()._replace(kraft_controller=100)


def test_no_broker_becomes_the_controller_beside_one_of_kraft() -> None:
    """Two brokers started with ZooKeeper alone after a migration was given up, and no partition had a leader."""
    held = migrating(copy(), copies=(), image=HELD)
    row = next(row for row in judged(held) if row.id == "P373")
    assert row.status == "refuted"
    assert row.sentence == (
        f"KRaft controller 100 holds /controller in ZooKeeper, and broker 1 starts without {ENABLE}=true. No broker"
        " becomes the controller, and its partitions get no leader"
    )
    assert status(held._replace(config=MIGRATING), "P373") == "proven"
    assert status(held._replace(config=None), "P373") == "not-seen"
    assert status(held._replace(config=KRAFT), "P373") is None
    assert status(held._replace(release=release("3.3")), "P373") is None
    assert status(held._replace(image=image()), "P373") is status(held._replace(image=None), "P373") is None


@pytest.mark.parametrize(
    ("state", "expected"), [("migration", "not-seen"), ("post-migration", "not-seen"), ("pre-migration", None)]
)
def test_a_copy_of_kraft_does_not_show_who_holds_the_controller(state: str, expected: str | None) -> None:
    """Whoever gave a migration up deleted /controller, and the brokers still have a copy of KRaft's metadata."""
    assert status(migrating(at(state)), "P373") == expected


def test_controllers_register_brokers_of_one_mode() -> None:
    """Brokers asked again and again: "Controller does not support registering ZK brokers"."""
    during = migrating(at("migration"), config=MIGRATING)
    assert status(during._replace(controller_config={ENABLE: "true"}), "P374") == "proven"
    assert status(during._replace(controller_config={}), "P374") == "refuted"
    assert status(during, "P374") == "proven"
    assert status(migrating(at(None), config=MIGRATING), "P374") == "not-seen"
    assert status(migrating(at("migration"), config=KRAFT), "P374") is None
    assert status(migrating(at("pre-migration"), config=KRAFT), "P374") == "refuted"
    assert status(migrating(at("migration")), "P374") is None
    assert status(during._replace(config=None), "P374") is status(during._replace(copies=()), "P374") is None


def test_a_controller_ends_the_migration_for_good() -> None:
    """Without the setting the controller completed the migration, and registered no broker with ZooKeeper."""
    own = migrating(at("migration"), config=CONTROLLER, broker_id=100, mode=Mode.KRAFT)
    row = next(row for row in judged(own) if row.id == "P375")
    assert row.sentence == (
        f"without {ENABLE}=true the controller ends the migration for good. Broker 1 registered with ZooKeeper"
        " last, and can then only start with KRaft"
    )
    assert status(own._replace(config={**CONTROLLER, ENABLE: "true"}), "P375") == "proven"
    done = at("migration", OLD._replace(migrating=False))
    ended = at("post-migration")
    assert status(own._replace(copies=(done,)), "P375") is status(own._replace(copies=(ended,)), "P375") is None
    assert status(own._replace(copies=()), "P375") is status(own._replace(config=KRAFT), "P375") is None


def test_a_broker_with_zookeeper_writes_no_epoch() -> None:
    """Its .kafka_cleanshutdown has -1, while the KRaft controllers gave it an epoch."""
    row = log_dir(identity={**IDENTITY, "version": "0"}, clean=True, shutdown_epoch=-1)
    given = migrating(at("migration"), config=MIGRATING)._replace(log_dirs=(row,))
    assert status(given, "P701") is None
    assert status(given._replace(log_dirs=(row._replace(shutdown_epoch=3),)), "P701") == "refuted"
    registered = at("migration", OLD._replace(migrating=False))
    assert status(given._replace(copies=(registered,)), "P701") == "refuted"


def test_the_metadata_that_decides() -> None:
    """After the migration ZooKeeper had an older copy of 3.9.2, or none of the topics that were made since."""
    for state, expected in ((None, False), ("pre-migration", False), ("migration", True), ("post-migration", True)):
        assert decides_alone(at(state), HELD) is expected
        assert not decides_alone(at(state), image())
        assert decides_alone(at(state), None)
    assert not decides_alone(None, HELD)
