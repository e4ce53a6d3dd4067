"""`kcheck recover` on real brokers: its plan, start all, and each broker started alone, on copies of the same disks.

Where a plan first asks for a disk, the disk is found, or its loss is certain: then the plan of that case is played.

A record counts that some broker here had in a whole batch before; it is lost if the leader in the end lacks it. What
nobody had any more after the damage no course can keep. In a compacted topic a record is not lost if the leader has a
newer one of its key: the cleaner may have removed it on any broker.
"""

import argparse
import contextlib
import json
import multiprocessing
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from kcheck.core.election.steps import RecoveryAction
from kcheck.core.replication.leader_costs import Amounts
from kcheck.model.cluster import NO_LEADER, UNCLEAN
from kcheck.model.names import COMPACTED
from kcheck.plans.recover import ClusterRecovery
from tests.oracle.clusters import recovered
from tests.oracle.clusters.recovered import Content, Followed, Held, Row
from tests.oracle.incidents import lab, truth, workload
from tests.oracle.incidents.damages.table import BY_NAME, KINDS, Kind
from tests.oracle.incidents.kept import keep_recovery
from tests.oracle.incidents.recoveries import (
    BOUNDED,
    EQUAL,
    LESS,
    MORE,
    UNKNOWN,
    Outcome,
    Said,
    ask,
    committed,
    judged,
    of_partition,
    others,
    said,
)
from tests.oracle.incidents.shapes import Shape, shape
from tests.oracle.incidents.truth import Processes, Truth
from tests.oracle.kafka import Cluster, Process

_NOTHING = Held(frozenset(), frozenset())
CLEANED = ("keys", *COMPACTED)
"""The compacted topics of the lab."""
FENCED = 6.0
"""Seconds after which a controller has fenced the brokers that ran when all lost power."""
OF_DISKS = frozenset({*range(1, 15), 16, 19, 20, *range(22, 25), 27, 28, 30, 31, 34})
"""The numbers of the kinds that change what brokers hold."""
TORN = ("cut-tail", "cut-tail", "zero-tail", "zero-in-last", "zeros-behind", "empty-epochs", "empty-high-watermarks")
"""What power that is lost does to a disk; of it each broker gets some."""
POWER_LOST = 0.6
BALANCES = 0.5
"""In how many clusters preferred replicas lead in the end; with ZooKeeper it depends on how many of them would."""
FOUND = 0.5
"""How often a disk is found that a plan asks for."""
WORSE, NOT_BEST, OTHER, FAILED, NEXT, ROT, UNSAVED = (
    "WORSE THAN ALL",
    "not the best",
    "other leader",
    "tool failed",
    "--next",
    "corrupt",
    "NOT SAVED",
)


