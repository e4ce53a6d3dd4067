"""The log dirs in log.dirs, and those on the disk."""

from kcheck.core.premises.facts import LogDirFacts
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import UNASSIGNED_DIRECTORY, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.names import DirectoryState, TopicPartition
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import (
    IDENTITY,
    KRAFT,
    METADATA_LOG,
    ORDERS,
    SECOND,
    copy,
    directory,
    facts,
    image,
    log_dir,
    not_seen,
    refuted,
    rows,
)


def test_settings_that_list_log_dirs_which_are_not_here() -> None:
    """Nobody knows whether the broker uses the given ones. The others are not missing."""
    given = facts(elsewhere=("/data",), config={**KRAFT, "log.dirs": "/data"})
    sentence = "server.properties lists /data, and not d1: whether broker 1 uses them is not known"
    assert {"P317": sentence} == not_seen(given)
    assert {} == refuted(given)
    assert "P311" not in rows(given, PremiseStatus.PROVEN)


def test_relative_log_dirs_lead_to_one_directory_alone() -> None:
    """A broker looks for them where it is started."""
    sentence = "log.dirs is relative, and leads to /hosts/ only if broker 1 is started there"
    assert not_seen(facts(begins_in="/hosts/"))["P317"] == sentence
    both = f"{sentence}; /t4 has such log dirs too"
    assert not_seen(facts(begins_in="/hosts/", begins_too="/t4"))["P317"] == both
    assert "leads to this directory only if" in not_seen(facts(begins_too="/t4"))["P317"]


def test_replicas_of_a_partition_that_was_created_without_the_broker_need_no_directory() -> None:
    """Its first ISR has all brokers that were there, so the broker never had a record that the ISR lacks."""
    without = facts(log_dir(directories=(METADATA_LOG,)))
    for isr, epoch, is_proven in (((2,), 0, True), ((2,), 1, False), ((2,), None, False), ((1, 2), 0, False)):
        partitions = {0: PartitionRegistration((2, 1), isr, 2, 0, epoch)}
        given = without._replace(image=ClusterImage({"orders": TopicImage("orders", "T", partitions)}))
        assert is_proven == ("P302" in rows(given, PremiseStatus.PROVEN))


def test_log_dirs_that_are_not_given() -> None:
    """The settings list them, or the broker registered them, or an assigned partition must be in them."""
    listed = facts(log_dir(), SECOND._replace(is_given=False))
    assert not_seen(listed)["P301"] == "broker 1 has another log dir, d2, which is not given"
    registered = facts(config=None, is_complete=False, copies=(copy(of=image(log_dirs=("D1", "D2"))),))
    assert not_seen(registered)["P301"] == "broker 1 registered 2 log dirs, and 1 of them is not given"
    without_ids = {"config": None, "copies": (copy(of=image(log_dirs=())),), "image": image(1, 2, isr=(2, 1))}
    for is_complete in (False, True):
        assigned = facts(log_dir(directories=()), is_complete=is_complete, **without_ids)
        words = "whether every log dir of broker 1 is given is not known, because orders-0 has no directory in d1"
        assert not_seen(assigned).get("P301") == (None if is_complete else words)
        for given in (listed, registered, assigned):
            assert "P301" not in rows(given, PremiseStatus.PROVEN)


def test_the_log_that_the_broker_led_last() -> None:
    """Only the last leader's log has what no follower had fetched. An only replica is counted by P302 already."""
    led = image(1, 2, isr=(1,), leader=1)
    empty = log_dir(directories=(METADATA_LOG,))
    sentence = "no log dir here has the log of orders-0, which broker 1 led last"
    assert sentence == refuted(facts(empty, image=led))["P861"]
    for known in (image(1, 2, isr=(), last_leader=1), image(1, 2, isr=(), elr=(1,), last_leader=2)):
        assert sentence == refuted(facts(empty, image=known))["P861"]
    for known in (image(1, 2, isr=(2,), leader=2), image(1, 2, isr=(), elr=(1, 2), last_leader=2), image()):
        assert "P861" in rows(facts(empty, image=known), PremiseStatus.PROVEN)
    own = copy(node=1, of=led)
    for some in (facts(empty, image=led, is_complete=False), facts(empty, image=led, copies=(own,))):
        assert sentence == not_seen(some)["P861"]
        assert "P861" not in refuted(some)
    assert "P861" in rows(facts(image=led), PremiseStatus.PROVEN)


def test_a_removed_directory_of_a_log_that_the_broker_led_last() -> None:
    """A checkpoint lists the partition. With the log dir of the metadata no other disk can have the log."""
    orders = TopicPartition("orders", 0)
    empty = log_dir(directories=(METADATA_LOG,), left=frozenset({orders}))
    sentence = "the directory of orders-0 was removed from d1, where checkpoints list it. Broker 1 led it last"
    for directories in ((), ("D1", "D2"), (UNASSIGNED_DIRECTORY, "D2")):
        given = facts(empty, image=image(1, 2, isr=(1,), leader=1, directories=directories))
        assert sentence == refuted(given)["P837"]
        assert "P861" not in {*refuted(given), *rows(given, PremiseStatus.PROVEN)}
    elsewhere = facts(empty, image=image(1, 2, isr=(1,), leader=1, directories=("D9", "D2")))
    assert {"P861"} == {"P837", "P861"} & {*refuted(elsewhere)}
    led = image(1, 2, isr=(1,), leader=1)
    own = facts(empty, image=led, copies=(copy(node=1, of=led),))
    assert sentence == not_seen(own)["P837"]
    for known in (image(1, 2, isr=(2,), leader=2), image()):
        assert "P837" not in refuted(facts(empty, image=known))
    assert "P837" not in refuted(facts(empty, LogDirFacts("d2", is_there=False), image=led))


