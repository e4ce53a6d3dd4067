"""Exports of znodes as JSON: three forms, and what is none of them."""

import json

import pytest

from kcheck.model.parsed import Defect
from kcheck.model.znodes import Znode
from kcheck.zookeeper.znode_export import is_export, of_file, parse

ENTRIES = [{"path": "/a", "data": '{"x":1}', "dataVersion": 3}, {"path": "/b", "data": {"x": 1}}, {"path": "/c"}]
ZNODES = {"/a": Znode(b'{"x":1}', version=3), "/b": Znode(b'{"x": 1}', version=None), "/c": Znode(None, version=None)}


@pytest.mark.parametrize(
    "text", [json.dumps(ENTRIES), "\n\n".join(map(json.dumps, ENTRIES)), json.dumps(ENTRIES, indent=1)]
)
def test_entries(text: str) -> None:
    for mark in ("", "\ufeff"):
        assert parse((mark + text).encode()) == (ZNODES, ())


def test_what_an_export_begins_with() -> None:
    for text in (json.dumps(ENTRIES), json.dumps(ENTRIES[0], indent=2), '{"/a": 1}', '{"data": "{}", "path": "/a"}'):
        assert is_export(text)
    for text in ("", "{}", "[]", '{"a": 1}', '{"topics": []}', '{"path": 1}', "[" * 9999, "{" * 9999, "{" + " " * 9999):
        assert not is_export(text)


def test_a_file_of_one_znode() -> None:
    """As zkCli prints it, or with its data alone."""
    printed = b'{"x":1}\ncZxid = 0x1\nctime = Thu\ndataVersion = 3\naclVersion = 0\n'
    for data in (printed, printed.replace(b"\n", b"\r\n")):
        assert of_file(data) == Znode(b'{"x":1}', version=3)
    assert of_file(b"4\n") == Znode(b"4", version=None)
    for version in (b"", b"dataVersion = 2147483648\n", b"dataVersion = x\n"):
        assert of_file(b"4\ncZxid = 0x1\n" + version) == Znode(b"4", version=None)


def test_paths_and_data() -> None:
    wanted = {"/a": Znode(b"4", version=None), "/b": Znode(b"4", version=None), "/c": Znode(None, version=None)}
    assert parse(b'{"/a": "4", "/b": 4, "/c": null}') == (wanted, ())
    assert parse(json.dumps(ENTRIES[0]).encode()).value == {"/a": ZNODES["/a"]}
    assert parse(b"") == parse(b"{}") == ({}, ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "this is no JSON object with a path and data"),
        ("[" * 100_000, "this is no JSON object with a path and data"),
        ("[1]", "this is no JSON object with a path and data"),
        ('{"a": 1}', "the path does not begin with /"),
        ('[{"path": 1}]', "the path does not begin with /"),
        ('[{"path": "/", "dataVersion": true}]', "the dataVersion is no version"),
        ('[{"path": "/", "dataVersion": 2147483648}]', "the dataVersion is no version"),
    ],
    ids=range(7),
)
def test_what_is_no_znode(text: str, message: str) -> None:
    znodes, (defect,) = parse(text.encode())
    assert (znodes, defect.message, defect.line) == ({}, message, 1)


def test_a_hundred_defects_are_kept() -> None:
    assert len(parse(b"[]\n" * 200).defects) == 100


def test_a_line_that_is_cut_leaves_the_others() -> None:
    znodes, defects = parse(b'{"path": "/a"}\n{"path": "/b\n{"path": "/c"}\n')
    assert set(znodes) == {"/a", "/c"}
    assert defects == (Defect("this is no JSON object with a path and data", 0, 2, 1),)


def test_a_lone_surrogate_is_data() -> None:
    assert parse(b'{"/a": "\\ud800"}').value == {"/a": Znode(b"?", version=None)}
    for text in (b'{"/\\ud800": 1}', b'[{"path": "/\\ud800", "data": 1}]', b'{"path": "/\\ud800", "data": 1}'):
        assert parse(text) == ({"/?": Znode(b"1", version=None)}, ())
    for text in (b'{"\\ud800": "secret"}', b'["\\ud800", "secret"]', b'{"path": "\\ud800", "data": "secret"}\n{'):
        znodes, defects = parse(text)
        assert (znodes, {defect.found for defect in defects}) == ({}, {b""})


def test_a_number_that_is_too_long_spoils_only_its_znode() -> None:
    znodes, defects = parse(b'{"/a": {"x": %s}, "/b": %s, "/c": 1}' % (b"9" * 5000, b"9" * 30))
    assert ({path: node.data for path, node in znodes.items()}, defects) == (
        {"/a": b'{"x": Infinity}', "/b": b"1e+30", "/c": b"1"},
        (),
    )
