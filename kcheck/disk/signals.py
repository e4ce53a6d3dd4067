"""Signals that ask a command to stop: ^C, and what `kill` sends.

Apply and undo let them take effect between two steps, so the changes are always known. Other commands hold ^C back
while they decide or write, and leave an answer.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kcheck.errors import StoppedError

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State:
    """The signals that have arrived in this process, and the time of their effect."""

    is_at_steps = False
    arrived: int | None = None


@contextmanager
def taken() -> Iterator[None]:
    """Take the signals until the block ends. Each raises StoppedError at once, unless `at_steps` delays it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python hands signals to the main thread only.
        return
    # One that the caller ignores, as nohup does, stays ignored.
    numbers = [number for number in _NUMBERS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _handle) for number in numbers}
    _State.is_at_steps, _State.arrived = False, None
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def at_steps() -> Iterator[None]:
    """Delay the signals during the block. They raise StoppedError at the next call of `step`.

    They stay delayed after an error, so that it can be reported.
    """
    _State.is_at_steps, _State.arrived = True, None
    yield
    _State.is_at_steps = False


@contextmanager
def at_once() -> Iterator[None]:
    """Let the signals take effect at once during a block within `at_steps`; they may end any wait."""
    _State.is_at_steps = False
    try:
        yield
    finally:
        _State.is_at_steps = True


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Hold the first ^C back during a short block; the list then has its signal number. A second ^C takes effect.

    Before this block a command has read for a long time, and its answer is nearly complete.
    """
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield came
        return

    def hold(number: int, _: object) -> None:
        came.append(number)
        signal.signal(number, before)

    signal.signal(signal.SIGINT, hold)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def step() -> None:
    """Raise StoppedError if a signal was delayed. Apply and undo can stop at these places."""
    number, _State.arrived = _State.arrived, None
    if number is not None:
        raise StoppedError(number)


def _handle(number: int, frame: object) -> None:
    del frame
    if _State.is_at_steps:
        _State.arrived = number
        return
    _State.is_at_steps = True  # The error is on its way: a second signal must not end the way.
    raise StoppedError(number)
