"""kcheck.formats as a library of parsers: the example in its docstring, parsing by file name, and a light import."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

from kcheck import formats
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.formats import leader_epoch_checkpoint, offset_index
from kcheck.survey.survey import requested_format

NEEDED = {"_contract", "leader_epoch_checkpoint", "_checkpoint_file", "_checkpoint_reader"}


def test_the_example_in_the_docstring_runs() -> None:
    assert (0, 7) == doctest.testmod(formats)


@pytest.mark.parametrize("folder", ["", "/var/lib/kafka/t-0/", "t-0/"])
def test_a_file_is_parsed_by_its_name(folder: str) -> None:
    epochs = b"0\n1\n5 100\n"
    assert leader_epoch_checkpoint.parse(epochs) == formats.parse(f"{folder}leader-epoch-checkpoint", epochs)
    (entry,) = formats.parse(f"{folder}00000000000000000000.index", bytes(3) + b"\2" + bytes(3) + b"\xf3").value.entries
    assert (2, 243) == entry
    assert offset_index.FORMAT is formats.format_of(f"{folder}00000000000000000000.index")


READ_BY_INSPECT = ("bootstrap.checkpoint", "00000000000000000007-0000000001.checkpoint", "meta.properties")


@pytest.mark.parametrize("name", READ_BY_INSPECT)
def test_every_file_that_inspect_reads_is_parsed(name: str, tmp_path: Path) -> None:
    """`kcheck.formats.parse` and `kcheck inspect` know the same names."""
    (tmp_path / name).write_bytes(b"")
    known = requested_format(LOCAL, str(tmp_path / name), None)
    assert known.parse is not None
    assert known.parse(b"") == formats.parse(name, b"")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("00000000000000000000.log", "segments are read batch by batch, see kcheck.records.batch"),
        ("server.properties", "not a known file name"),
        ("meta.properties/", "not a known file name"),
        ("", "not a known file name"),
    ],
)
def test_another_name_is_refused(name: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        formats.parse(name, b"")
    assert f"kcheck.formats cannot parse {name}: {why}" == str(refused.value)


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import kcheck.formats", {"_contract"}),
        ("from kcheck.formats import leader_epoch_checkpoint", NEEDED),
    ],
)
def test_an_import_loads_only_the_parser_that_it_names(code: str, modules: set[str]) -> None:
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert modules == {name.removeprefix("kcheck.formats.") for name in printed if name.startswith("kcheck.formats.")}
    assert not {"numpy", "pyarrow", "fastcrc", "cramjam"} & set(printed)


def test_all_parsers_load_without_numpy() -> None:
    code = 'import kcheck.formats as f; f.parse("meta.properties", b""); import sys; print(*sys.modules)'
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "kcheck.formats.producer_snapshot" in printed
    assert not {"numpy", "pyarrow", "fastcrc", "cramjam"} & set(printed)
