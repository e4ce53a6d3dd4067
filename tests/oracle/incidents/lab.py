"""One incident from its seed: a base, a damage or two, what kcheck says, what Kafka does."""

import shutil
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.oracle.incidents import asked, truth, workload
from tests.oracle.incidents.asked import Answer
from tests.oracle.incidents.compare import Verdict, verdicts
from tests.oracle.incidents.damages.site import Site
from tests.oracle.incidents.damages.table import KINDS, Kind
from tests.oracle.incidents.shapes import Shape, shape
from tests.oracle.incidents.truth import Truth

OF_A_BASE = 6
"""Incidents of one cluster."""

COURSES = ("start-all", "start-all", "one-by-one", "preferred", "preferred", "unclean", "repair")
"""What an operator does; the preferred replicas are elected in most of them, as a controller does after 5 minutes."""


class Incident(NamedTuple):
    """One incident, told whole."""

    seed: str
    shape: Shape
    story: str
    kinds: tuple[str, ...]
    what: tuple[str, ...]
    course: str
    answers: list[Answer]
    truth: Truth
    verdicts: list[Verdict]
    folder: Path


def base(
    seed: str, release: str, mode: str, folder: Path, stories: Collection[str] = ()
) -> tuple[Shape, workload.Known]:
    """Make the cluster of a seed, once."""
    random = Random(f"{seed} {release} {mode}")
    of = shape(random, release, mode)
    if (folder / "known.json").exists():
        return of, workload.known(folder)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder.with_name(f"{folder.name}-work"), ignore_errors=True)
    folder.mkdir(parents=True)
    return of, workload.build(random, of, folder, stories)


def damaged(random: Random, of: Shape, base: Path, folder: Path, kinds: tuple[Kind, ...]) -> tuple[str, ...] | None:
    """Copy a base and damage it, two kinds on one broker or on two; None if one of the damages finds nothing.

    Of a power loss, with more kinds than brokers, none if all find nothing.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base / "now", folder)
    numbers = list(range(1, of.brokers + 1))
    random.shuffle(numbers)
    step = len(set(kinds)) < 2 or random.random() < 0.6
    what = []
    for at, kind in enumerate(kinds):
        done = kind.damage(Site(folder, base, random, of, numbers[step * at % len(numbers)]))
        if done is not None:
            what.append(done)
        elif len(kinds) <= of.brokers:
            return None
    return tuple(what) or None


def choose(random: Random, of: Shape) -> tuple[Kind, ...]:
    """Choose one kind, two of them, or one that befalls every broker."""
    fitting = [kind for kind in KINDS if kind.fits(of)]
    if random.random() < 0.15:
        return (random.choice(fitting),) * of.brokers
    return tuple(random.sample(fitting, 2 if random.random() < 0.3 else 1))


def order(course: str, of: Shape, answers: list[Answer]) -> tuple[tuple[str, ...], ...]:
    """Return which brokers start together."""
    names = tuple(name for name in of.nodes if name != "controller")
    if course != "one-by-one" or of.combined:
        return (names,)
    wanted = next((row.says.get("start_order") for row in answers if row.verb == "elect"), None) or ()
    first = [f"broker-{number}" for number in wanted if f"broker-{number}" in names]
    return tuple((name,) for name in (*first, *(name for name in names if name not in first)))


def incident(
    seed: str, of: Shape, known: workload.Known, base: Path, folder: Path, kinds: tuple[Kind, ...] | None = None
) -> Incident | None:
    """Make, ask and play one incident; None where the damage finds nothing, or where a port was taken."""
    random = Random(seed)
    kinds = kinds or choose(random, of)
    if not all(kind.fits(of) for kind in kinds):
        return None
    what = damaged(random, of, base, folder, kinds)
    if what is None:
        return None
    course = random.choice(COURSES)
    if course == "repair":
        repaired(folder, of)
    answers = list(asked.ask(folder, of))
    work = folder.with_name(f"{folder.name}-run")
    shutil.rmtree(work, ignore_errors=True)
    cluster = truth.prepared(folder, base, of, work, is_fresh=True)
    then = {"unclean": "unclean", "preferred": "preferred", "one-by-one": "preferred"}.get(course, "")
    play = partial(truth.in_groups, order(course, of, answers))
    try:
        seen = truth.happened(cluster, of, known, play, then, truth.spans(base / "now"))
    except truth.PortTakenError:
        return None
    lost = {name: sorted({*at, *seen.lost.get(name, ())}) for name, at in known.replaced.items()}
    seen = seen._replace(lost={**seen.lost, **lost})
    return Incident(
        seed, of, known.story, tuple(kind.name for kind in kinds), what, course, answers, seen,
        list(verdicts(answers, seen, course)), folder,
    )  # fmt: skip


def several(
    seed: str,
    release: str,
    mode: str,
    place: Path,
    count: int,
    kinds: Sequence[tuple[Kind, ...]] = (),
    stories: Collection[str] = (),
) -> Iterator[tuple[Incident, Path]]:
    """Make incidents, some of each cluster, with the folders of those; `kinds` are taken in turn, if there are any."""
    number = made = 0
    while made < count and number < 4 * count + 20:
        name = f"{seed}-{release}-{mode}-{number // OF_A_BASE}"
        folder = place / f"base-{name}"
        of, known = base(name, release, mode, folder, stories)
        name = f"{name}-{number % OF_A_BASE}"
        one = incident(name, of, known, folder, place / name, kinds[number % len(kinds)] if kinds else None)
        number += 1
        if one is not None:
            made += 1
            yield one, folder


def repaired(folder: Path, of: Shape) -> None:
    """Do what `kcheck repair` and `apply` do on every broker."""
    for name in of.nodes:
        if name.startswith("broker-") and (folder / name).is_dir():
            plan = f"{name}.plan.json"
            asked.run(folder, "repair", f"{name}/server.properties", *asked.words(folder, of, name), "-o", plan)
            if (folder / plan).exists():
                asked.run(folder, "apply", plan, "--yes", "--backup", f"{name}.backup")


def told(of: Incident) -> dict[str, Any]:
    """Return an incident as JSON."""
    row = of._asdict() | {"folder": str(of.folder), "shape": of.shape._asdict(), "truth": of.truth._asdict()}
    row["answers"] = [answer._asdict() for answer in of.answers]
    row["verdicts"] = [verdict._asdict() for verdict in of.verdicts]
    return row
