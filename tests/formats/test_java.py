"""How Java reads numbers, fields and lines."""

import pytest

from kcheck.model.java import java_fields, java_int, java_lines, java_long, utf8_lines, utf8_lines_replaced

FILL = 8192


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("+0", 0),
        ("-0", 0),
        ("000", 0),
        ("+5", 5),
        ("-5", -5),
        ("0005", 5),
        ("٥", 5),
        ("-९", -9),
        ("5", 5),
        ("2147483647", 2**31 - 1),
        ("-2147483648", -(2**31)),
        ("0" * 5000 + "7", 7),
        ("-" + "٠" * 30 + "7", -7),
        ("0" * 30, 0),
        ("2147483648", None),
        ("-2147483649", None),
        ("9" * 5000, None),
        ("", None),
        ("+", None),
        ("-", None),
        ("--5", None),
        ("5 ", None),
        (" 5", None),
        ("1_000", None),
        ("0x5", None),
        ("5.0", None),
        ("5L", None),
        ("²", None),
        ("Ⅴ", None),
        ("\U0001d7d3", None),
        ("0" * 30 + "\U0001d7d3", None),
        ("\udc80", None),
    ],
)
def test_integer_parse_int(text: str, value: int | None) -> None:
    """One sign, then digits of any script of the Basic Multilingual Plane, within 32 bits."""
    assert value == java_int(text)


def test_long_parse_long() -> None:
    """The same within 64 bits."""
    assert java_long("9223372036854775807") == 2**63 - 1
    assert java_long("-9223372036854775808") == -(2**63)
    assert java_long("9223372036854775808") is None


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\rc\n\nd", ["a", "b", "c", "", "d"]),
        ("\n\r", ["", ""]),
        ("a\x0bb\x0cc\x85d\u2028e", ["a\x0bb\x0cc\x85d\u2028e"]),
    ],
)
def test_lines_end_at_lf_cr_and_crlf_only(text: str, lines: list[str]) -> None:
    assert lines == list(java_lines(text))


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", [""]),
        ("  ", [""]),
        ("a b", ["a", "b"]),
        ("a \t\x0b\x0c b  ", ["a", "b"]),
        (" a", ["", "a"]),
        ("a\u00a0b", ["a\u00a0b"]),
    ],
)
def test_fields_are_split_on_ascii_white_space(line: str, fields: list[str]) -> None:
    """A leading empty field counts, trailing ones do not."""
    assert fields == java_fields(line)


def test_fields_may_be_bounded() -> None:
    """A line of a million words does not become a million strings."""
    assert java_fields("a b c  ", 3) == ["a", "b", "c"]
    assert java_fields("a b " + "c " * 9, 3) == ["a", "b", "c", "c " * 8]


@pytest.mark.parametrize("data", [b"", b"a\nb", "€\n😀\n".encode()])
def test_utf8_is_read_whole(data: bytes) -> None:
    found = utf8_lines(data)
    assert not found.malformed
    assert list(java_lines(data.decode())) == list(found.lines)


def _seen(data: bytes) -> list[str]:
    found = utf8_lines(data)
    assert found.malformed
    return list(found.lines)


@pytest.mark.parametrize(
    "bad",
    [b"\xff", b"\x80", b"\xc0\x80", b"\xc3(", b"\xe0\x80(", b"\xed\xa0\x80", b"\xf0\x80((", b"\xf4\x90((", b"\xf5("],
)
def test_an_error_hides_the_lines_of_its_fill(bad: bytes) -> None:
    """A fill is 8192 UTF-16 units; the lines of the fills before it are given."""
    assert not _seen(b"a\nb\n" + bad)
    assert _seen(b"7" * (FILL - 2) + b"\nb" + b"c" + bad) == ["7" * (FILL - 2)]


@pytest.mark.parametrize("bad", [b"\xc3", b"\xe2\x82", b"\xed\xa0", b"\xf0\x90", b"\xf0\x90\x80"])
def test_a_sequence_that_the_end_cuts_is_noticed_at_the_end(bad: bytes) -> None:
    """Every line that ends before it is given."""
    assert _seen(b"a\nb\n" + bad) == ["a", "b"]
    assert _seen(b"\n" * FILL + bad) == [""] * FILL


@pytest.mark.parametrize(
    ("bad", "noticed"),
    [
        (b"\xff", True),
        (b"\xe0\x80(", True),
        (b"\xe2(\x82", True),
        (b"\xf0\x80((", True),
        (b"\xf0(((", True),
        (b"\xf4\x90((", True),
        (b"\xf0\x90((", True),
        (b"\xc3(", False),
        (b"\xe2\x82(", False),
        (b"\xed\xa0\x80", False),
        (b"\xf0\x90\x80(", False),
    ],
)
def test_a_full_fill_looks_at_the_bytes_behind_it(bad: bytes, noticed: bool) -> None:
    """Where no unit has room the decoder still refuses what it can tell from the first bytes."""
    # Fewer units than bytes: the bytes behind the fill are held already.
    data = "é".encode() * 100 + b"7" * (FILL - 102) + b"\n\n"
    assert len(data.decode()) == FILL
    tail = b"x" * 9000
    assert _seen(data + bad + tail) == ([] if noticed else ["é" * 100 + "7" * (FILL - 102), ""])


def test_a_pair_that_does_not_fit_begins_the_next_fill() -> None:
    """The fill before it has one unit less."""
    data = b"\n" * (FILL - 1) + "😀".encode() + b"\n\xff"
    assert _seen(data) == [""] * (FILL - 1)


def test_a_sequence_across_the_bytes_of_two_reads() -> None:
    """What the end of a read cuts is completed by the next one."""
    data = "€".encode() * 3000 + b"\n\xe2\x82("
    assert not _seen(data)


def test_what_is_no_utf8_may_be_replaced() -> None:
    """Up to 2.0 the reader replaces it: a surrogate by one character, other bytes by one each."""
    assert list(utf8_lines_replaced(b"a\xff\n\xed\xa0\x80\xed\xa0\n\xe2\x82")) == ["a\ufffd", "\ufffd\ufffd", "\ufffd"]


def test_one_free_unit_is_no_room_for_a_pair() -> None:
    """Three good bytes of four: the fourth is looked at where two units are free, with the next fill at last."""
    line = b"7" * (FILL - 2) + b"\n"
    assert _seen(line + b"\xf0\x90\x80(" + b"x" * 9000) == ["7" * (FILL - 2)]
    assert not _seen(line[1:] + b"\xf0\x90\x80(" + b"x" * 9000)
