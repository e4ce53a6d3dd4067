"""meta.properties: java.util.Properties text, and what each release makes of its entries."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.meta_properties import (
    FORMAT,
    MetaProperties,
    broker_reads,
    parse,
    properties,
    refused_line,
    serialize,
)

DATE = "#\n#Sat Mar 02 09:14:55 UTC 2024\n"
IDS = "cluster.id=TzyYHphLTKC2YDT31HuF0g\ndirectory.id=tYaS4r3WQ8Ky_ObhEGQ-Bw\n"
V0 = f"{DATE}broker.id=7\nversion=0\ncluster.id=TzyYHphLTKC2YDT31HuF0g\n".encode()
V1 = f"{DATE}{IDS}node.id=7\nversion=1\n".encode()
ALL = ("0.9.0", "1.1", "2.7", "2.8", "3.6", "3.7", "4.3")


@pytest.mark.parametrize("data", [V0, V1])
def test_files_as_brokers_write_them(data: bytes) -> None:
    """Comments and order of the keys are kept, so that the file is written back to the byte."""
    parsed = parse(data)
    assert not parsed.defects
    assert (parsed.value.broker_id, parsed.value.version) == (7, int(data == V1))
    assert serialize(parsed.value) == data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb:2\nc 3\n", {"a": "1", "b": "2", "c": "3"}),
        ("a = 1\n b\t:\f2 \n", {"a": "1", "b": "2 "}),
        ("a==1\nb=:2\nc : = 3", {"a": "=1", "b": ":2", "c": "= 3"}),
        ("a\nb=\n=c\n", {"a": "", "b": "", "": "c"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("#a=1\n  !b=2\n\n \t\nc=3#\n", {"c": "3#"}),
        ("#a\\\nb=1\n", {"b": "1"}),
        ("a=1\\\n  2\\\r\n\t3\n", {"a": "123"}),
        ("a=1\\\\\nb=2\n", {"a": "1\\", "b": "2"}),
        ("a\\\n\nb=1\n", {"a": "", "b": "1"}),
        ("\\\n#a=1\nb=2\n", {"b": "2"}),
        ("a=1\\", {"a": "1"}),
        ("a=1\\\n", {"a": "1"}),
        ("a=1\\\r\n", {"a": "1"}),
        ("a=1\n\\", {"a": "1", "": ""}),
        ("a=1\n\\\r\n", {"a": "1"}),
        ("a=1\n\\\n \n", {"a": "1"}),
        ("a\\=b\\:c\\ d=1\n", {"a=b:c d": "1"}),
        (r"a=\t\n\r\f\x\u0041\\", {"a": "\t\n\r\fxA\\"}),
        (r"a=\ud83d\ude00", {"a": "\U0001f600"}),
        (r"a=\u00", {"a": "u00"}),
        ("a=\xe9\n", {"a": "\xe9"}),
        ("a=1\rb=2", {"a": "1", "b": "2"}),
        ("", {}),
    ],
)
def test_properties_text(text: str, expected: dict[str, str]) -> None:
    """Separators, comments, continued lines and escapes as Properties.load reads them."""
    assert expected == properties(text.encode("iso-8859-1"))


def test_written_text_is_escaped() -> None:
    """Properties.store escapes what would be read in another way, and everything outside of printable ASCII."""
    value = MetaProperties({" k ": "  v v", "a=b": "#:!\\\t\n", "é": "\U0001f600\x7f"}, ("#c",))
    data = serialize(value)
    assert data == b"#c\n\\ k\\ =\\  v v\na\\=b=\\#\\:\\!\\\\\\t\\n\n\\u00E9=\\uD83D\\uDE00\\u007F\n"
    assert parse(data).value == value


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["the file has no properties"]),
        ("#\n", ["the file has no properties"]),
        ("\0\0", []),
        ("version=2\nnode.id=x\n", ['unknown version "2", expected 0 or 1']),
        ("version=x\n", ['unknown version "x", expected 0 or 1']),
        ("broker.id=7 \n", ['broker.id "7 " is not a number']),
        ("version=1\nnode.id=x\n", ['node.id "x" is not a number', "cluster.id is missing"]),
        ("version=1\n", ["node.id is missing", "cluster.id is missing"]),
        ("directory.id=abc\n", ['directory.id "abc" is not 16 bytes in base64']),
        ("cluster.id=\\u12\n", ["a Unicode escape without four hexadecimal digits"]),
    ],
)
def test_defects(text: str, messages: list[str]) -> None:
    """Everything that the newest broker refuses; nothing about the rest."""
    defects = parse(text.encode()).defects
    assert messages == [defect.message for defect in defects]
    assert not any(defect.accepted for defect in defects)


def test_a_defect_stands_in_its_line() -> None:
    (defect,) = parse(b"#\r\nversion=0\r\n broker.id=x\r\n").defects
    assert (defect.line, defect.position, defect.found) == (3, 14, b" broker.id=x")


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ("version=0\nbroker.id=7\n", [None] * 7),
        ("", [*["IllegalArgumentException"] * 3, None, None, None, None]),
        ("broker.id=7\n", [*["IllegalArgumentException"] * 3, None, None, None, None]),
        ("version=0\n", [*["IllegalArgumentException"] * 3, None, None, None, None]),
        ("version= 0 \nbroker.id=7\n", [None] * 7),
        ("version=-1\nbroker.id=7\n", [*["IllegalArgumentException"] * 3, None, None, *["RuntimeException"] * 2]),
        ("version=x\nbroker.id=7\n", [*["NumberFormatException"] * 3, None, None, *["RuntimeException"] * 2]),
        ("version=1\nbroker.id=7\n", [*["IOException"] * 3, None, None, *["RuntimeException"] * 2]),
        ("version=0\nbroker.id=\\u1\n", ["IllegalArgumentException"] * 7),
    ],
)
def test_what_each_reader_throws(text: str, errors: list[str | None]) -> None:
    assert errors == [broker_reads(text.encode(), release(kafka)).error for kafka in ALL]


def test_up_to_2_7_values_are_trimmed() -> None:
    data = b"version=0\ncluster.id=c \nbroker.id=7\n"
    trimmed = {"version": "0", "cluster.id": "c", "broker.id": "7"}
    assert broker_reads(data, release("2.7")).value == MetaProperties(trimmed)
    assert broker_reads(data, release("4.3")).value == MetaProperties(trimmed | {"cluster.id": "c "})


def test_no_broker_of_0_8_looks_at_it() -> None:
    assert broker_reads(b"version=x\n", release("0.8.2")).value == MetaProperties({})


def test_json() -> None:
    assert FORMAT.row is not None
    assert FORMAT.reads_row is not None
    value = parse(V1).value
    assert FORMAT.row(value) == {
        "version": 1,
        "broker_id": 7,
        "node_id": 7,
        "cluster_id": "TzyYHphLTKC2YDT31HuF0g",
        "directory_id": "tYaS4r3WQ8Ky_ObhEGQ-Bw",
        "properties": dict(value.properties),
    }
    assert FORMAT.reads_row(value) == {"properties": dict(value.properties)}
    assert FORMAT.matches("meta.properties")


def test_the_first_line_that_no_broker_reads() -> None:
    assert refused_line(b"a=1\n# x\nb=C:\\users\nc=\\u00e9") == 3
    assert refused_line(b"a=\\u00e9") is None