class Recovering(NamedTuple):
    """An incident, what `recover` said of it, and what became of it by each course."""

    seed: str
    shape: Shape
    story: str
    kinds: tuple[str, ...]
    what: tuple[str, ...]
    balances: bool
    """Whether the controller gives preferred replicas the lead back."""
    said: Said
    plan: Outcome
    start_all: Outcome
    bound: int
    """What no course can keep, by the disks alone."""
    alone: Outcome | None
    """Each broker started alone, for the partitions of which it has most; None where the plan reached the bound."""
    followed: Followed
    unsaved: int = 0
    """Records that the plan removes, although its step to save them has not done so."""

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What the plan was worth."""
        return tuple(_verdicts(self))


def _verdicts(of: Recovering) -> Iterator[str]:
    yield judged(of.said, of.plan)
    if of.plan.cost > of.start_all.cost:
        yield WORSE
    is_dearer = of.alone is not None and of.plan.cost > of.alone.cost
    if of.alone is not None and is_dearer and committed(of.said, of.alone) <= committed(of.said, of.plan):
        yield NOT_BEST
    if any(others(of.said, of.plan)):
        yield OTHER
    if not all(text.endswith("[0]") for text in of.followed.printed):
        yield FAILED
    if of.followed.progress:
        yield NEXT
    if of.plan.corrupt:
        yield ROT
    if of.unsaved:
        yield UNSAVED


def outcome(
    of: Cluster,
    seen: Truth,
    before: Mapping[int, Held],
    known: workload.Known,
    whole: Content,
    uncounted: Collection[int] = (),
    renewed: Collection[str] = (),
) -> Outcome:
    """Return what a course led to, of processes that have ended; `whole`: the records before the damage.

    `renewed`: the partitions of topics that were created again, of which an old copy may have former records.
    """
    after = recovered.held(of)
    starts = {name: ends[0] for name, ends in seen.ends.items()}
    led = {name: leader for name, leader in seen.leaders.items() if leader > 0}
    kept = {row for name, leader in led.items() for row in after[leader].records if row[0] == name}
    had = {row for broker in before.values() for row in broker.records if row[0] in led}
    had = {row for row in had if row[1] >= starts.get(row[0], 0) or row[1] in known.records.get(row[0], ())}
    of_others = {row[1:] for row in whole}  # two directories that have each other's names
    had -= {row for row in had if row not in whole and row[1:] in of_others}
    gone = {row for row in had if row[0] not in renewed or row in whole} - kept
    again = replaced(gone | {row for row in whole - kept if row[0] in led}, kept)
    gone -= again
    rotten = {row for row in gone if row[:2] in after[led[row[0]]].corrupt}
    places = {row[:2] for row in gone}
    damaged = {row for row in whole - replaced(whole, kept) if row[0] in led} - kept - gone
    once = {(name, at) for name, offsets in seen.lost.items() for at in offsets}
    once -= places | {row[:2] for row in damaged}  # two leaders may have given one offset to two records
    before_that = [name for name, *_ in (*damaged, *once)]
    others = {row for number, broker in before.items() if number not in uncounted for row in broker.records}
    rows = (gone - rotten, gone - rotten - others, rotten)
    lost, only, corrupt = (_counted(name for name, *_ in each) for each in rows)
    nobody = dict.fromkeys(known.records, NO_LEADER)
    newer = _counted(name for name, *_ in again)
    return Outcome(lost, _counted(before_that), only, corrupt, nobody | seen.first, nobody | seen.leaders, newer)


def unsaved(of: Cluster, answer: ClusterRecovery, before: Mapping[int, Held], course: Outcome) -> int:
    """Return how many records of the partitions that a plan saves are neither in its files nor in the leader's log."""
    if not any(step.kind is RecoveryAction.SAVE for step in answer.steps):
        return 0
    names = {f"{row.topic}-{row.partition}" for step in answer.steps for row in step.cuts}
    names.update(f"{row.topic}-{row.partition}" for step in answer.steps for row in step.saves)
    after = recovered.held(of)
    leaders = (after.get(course.leaders.get(name, NO_LEADER), _NOTHING) for name in names)
    kept = recovered.saved(of.dir).union(*(leader.records for leader in leaders))
    lacking = {row for broker in before.values() for row in broker.records if row[0] in names} - kept
    return len(lacking - replaced(lacking, kept))


def replaced(rows: Collection[Row], kept: Collection[Row]) -> Content:
    """Return the records of compacted topics that newer ones of their keys replace in what the leaders have."""
    newest: dict[tuple[str, bytes], int] = {}
    for name, at, _, key, _ in kept:
        if key is not None and name.rpartition("-")[0] in CLEANED:
            newest[name, key] = max(at, newest.get((name, key), at))
    return frozenset(row for row in rows if row[3] is not None and row[1] < newest.get((row[0], row[3]), -1))


def renewed(base: Path) -> dict[str, frozenset[bytes]]:
    """Return the partitions whose topic was deleted and created again while a base was made, with its former ids.

    A broker that was down meanwhile, and copies of an earlier time, still have a directory of the former topic.
    """
    old, live, now = map(_ids, (base / "old", base / "live", base / "now"))
    found = {}
    for name, ids in now.items():
        first, second = old.get(name, frozenset()), live.get(name, frozenset())
        present = ids - first - second or ids - first
        if present and (first | second) - present:
            found[name] = (first | second | ids) - present
    return found


def _ids(folder: Path) -> dict[str, frozenset[bytes]]:
    """Return what the partition.metadata of each partition say below a folder."""
    ids: dict[str, frozenset[bytes]] = {}
    for path in folder.glob("broker-*/data*/*/partition.metadata"):
        name = path.parent.name
        ids[name] = ids.get(name, frozenset()) | {path.read_bytes()}
    return ids


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def bound(before: Mapping[int, Held]) -> tuple[int, dict[str, int]]:
    """Return how many records even the best leaders lack, and who they are: a broker has all of its own at most."""
    of_names: dict[str, dict[int, set[Row]]] = {}
    for number, broker in before.items():
        for row in broker.records:
            of_names.setdefault(row[0], {}).setdefault(number, set()).add(row)
    total, best = 0, {}
    for name, holders in of_names.items():
        every = set().union(*holders.values())
        lacking = {each: len(every - own - replaced(every - own, own)) for each, own in holders.items()}
        number = min(holders, key=lambda each: (lacking[each], each))
        total, best[name] = total + lacking[number], number
    return total, best


