"""Records of internal topics: any bytes are either read or refused."""

from hypothesis import given
from hypothesis import strategies as st

from kcheck.schemas.records import DECODERS, decoder

TYPES = st.integers(-1, 30).map(lambda kind: kind.to_bytes(2, "big", signed=True))
VERSIONS = st.integers(0, 5).map(lambda version: version.to_bytes(2, "big"))
FRAMES = st.tuples(st.integers(0, 30), st.integers(0, 5)).map(lambda pair: bytes([1, *pair]))
BYTES = st.binary(max_size=60)


@given(
    kind=st.sampled_from(sorted(DECODERS)),
    key=st.none() | st.builds(bytes.__add__, TYPES, BYTES) | BYTES,
    value=st.none() | st.builds(bytes.__add__, VERSIONS | FRAMES, BYTES),
)
def test_a_record_is_read_or_told(kind: str, key: bytes | None, value: bytes | None) -> None:
    """A record gives data or a problem; one that is neither damaged nor read is unknown."""
    for found in decoder(kind)(key, value):
        if found is not None:
            assert (found.data is None) == (found.problem is not None)
            assert found.data is None or not found.damaged
            assert 0 <= found.left
