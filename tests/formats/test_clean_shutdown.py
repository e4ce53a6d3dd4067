""".kafka_cleanshutdown: empty up to 3.6, JSON from 3.7 on."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.clean_shutdown import FORMAT, CleanShutdown, broker_reads, parse, serialize

VALID = b'{"version":0,"brokerEpoch":41}'


@pytest.mark.parametrize(("data", "value"), [(VALID, CleanShutdown(0, 41)), (b"", CleanShutdown()),
                                             (b'{"version":0,"brokerEpoch":-1}', CleanShutdown(0, -1))])  # fmt: skip
def test_files_as_brokers_write_them(data: bytes, value: CleanShutdown) -> None:
    parsed = parse(data)
    assert (parsed.value, parsed.defects) == (value, ())
    assert serialize(value) == data


@pytest.mark.parametrize(
    "text",
    [
        '{"brokerEpoch":41}',
        ' {"version":"0", "brokerEpoch":"+41", "more":[{}]}\ngarbage',
        '{"version":null,"brokerEpoch":41.9}',
        '{"version":" ","brokerEpoch":41}',
        '{"brokerEpoch":1,"brokerEpoch":41}',
    ],
)
def test_what_jackson_makes_an_epoch_of(text: str) -> None:
    """Text and fractions become numbers, unknown fields and what follows the object are not looked at."""
    parsed = parse(text.encode())
    assert parsed.value == CleanShutdown(0, 41) == broker_reads(text.encode(), release("4.3")).value
    assert [defect.accepted for defect in parsed.defects] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "{}", "[]", "41", "null", "{", "\0\0", '{"brokerEpoch":null}', '{"brokerEpoch":""}', '{"brokerEpoch":true}',
        '{"brokerEpoch":[41]}', '{"brokerEpoch":NaN}', '{"brokerEpoch":1e400}', '{"brokerEpoch":9223372036854775808}',
        '{"brokerEpoch":"41.0"}', '{"version":2147483648,"brokerEpoch":41}', '{"version":"x","brokerEpoch":41}',
        '{"brokerEpoch":41,"x":' + "1" * 1001 + "}", '{"brokerEpoch":41,"x":' + "[" * 5000 + "}",
        "\ufeff" + VALID.decode(),
    ],
)  # fmt: skip
def test_what_holds_no_epoch(text: str) -> None:
    """The reader never fails: it finds none."""
    assert broker_reads(text.encode(), release("4.3")).value == CleanShutdown()
    (defect,) = parse(text.encode()).defects
    assert not defect.accepted


def test_nobody_up_to_3_6_reads_the_content() -> None:
    assert broker_reads(VALID, release("3.6")).value == CleanShutdown()
    assert broker_reads(VALID, release("3.7")).value == CleanShutdown(0, 41)


def test_json() -> None:
    assert FORMAT.row is not None
    assert FORMAT.row(CleanShutdown(0, 41)) == {"version": 0, "broker_epoch": 41}
    assert FORMAT.matches(".kafka_cleanshutdown")
