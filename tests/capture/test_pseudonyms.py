"""Pseudonyms: one for each topic, everywhere; only the key at home leads back."""

import io
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.capture.pseudonyms import Pseudonyms
from kcheck.model.names import is_legal_topic
from tests.capture.answers import SUFFIX, captured, fresh, run, without_clock, without_host
from tests.capture.hostile import SAMPLE
from tests.capture.test_payload import contents

NAMES = st.from_regex(r"\A[A-Za-z0-9._-]{1,40}\Z").filter(is_legal_topic)


@given(st.sets(NAMES, max_size=30), st.binary(min_size=32, max_size=32))
def test_no_two_names_become_one(names: set[str], key: bytes) -> None:
    """A pseudonym is a legal topic of the same length; topics of Kafka itself keep their names."""
    pseudonyms = Pseudonyms(key)
    others = {name: pseudonyms.topic(name) for name in sorted(names)}
    assert len({*others.values()}) == len(names)
    for name, other in others.items():
        assert is_legal_topic(other)
        assert len(other) == len(name)
        assert (other == name) <= (name.startswith("__") or len(name) < 4)
        assert Pseudonyms(key).topic(name) == other


def test_names_of_one_character_stay_apart() -> None:
    """There are 65 of them, of which one is no name."""
    pseudonyms = Pseudonyms(bytes(32))
    names = [name for name in map(chr, range(128)) if is_legal_topic(name)]
    assert len({pseudonyms.topic(name) for name in names}) == len(names)


def test_no_topic_is_in_the_bundle_and_answers_translate_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In directories, checkpoints, metadata records and the manifest."""
    broker = Path(shutil.copytree(SAMPLE, tmp_path / "broker"))
    key = tmp_path / "names.key"
    topics = {path.parent.name.rpartition("-")[0] for path in broker.glob("*/*/*.log")}
    topics = {topic for topic in topics if not topic.startswith("__")}
    bundle = captured([broker], tmp_path, "--pseudonyms", str(key))
    for name, content in contents(bundle):
        rest = content.replace(b"of aborted transactions", b"")  # Why an index is in; a topic has that name too.
        assert name == "the bundle" or not [topic for topic in topics if topic.encode() in rest], name
    assert key.stat().st_mode & 0o777 == 0o600
    for verb in (["inspect"], ["check", "--depth", "records"], ["predict"]):
        plain = run([*verb, str(broker), "--format", "json", "--kafka", "4.3"])[1]
        known = _NAMED.sub(lambda found: "null" if found[0].startswith('"') else "", plain)
        hidden = run([*verb, str(bundle), "--format", "json", "--kafka", "4.3"])[1]
        monkeypatch.setattr(sys, "stdin", io.StringIO(hidden))
        code, translated, _ = run(["capture", "--translate", str(key)])
        assert code == 0
        assert sorted(_lines(translated.replace(SUFFIX, ""))) == sorted(
            _lines(json.dumps(without_host(json.loads(known))))
        )
    again = tmp_path / "again"
    again.mkdir()
    assert captured([broker], again, "--pseudonyms", str(key)).read_bytes() == bundle.read_bytes()
    fresh()


_NAMED = re.compile(r'(?<="transactional_id": )"[^"]*"|, transactional id \\"[^"]*\\"')
"""Transactional ids, which are in no bundle."""


def _lines(text: str) -> list[str]:
    """Return the lines of a document that does not depend on the clock, without the commas of lists."""
    lines = json.dumps(without_clock(json.loads(text)), indent=1).splitlines()
    return [line.rstrip(",") for line in lines]


def test_sharing_makes_a_key(tmp_path: Path) -> None:
    """--share hides names without being asked, and says where the key is."""
    code, _, errors = run(["capture", str(SAMPLE), "-o", str(tmp_path / f"x{SUFFIX}"), "--share"])
    assert code == 0
    assert f"kcheck capture --translate {tmp_path}/x.kcheck.key" in errors
    assert (tmp_path / "x.kcheck.key").exists()