def test_a_log_that_the_broker_led_last_and_does_not_serve() -> None:
    """Elections count the records of directories that no broker serves. A -future directory is only a part."""
    led = image(1, 2, isr=(1,), leader=1)
    for state in DirectoryState:
        given = facts(log_dir(directories=(METADATA_LOG, directory("orders", state=state))), image=led)
        assert (state is DirectoryState.FUTURE) == ("P861" in refuted(given))


def test_a_future_directory_is_a_part_of_a_log() -> None:
    """A broker of 3.9.2 made the partition again, empty, beside the part of a move, and led. 3.7.1 swaps a log in."""
    future = directory("orders", state=DirectoryState.FUTURE)
    part = log_dir(directories=(METADATA_LOG, future))
    empty = "orders-0 would start empty, because no directory is here and no other broker has a replica"
    for place, given in ((None, part), ("D9", part), ("D1", part._replace(identity={**IDENTITY, "directory.id": ""}))):
        assert empty == refuted(facts(given, image=image(1, directories=(place,) if place else ())))["P302"]
    assert "P302" in rows(facts(part, image=image(1, directories=("D1",))), PremiseStatus.PROVEN)
    old = facts(part, image=image(1, directories=("D1",)), release=release("3.7.0"))
    assert empty == refuted(old)["P302"]
    other = log_dir("d2", {**IDENTITY, "directory.id": "D2"}, directories=(ORDERS,), is_named=False)
    alone = "log.dirs in server.properties does not contain d2, which alone has orders-0"
    assert alone == refuted(facts(part, other, image=image(1, directories=("D2",))))["P311"]


def test_a_replica_that_the_metadata_has_in_a_log_dir_outside_of_the_settings() -> None:
    """Its directory was moved by hand. A controller of 3.9.2 elected no leader."""
    former = log_dir("d2", {**IDENTITY, "directory.id": "D2"}, directories=(), is_named=False)
    sentence = (
        "log.dirs in server.properties does not contain d2, where the metadata has orders-0."
        " The controllers elect no replica there"
    )
    assert sentence == refuted(facts(log_dir(), former, image=image(1, directories=("D2",))))["P311"]
    for number, replicas, row in (
        ("D1", (1,), former),
        ("D2", (1, 2), former),
        ("D2", (1,), former._replace(is_there=False)),
    ):
        of = image(*replicas, isr=replicas, leader=replicas[-1], directories=(number,) * len(replicas))
        assert "P311" not in refuted(facts(log_dir(), row, image=of))


def test_a_log_in_another_log_dir_than_in_the_metadata() -> None:
    """It was moved by hand, or made again. Ids that name no log dir show nothing, nor does a log dir that is here."""
    sentence = (
        "broker 1 led orders-0 last in a log dir that is not here."
        " Another log dir has a directory, but perhaps not the same log"
    )
    for number, is_here in (("D1", True), ("D9", False), (UNASSIGNED_DIRECTORY, True)):
        given = facts(image=image(1, 2, isr=(1,), leader=1, directories=(number, "D2")))
        assert is_here == ("P861" in rows(given, PremiseStatus.PROVEN))
        assert (None if is_here else sentence) == not_seen(given).get("P861")


def test_a_missing_log_dir_that_the_broker_makes() -> None:
    """A broker of 2.4.1 made it, and lost nothing. With less metadata, or no other log dir, nothing shows that."""
    of = log_dir(identity={"version": "0", "broker.id": "1", "cluster.id": "C"})
    missing = LogDirFacts("d2", is_there=False)
    given = facts(of, missing, mode=Mode.ZOOKEEPER, release=release("2.4"), config={}, copies=(), image=image(1))
    assert "P301" not in {*refuted(given), *not_seen(given)}
    assert ["d2"] == [row.log_dir for row in judged(given) if row.id == "P301"]
    for fields in (
        {"image": None}, {"broker_id": None}, {"log_dirs": (missing,)}, {"release": release("0.11.0")},
        {"log_dirs": (of._replace(directories=()), missing)}, {"mode": Mode.KRAFT, "release": release("3.9")},
    ):  # fmt: skip
        assert "P301" in refuted(given._replace(**fields))


def test_a_missing_log_dir_comes_before_the_logs_that_were_there() -> None:
    """The broker does not start. The sentences about its disks name the partitions."""
    led = image(1, 2, isr=(1,), leader=1)
    empty = log_dir(directories=(METADATA_LOG,))
    for other in (LogDirFacts("d2", is_there=False), LogDirFacts("d2")):
        given = facts(empty, other, image=led)
        assert "P301" in refuted(given)
        assert "P861" not in {*refuted(given), *not_seen(given)}