def each_alone(of: Cluster, best: Mapping[str, int], _: Processes) -> None:
    """Start each broker alone, and elect what it has most of; then start all."""
    recovered.install(of)
    for number, broker in of.brokers.items():
        names = [name for name, leader in best.items() if leader == number]
        parts = [name.rpartition("-") for name in names if not name.startswith("__cluster_metadata")]
        parts = [part for part in parts if part[2].isdigit()]  # no broker serves a -future or -stray directory
        if not parts:
            continue
        broker.spawn()
        truth.settled({str(number): broker})
        rows = [{"topic": topic, "partition": int(partition)} for topic, _, partition in parts]
        (of.dir / "alone.json").write_text(json.dumps({"partitions": rows}))
        option = "--election-type UNCLEAN --path-to-json-file alone.json"
        recovered.typed(of, f"bin/kafka-leader-election.sh --bootstrap-server X {option} || true")
        truth.settled({str(number): broker})
        if broker.alive:
            broker.stop()
    for broker in of.brokers.values():
        broker.spawn()
    truth.settled({str(number): broker for number, broker in of.brokers.items()})


class _Disks(NamedTuple):
    """The disks of an incident, of which each course gets a copy."""

    shape: Shape
    known: workload.Known
    base: Path
    folder: Path
    balances: bool
    sought: list[str]
    """What became of the disks that plans asked for."""

    def place(self, name: str) -> Path:
        """Return the folder of a course."""
        return self.folder.with_name(f"{self.folder.name}-{name}")

    def cluster(self, name: str) -> Cluster:
        """Return the cluster that is to play a course, not started."""
        shutil.rmtree(self.place(name), ignore_errors=True)
        return truth.prepared(self.folder, self.base, self.shape, self.place(name))

    def played(
        self, of: Cluster, play: Callable[[Processes], None], told: Said | None = None, rest: float = FENCED
    ) -> Outcome:
        """Play a course, and return what it led to."""
        again = renewed(self.base)
        former = frozenset().union(*again.values())
        before, then = recovered.held(of, former), "preferred" * self.balances
        spans = truth.spans(self.base / "now")
        with contextlib.chdir(of.dir):
            seen = truth.happened(of, self.shape, self.known, play, then, spans, rest=rest)
        whole = recovered.of_log_dirs([*(self.base / "now").glob("broker-*/data*")], former).records
        uncounted = () if told is None else told.uncounted
        return outcome(of, seen, before, self.known, whole, uncounted, again)

    def by_plan(self) -> tuple[ClusterRecovery, Outcome, Followed, int]:
        """Ask for a plan, and follow it; return how many records of it were not saved, too."""
        of = self.cluster("plan")
        told: list[str] = []
        answer = self._with_disks(of, told)
        before = recovered.held(of, frozenset().union(*renewed(self.base).values()))
        done: list[Followed] = []

        def settle(started: Collection[Process]) -> None:
            if started:  # What a tool has done, --next sees.
                truth.settled({str(number): broker for number, broker in of.brokers.items() if broker.alive})
            time.sleep(1)

        def play(_: Processes) -> None:
            done.append(recovered.follow(of, answer, settle))

        course = self.played(of, play, said(answer))
        followed = done[0]._replace(progress=[*told, *done[0].progress])
        return answer, course, followed, unsaved(of, answer, before, course)

    def _with_disks(self, of: Cluster, told: list[str]) -> ClusterRecovery:
        """Return the plan once directories are put back and no disk is sought: it was found, or it is lost for good."""
        answer = ask(of.dir, self.shape, "DIR")
        is_found = Random(f"{self.folder.name} found").random() < FOUND
        for at in range(1, 4):
            sought = [number for step in answer.steps if step.kind is RecoveryAction.BRING for number in step.brokers]
            if answer.steps and all(step.kind is RecoveryAction.PUT_BACK for step in answer.steps):
                recovered.install(of)
                with contextlib.chdir(of.dir):
                    for text in answer.texts:
                        recovered.typed(of, "\n".join(text.commands))
                told += [row for row in recovered.asked_next(of, answer) if not row.startswith("stop")]
                answer = ask(of.dir, self.shape, f"DIR-{at}")
                continue
            pairs = zip(answer.cases, answer.case_plans, strict=True)
            lost = [plan for case, plan in pairs if UNCLEAN not in case.condition]
            if not sought:
                break
            self.sought.append("found" if is_found or not lost else "lost")
            if lost and not is_found:
                answer = lost[0]
                continue
            for number in sought:
                self._bring(of, number)
            told += [row for row in recovered.asked_next(of, answer) if not row.startswith("stop")]
            answer = ask(of.dir, self.shape, f"DIR-{at}")
        return answer

    def _bring(self, of: Cluster, number: int) -> None:
        """Give a broker its disks back: those that are missing or empty, else all."""
        pairs = [
            (path, of.dir / path.parent.name / path.name) for path in (self.base / "now").glob(f"broker-{number}/data*")
        ]
        gone = [pair for pair in pairs if not pair[1].is_dir() or not any(pair[1].iterdir())]
        for path, place in gone or pairs:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(path, place)

    def at_once(self) -> Outcome:
        """Start all."""
        names = tuple(name for name in self.shape.nodes if name != "controller")
        return self.played(self.cluster("all"), partial(truth.in_groups, (names,)), rest=0.0)

    def alone(self, best: Mapping[str, int]) -> Outcome:
        """Repair what the plan repairs; then start each broker alone."""
        of = self.cluster("alone")
        answer = ask(of.dir, self.shape, "DIR")
        recovered.install(of)
        with contextlib.chdir(of.dir):
            for step, text in zip(answer.steps, answer.texts, strict=True):
                if step.kind is RecoveryAction.REPAIR:
                    recovered.typed(of, "\n".join(text.commands))
        return self.played(of, partial(each_alone, of, best))


