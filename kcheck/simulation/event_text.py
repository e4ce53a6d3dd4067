"""An event as a line of a history."""

from collections.abc import Sequence

from kcheck.simulation.events import Event, EventKind
from kcheck.simulation.state import CONTROLLER, Acks


def event_text(event: Event, names: Sequence[str]) -> str:
    """Return the line of an event, as `parse` reads it."""
    broker = names_of([event.broker], names)[0] if event.broker >= CONTROLLER else ""
    match event.kind:
        case EventKind.APPEND:
            acks = "all" if event.acks is Acks.ALL else str(int(event.acks))
            return f"append {event.amount} acks={acks}" + (f" to {broker}" if event.broker >= 0 else "")
        case EventKind.FETCH:
            return f"fetch {broker}" + (f" x{event.amount}" if event.amount > 1 else "")
        case EventKind.POWER_LOSS:
            lost = "" if event.offset is None else f" from {event.offset}"
            return f"power-loss {broker}{lost}" + (" torn" if event.torn else "")
        case EventKind.DELAY | EventKind.DELIVER | EventKind.DROP | EventKind.OVERTAKE:
            return f"{event.kind} {broker}->{names_of([event.target], names)[0]}"
        case EventKind.ELECT:
            return f"elect {broker}" + (" unclean" if event.unclean else "")
        case _:
            return f"{event.kind} {broker}"


def names_of(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return the names of brokers; the controller's for its number."""
    return ["controller" if number == CONTROLLER else names[number] for number in numbers]
