"""Records of many batches read together equal those read one by one."""

from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from kcheck.segments import record_columns as lockstep
from kcheck.segments.record_columns import BatchBodies, decode_fields, record_positions
from tests import strategies
from tests.property import reference

BEFORE = b"\x0c\x00\x00\x00\x01\x01\x00"
"""The bytes around the bodies are records too, so that a read too far finds one."""


@pytest.fixture(autouse=True, params=[1, 20, 2**31], ids=["side by side", "both", "one by one"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to step, and pieces of any size, give the same."""
    monkeypatch.setattr(lockstep, "_SIDE_BY_SIDE_MIN", request.param)
    monkeypatch.setattr(lockstep, "_PIECE_COUNT", 7 if request.param == 20 else 1 << 15)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=strategies.seeds())
def test_records_are_those_that_a_plain_reader_finds(seed: int) -> None:
    """Equal positions and deltas, and the same first record that cannot be read."""
    made = strategies.bodies_of(seed)
    buffer = BEFORE + b"".join(body for body, _ in made)
    edges = list(accumulate((len(body) for body, _ in made), initial=len(BEFORE)))
    begin, end = (np.array(each, np.int64) for each in zip(*pairwise(edges), strict=True))
    bodies = BatchBodies(begin, end, np.array([count for _, count in made]))
    steps = record_positions(buffer, bodies)
    found: list[list[tuple[int, int, int, bool]]] = [[] for _ in made]
    for piece in decode_fields(buffer, steps):
        for at, number, *deltas, sound in zip(
            *(column.tolist() for column in (piece.batch, piece.number, piece.at, piece.timestamp_delta)),
            piece.offset_delta.tolist(), piece.sound.tolist(), strict=True,
        ):  # fmt: skip
            assert number == len(found[at])
            found[at].append((deltas[0] - edges[at], deltas[1], deltas[2], sound))
    for at, (body, count) in enumerate(made):
        good, broken, left = reference.records(body, count)
        sound = [record[:3] for record in found[at][: len(good)] if record[3]]
        assert good == sound
        assert broken == (int(steps.counts[at]) < count or not all(record[3] for record in found[at]))
        if not broken:
            assert left == edges[at + 1] - int(steps.ends[at])