def recovering(
    seed: str, of: Shape, known: workload.Known, base: Path, folder: Path, kinds: tuple[Kind, ...]
) -> Recovering | None:
    """Make, ask and play one incident; None where the damage finds nothing."""
    what = lab.damaged(Random(seed), of, base, folder, kinds)
    if what is None:
        return None
    balances = of.mode == "kraft" and Random(f"{seed} balances").random() < BALANCES
    disks = _Disks(of, known, base, folder, balances, [])
    if disks.balances:
        _balance(folder)
    if len(kinds) > of.brokers:  # power was lost: nobody ended cleanly
        for marker in folder.glob("broker-*/data*/.kafka_cleanshutdown"):
            marker.unlink()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:  # it stands in a folder of its own
        at_once = pool.submit(disks.at_once)
        answer, plan, followed, not_saved = disks.by_plan()
        start_all = at_once.result()
    least, best = bound(recovered.held(disks.cluster("before"), frozenset().union(*renewed(base).values())))
    alone = disks.alone(best) if plan.cost > (0, least) and not of.combined else None
    found = Recovering(
        seed, of, known.story, tuple(kind.name for kind in kinds), (*what, *disks.sought), disks.balances, said(answer),
        plan, start_all, least, alone, followed, not_saved,
    )  # fmt: skip
    for name in ("before", *(("plan", "all", "alone") if found.verdicts == (EQUAL,) else ())):
        shutil.rmtree(disks.place(name), ignore_errors=True)
    return found


def _balance(folder: Path) -> None:
    """Let the controller give preferred replicas the lead back."""
    for path in folder.glob("*/server.properties"):
        name = "auto.leader.rebalance.enable"
        path.write_text(path.read_text().replace(f"{name}=false", f"{name}=true"))


def line(of: Recovering) -> str:
    """Return an incident in a few lines."""
    plan, told = of.plan, of.said
    how = f"{of.shape}; {of.story}; {'+'.join(of.kinds)[:99]}{'; balances' * of.balances}"
    costs = {"plan": plan, "start all": of.start_all, "alone": of.alone}
    numbers = ", ".join(f"{name} {course and course.cost}" for name, course in costs.items())
    rows = [
        f"{of.seed} [{how}] {'; '.join(of.what)[:600]}",
        f"    {', '.join(of.verdicts)}: said {_said(told)}, {numbers}, bound {of.bound}, {len(told.steps)} steps",
    ]
    if of.verdicts == (EQUAL,):
        return "\n".join(rows)
    strange = {name for name in told.leaders if of_partition(told, plan, name) != EQUAL}
    for name in sorted(strange.union(others(told, plan))):
        lost = f"lost {plan.lost.get(name, 0)} (+ {plan.gone_before.get(name, 0)})"
        what = f"said {_told(told.lost.get(name))} under {told.leaders.get(name)}, {lost}"
        leaders = f"{plan.first.get(name)}, then {plan.leaders.get(name)}"
        rows.append(f"    {of_partition(told, plan, name)} {name}: {what} under {leaders}")
    rows += [f"    {step}" for step in told.steps]
    rows += [f"    {text}" for text in of.followed.printed if not text.endswith("[0]")]
    rows += [f"    {text}" for text in of.followed.progress]
    return "\n".join(rows)


