"""What happens to a cluster last: one function a story."""

import contextlib
import shutil
import signal
import time
from collections.abc import Callable

from tests.oracle.incidents.running import Run, recreate
from tests.oracle.jars import numbers
from tests.oracle.kafka import wait_for


def _all_up(run: Run) -> None:
    run.load()
    run.settle()


def stop(run: Run) -> bool:
    """Shut all down that run, at once; say whether each ended by itself: a quorum needs its majority for that."""
    alive = [broker for broker in run.cluster.brokers.values() if broker.alive]
    for broker in alive:
        broker.send(signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        wait_for("a shutdown", lambda: not any(broker.alive for broker in alive), timeout=20)
    clean = not any(broker.alive for broker in alive)
    if run.shape.beside == "controller":
        run.cluster.beside.stop()
    run.cluster.kill()
    return clean


def stop_cleanly(run: Run) -> bool:
    """All work, and are shut down."""
    _all_up(run)
    return stop(run)


def kill_all(run: Run) -> bool:
    """All are killed under load."""
    run.settle()
    run.load()
    run.cluster.kill()
    return False


def kill_one_by_one(run: Run) -> bool:
    """One after the other is killed, and the others work on."""
    _all_up(run)
    ids = list(run.cluster.brokers)
    run.random.shuffle(ids)
    for number in ids[:-1]:
        run.cluster[number].kill()
        time.sleep(5)
        run.load({other for other in run.cluster.brokers if run.cluster[other].alive})
    run.cluster.kill()
    return False


def one_behind(run: Run) -> bool:
    """Stop a broker, and let the others work on."""
    return _one_behind(run, "")


def unclean_topic(run: Run) -> bool:
    """Do the same, and then allow unclean elections of a topic."""
    return _one_behind(run, "configure orders unclean.leader.election.enable=true")


def _one_behind(run: Run, last: str) -> bool:
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    if run.random.random() < 0.5:
        run.cluster[number].stop()
        clean = True
    else:
        run.cluster[number].kill()
        clean = False
        time.sleep(5)
    run.load({other for other in run.cluster.brokers if other != number})
    if last:
        run.client.ask(last)
    return stop(run) and clean


def rolling(run: Run) -> bool:
    """Each is restarted, with records between."""
    for number in run.cluster.brokers:
        run.cluster[number].stop()
        run.load({other for other in run.cluster.brokers if other != number})
        run.cluster[number].start()
        run.settle()
    return stop_cleanly(run)


def unclean_election(run: Run) -> bool:
    """Elect a follower that was out of sync when the leader died; then stop all."""
    _all_up(run)
    ids = list(run.cluster.brokers)
    one, two = run.random.sample(ids, 2)
    run.cluster[two].kill()
    time.sleep(6)
    run.load({one})
    run.cluster[one].kill()
    time.sleep(5)
    run.cluster[two].start()
    for _ in range(3):  # With ZooKeeper the new controller first hears which broker is there.
        run.client.ask("elect unclean")
        time.sleep(2)
    before = {name: dict(records) for name, records in run.records.items()}
    run.load({two})
    for name, records in before.items():
        gone = [at for at, value in records.items() if run.records[name][at] != value]
        run.replaced |= {name: gone} if gone else {}
    stop(run)
    return False


def open_transaction(run: Run) -> bool:
    """End a producer with its transaction open."""
    _all_up(run)
    run.client.ask("open pay 0 3")
    run.settle()
    if run.random.random() < 0.5:
        return stop(run)
    run.cluster.kill()
    return False


def frozen_follower(run: Run) -> bool:
    """Kill a leader whose records with acks=1 no follower has fetched, and let another one lead."""
    _all_up(run)
    seats = {(row[1], int(row[2])): int(row[3]) for row in run.client.ask("leaders")}
    leader = seats["audit", 0]
    others = [broker for number, broker in run.cluster.brokers.items() if number != leader]
    for broker in others:
        broker.send(signal.SIGSTOP)
    run.send("audit", 0, "1", 7)
    run.cluster[leader].kill()
    for broker in others:
        broker.send(signal.SIGCONT)
    time.sleep(5)
    run.load({number for number in run.cluster.brokers if number != leader})
    stop(run)
    return False


def trimmed(run: Run) -> bool:
    """Delete records as kafka-delete-records does."""
    _all_up(run)
    for name in ("orders-0", "solo-0"):
        topic, _, partition = name.rpartition("-")
        offsets = sorted(run.records.get(name, {}))
        if len(offsets) > 4:
            cut = offsets[run.random.randrange(1, len(offsets) - 1)]
            run.client.ask(f"trim {topic} {partition} {cut}")
            run.records[name] = {at: value for at, value in run.records[name].items() if at >= cut}
    run.settle()
    return stop_cleanly(run) if run.random.random() < 0.5 else kill_all(run)


def reassigning(run: Run) -> bool:
    """Begin to move partitions to a broker that is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    other = run.random.choice([each for each in run.cluster.brokers if each != number])
    run.cluster[number].stop()
    run.load({each for each in run.cluster.brokers if each != number})
    run.client.ask(f"reassign solo {other - 1} {number}")
    run.client.ask(f"reassign audit 0 {number},{other}")
    time.sleep(1)
    return stop(run)


def reassigned_midway(run: Run) -> bool:
    """Move partitions to other brokers, slowly; then kill all, or stop them."""
    _all_up(run)
    ids = list(run.cluster.brokers)
    for number in ids:
        run.client.ask(f"slow {number}")
    for topic in ("solo", "audit", "orders"):
        for side in ("leader", "follower"):
            run.client.ask(f"configure {topic} {side}.replication.throttled.replicas=*")
    for partition, number in enumerate(ids):
        run.client.ask(f"reassign solo {partition} {ids[(ids.index(number) + 1) % len(ids)]}")
    run.client.ask(f"reassign audit 0 {run.random.choice(ids)}")
    run.client.ask(f"reassign orders 0 {','.join(map(str, run.random.sample(ids, max(1, len(ids) - 1))))}")
    time.sleep(2)
    run.load()
    if run.random.random() < 0.5:
        return stop(run)
    run.cluster.kill()
    return False


def moved_away(run: Run) -> bool:
    """Give partitions of a broker that is down to the others; it comes back with what is not its own any more."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    others = [each for each in run.cluster.brokers if each != number]
    run.cluster[number].kill()
    time.sleep(5)
    for name in ("orders 0", "orders 1", "again 0"):
        run.client.ask(f"reassign {name} {','.join(map(str, others))}")
    time.sleep(2)
    run.load(set(others))
    stop(run)
    return False


def recreated_behind(run: Run) -> bool:
    """Delete a topic and create it again while a broker with its directories is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    run.cluster[number].stop()
    recreate(run)
    run.load({each for each in run.cluster.brokers if each != number})
    return stop(run)


def trimmed_behind(run: Run) -> bool:
    """Delete records while a broker that has them is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    run.cluster[number].kill()
    time.sleep(5)
    run.load({each for each in run.cluster.brokers if each != number})
    for name in ("orders-0", "orders-1", "audit-0"):
        topic, _, partition = name.rpartition("-")
        offsets = sorted(run.records.get(name, {}))
        if len(offsets) > 4 and not run.client.ask(f"trim {topic} {partition} {offsets[-3]}"):
            run.records[name] = {at: value for at, value in run.records[name].items() if at >= offsets[-3]}
    time.sleep(2)
    stop(run)
    return False


def lost_disk(run: Run) -> bool:
    """Let the second log dir of a broker fail under load; it is back when all is over."""
    _all_up(run)
    broker = run.cluster[run.random.choice(list(run.cluster.brokers))]
    log_dir = broker.log_dirs[-1]
    aside = log_dir.with_name("failed")
    log_dir.rename(aside)
    time.sleep(6)
    run.load()
    run.settle()
    stop(run)
    shutil.rmtree(log_dir, ignore_errors=True)
    aside.rename(log_dir)
    return False


def between_disks(run: Run) -> bool:
    """Move partitions from one log dir to the other, slowly; then kill all, or stop them."""
    for number, broker in run.cluster.brokers.items():
        run.client.ask(f"slow {number}")
        for name in ("orders 0", "solo 0", "pay 0", f"solo {number - 1}"):
            run.client.ask(f"move {name} {number} {broker.log_dirs[run.random.randrange(2)]}")
    run.load()
    run.settle()
    run.load()
    if run.random.random() < 0.5:
        return stop(run)
    run.cluster.kill()
    return False


def more_in_sync(run: Run) -> bool:
    """Ask for more replicas in sync than there are."""
    _all_up(run)
    run.cluster[run.random.choice(list(run.cluster.brokers))].kill()
    run.client.ask("configure orders min.insync.replicas=3")
    time.sleep(5)
    run.load()
    stop(run)
    return False


def deleting(run: Run) -> bool:
    """Delete a topic while a broker is down, and kill or stop the others before its directories are gone."""
    _all_up(run)
    run.cluster[run.random.choice(list(run.cluster.brokers))].kill()
    time.sleep(5)
    run.client.ask("delete audit")
    run.records = {name: records for name, records in run.records.items() if not name.startswith("audit-")}
    run.partitions = [row for row in run.partitions if row[0] != "audit"]
    time.sleep(run.random.choice((0.5, 2)))
    if run.random.random() < 0.5:
        stop(run)
    run.cluster.kill()
    return False


def grown_behind(run: Run) -> bool:
    """Give a topic more partitions, and write to them, while a broker is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    run.cluster[number].stop()
    run.client.ask("grow again 4")
    time.sleep(2)
    run.partitions += [("again", partition, "all") for partition in (1, 2, 3)]
    others = {each for each in run.cluster.brokers if each != number}
    run.load(others)
    run.load(others)
    return stop(run)


def alone_in_sync(run: Run) -> bool:
    """Let one replica after the other leave, and min.insync.replicas fall; the last one alone takes records."""
    _all_up(run)
    ids = list(run.cluster.brokers)
    run.random.shuffle(ids)
    for number in ids[:-1]:
        run.cluster[number].stop()
    time.sleep(5)
    for topic in ("orders", "pay"):
        run.client.ask(f"configure {topic} min.insync.replicas=1")
    run.load({ids[-1]})
    run.cluster[ids[-1]].stop() if run.random.random() < 0.5 else run.cluster[ids[-1]].kill()
    for number in ids[:-1]:
        with contextlib.suppress(RuntimeError, TimeoutError):
            run.cluster[number].start()
    time.sleep(3)
    stop(run)
    return False


def retention_behind(run: Run) -> bool:
    """Shorten the retention of a topic while a broker is down, until the others have deleted segments."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    clean = run.random.random() < 0.5
    run.cluster[number].stop() if clean else run.cluster[number].kill()
    time.sleep(5)
    others = {each for each in run.cluster.brokers if each != number}
    run.load(others)
    run.client.ask("configure orders retention.bytes=1")
    run.load(others)
    run.records = {name: {} if name.startswith("orders-") else of for name, of in run.records.items()}
    time.sleep(35 if numbers(run.shape.release) < (3, 8) else 8)
    return stop(run) and clean


def controller_first(run: Run) -> bool:
    """Stop the controller, or ZooKeeper, and let the brokers work on; then they are killed or stopped."""
    _all_up(run)
    if run.shape.beside is None:
        return kill_all(run)
    run.cluster.beside.kill()
    run.load()
    time.sleep(3)
    run.load()
    run.cluster.kill()
    return False


def killed_in_start(run: Run) -> bool:
    """Kill all, start them again, and kill them once more while they load or right after."""
    _all_up(run)
    run.load()
    run.cluster.kill()
    if run.shape.beside is not None:
        run.cluster.beside.start()
    for broker in run.cluster.brokers.values():
        broker.spawn()
    time.sleep(run.random.choice((1.5, 2.5, 4, 6)))
    run.cluster.kill()
    return False


def cleaned_no_more(run: Run) -> bool:
    """Change a compacted topic, whose segments have been cleaned, to delete; write on."""
    _all_up(run)
    time.sleep(4)
    run.client.ask("configure keys cleanup.policy=delete")
    time.sleep(1)
    run.load()
    return stop_cleanly(run) if run.random.random() < 0.5 else kill_all(run)


def larger_batches(run: Run) -> bool:
    """Allow less than the batches that are there, while a broker is down: it may not fetch or append them."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    run.cluster[number].stop()
    run.load({each for each in run.cluster.brokers if each != number})
    for topic in ("orders", "audit"):
        run.client.ask(f"configure {topic} max.message.bytes=300")
        run.client.ask(f"configure {topic} segment.bytes=1048576")
    time.sleep(2)
    return stop(run)


STORIES: tuple[tuple[Callable[[Run], bool], int], ...] = (
    (stop_cleanly, 1), (stop_cleanly, 1), (kill_all, 1), (kill_all, 1), (kill_one_by_one, 2), (one_behind, 2),
    (rolling, 2), (unclean_election, 2), (open_transaction, 1), (frozen_follower, 2), (trimmed, 1),
    (reassigning, 2), (more_in_sync, 3), (unclean_topic, 2), (moved_away, 2), (recreated_behind, 2),
    (trimmed_behind, 2), (lost_disk, 2), (between_disks, 1),
    (deleting, 2), (grown_behind, 2), (alone_in_sync, 2), (retention_behind, 2), (controller_first, 2),
    (killed_in_start, 1), (cleaned_no_more, 1), (larger_batches, 2), (reassigned_midway, 2),
)  # fmt: skip
"""What happens last, and how many brokers it takes; what stands here twice is likelier."""
OF_TWO_DISKS = (lost_disk, between_disks)
"""Those that need two log dirs."""
