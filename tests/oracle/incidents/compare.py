"""Where kcheck and Kafka differ: a row for each answer."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.oracle.incidents.asked import GREEN, RED, Answer
from tests.oracle.incidents.damages.site import METADATA
from tests.oracle.incidents.truth import Truth

FALSE_GREEN, FALSE_RED, UNKNOWN, RIGHT = "FALSE GREEN", "false red", "unknown", "right"
OTHER = "other"
"""Kafka elected another one: no answer is false by that alone."""
REFUSED = "due to InconsistentTopicIdException"
"""A broker logs this for a replica that it neither leads nor follows, because the directory has another topic id."""
STARTS = ("preflight", "predict", "PATH", "check")
COUNTED = ("preflight", "predict", "elect")
"""The verbs whose green answers are promises."""


class Verdict(NamedTuple):
    """What an answer was worth."""

    verb: str
    subject: str
    verdict: str
    why: str


def verdicts(answers: list[Answer], truth: Truth, course: str) -> Iterator[Verdict]:
    """Judge each answer; what is lost counts against preflight only where every broker was said to lose nothing."""
    preflights = [row for row in answers if row.verb == "preflight" and row.subject != "controller"]
    all_green = all(row.colour == GREEN for row in preflights)
    for row in answers:
        if row.colour == GREEN:
            bad = [*_start(row, truth)]
            if row.verb == "elect" or (row.verb == "preflight" and all_green and row.subject != "controller"):
                bad += _losses(truth)
            if row.verb == "elect":
                bad += [f"{name} not started" for name, up in truth.started.items() if not up]
            if row.verb == "predict":
                bad += _ends(row, truth)
            yield Verdict(row.verb, row.subject, FALSE_GREEN if bad else RIGHT, "; ".join(bad))
        elif row.colour == RED:
            wrong = "" if _founded(row, truth, course) else _claim(row)
            yield Verdict(row.verb, row.subject, FALSE_RED if wrong else RIGHT, wrong)
        else:
            yield Verdict(row.verb, row.subject, UNKNOWN, _claim(row))
        if "elects" in row.says and course != "one-by-one" and all(truth.started.values()):
            others = "; ".join(_elected(row, truth))
            yield Verdict("elected", row.subject, OTHER if others else RIGHT, others)


def _start(row: Answer, truth: Truth) -> Iterator[str]:
    """Tell where the start of a broker went wrong."""
    if row.verb in STARTS:
        if not truth.started.get(row.subject, True):
            yield "not started"
        yield from (f"{path} offline" for path in truth.offline_dirs.get(row.subject, ()))


def _losses(truth: Truth) -> Iterator[str]:
    yield from (f"{name}: {len(lost)} lost, {lost[0]}-{lost[-1]}" for name, lost in truth.lost.items())
    yield from (f"{name} has no leader" for name in truth.offline)
    yield from (f"group {name} lost" for name in truth.groups_lost)


def _ends(row: Answer, truth: Truth) -> Iterator[str]:
    """Tell where a predicted log is not as the broker loaded it."""
    for name, ends in row.says["ends"].items():
        real = truth.loaded.get(name)
        if real is not None and "__cluster_metadata" not in name and None not in ends and real != ends:
            yield f"{name} predicted {ends}, loaded {real}"


def _elected(row: Answer, truth: Truth) -> Iterator[str]:
    """Tell who leads a partition first that elect has not named."""
    for name, by in row.says["elects"].items():
        if by["clean"] is not None and truth.first.get(name) not in (None, by["clean"]):
            yield f"{name}: {truth.first[name]}, not {by['clean']}"


def _founded(row: Answer, truth: Truth, course: str) -> bool:
    """Whether something of what a red answer is about came true; findings that are not fatal claim no outcome."""
    if [*_start(row, truth)] or not all(truth.started.values()) or any(truth.offline_dirs.values()):
        return True
    if any(REFUSED in line for name, lines in truth.said.items() if row.subject in (name, "cluster") for line in lines):
        return True
    if row.verb in ("PATH", "check") and not [*_losses(truth)]:
        return not any(" fatal " in finding for finding in row.says.get("findings", ()))
    if row.verb == "elect":
        inside = any("/__" in path and METADATA not in path for path in truth.cut)  # which no consumer here has read
        return inside or bool([*truth.expired, *_losses(truth)]) or -1 in truth.first.values() or course == "one-by-one"
    changed = (*truth.cut, *truth.strays, *truth.expired)
    own = any(path.startswith(f"{row.subject}/") and METADATA not in path for path in changed)
    return own or bool([*_losses(truth)]) or any(_kept_unserved(row, truth))


def _kept_unserved(row: Answer, truth: Truth) -> Iterator[str]:
    """Yield the directories of which an answer says that the broker keeps and does not serve them, and that it kept."""
    said = [*row.says.get("strays", ()), *(one["dir"] for one in row.says.get("reasons", ()) if one["kind"] == "stray")]
    for path in truth.loaded:
        broker, _, name = path.partition("/")[0], *path.rpartition("/")[1:]
        if broker == row.subject and name in said and truth.leaders.get(name) != int(broker.removeprefix("broker-")):
            yield path


def _claim(row: Answer) -> str:
    """Return what an answer says in short."""
    if "reasons" in row.says:
        return "; ".join(f"{each['kind']} {each['premise'] or ''} {each['why']}" for each in row.says["reasons"])[:400]
    return str({key: value for key, value in row.says.items() if key not in ("ends", "elects")})[:400]