def _said(told: Said) -> str:
    return f"{told.records} (at most {told.at_most}, {told.offline} offline)"


def _told(lost: Amounts | None) -> str:
    return "?" if lost is None else str(lost.records) if lost.records is not None else f"<= {lost.upper_records}"


def table(found: list[Recovering]) -> str:
    """Return how many plans were worth what, by kind."""
    names = (EQUAL, BOUNDED, LESS, MORE, UNKNOWN, WORSE, NOT_BEST, OTHER, FAILED, NEXT, ROT, UNSAVED)
    counts: dict[str, Counter[str]] = {}
    for of in found:
        for kind in dict.fromkeys((*of.kinds, "ALL")):
            counts.setdefault(kind, Counter()).update((*of.verdicts, "incidents"))
    rows: list[tuple[str, ...]] = [("kind", "incidents", *names)]
    rows += [(kind, *(str(row[name]) for name in ("incidents", *names))) for kind, row in sorted(counts.items())]
    return "\n".join(f"{row[0]:28} " + " ".join(f"{cell:>14}" for cell in row[1:]) for row in rows)


def choose(random: Random, of: Shape) -> tuple[Kind, ...]:
    """Choose what happens to a cluster whose plan is worth asking for: a damage or two, or power is lost everywhere."""
    if random.random() < POWER_LOST:
        return tuple(BY_NAME[name] for name in random.choices(TORN, k=4 * of.brokers))
    of_disks = [kind for kind in KINDS if kind.fits(of) and kind.number in OF_DISKS]
    count = random.choice((1, 2, 2, 3)) if of.brokers > 2 else random.choice((1, 2))
    return tuple(random.sample(of_disks, count))


def several(
    seed: str, release: str, mode: str, place: Path, count: int, kinds: Sequence[tuple[Kind, ...]] = ()
) -> Iterator[Recovering]:
    """Make incidents of clusters of several brokers; `kinds` are taken in turn, if there are any."""
    number = made = 0
    while made < count and number < 6 * count + 20:
        name, at = f"{seed}-{release}-{mode}-{number // lab.OF_A_BASE}", number % lab.OF_A_BASE
        if shape(Random(f"{name} {release} {mode}"), release, mode).brokers == 1:
            number += lab.OF_A_BASE
            continue
        number += 1
        folder = place / f"base-{name}"
        of, known = lab.base(name, release, mode, folder)
        name = f"{name}-{at}"
        chosen = kinds[number % len(kinds)] if kinds else choose(Random(f"{name} recover"), of)
        one = None
        with contextlib.suppress(truth.PortTakenError):
            one = recovering(name, of, known, folder, place / name, chosen)
        if one is not None:
            made += 1
            yield one


def main() -> None:
    """Run: as `python -m tests.oracle.incidents`, of `recover` alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="0")
    parser.add_argument("--count", type=int, default=6)
    parser.add_argument("--release", default="4.3.1")
    parser.add_argument("--mode", default=None)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--dir", default=None)
    parser.add_argument("--keep", default=None)
    asked = parser.parse_args()
    place = Path(asked.dir or tempfile.mkdtemp())
    place.mkdir(parents=True, exist_ok=True)
    kinds = [tuple(BY_NAME[name] for name in of.split("+")) for of in asked.kinds.split(",") if of]
    found: list[Recovering] = []
    mode = asked.mode or ("zk" if asked.release < "3.9" else "kraft")
    for one in several(asked.seed, asked.release, mode, place, asked.count, kinds):
        found.append(one)
        (place / f"{one.seed}.json").write_text(json.dumps(one, indent=1, default=str))
        if asked.keep:
            name = f"{one.shape.release}-{one.shape.mode}-{one.seed.split('-')[0]}-{len(found)}"
            keep_recovery(place / one.seed, one.shape, one.plan, Path(asked.keep), name)
        print(line(one), flush=True)
    print(table(found), flush=True)


if __name__ == "__main__":
    main()
