"""The catalogue of broker messages against the classes of releases: each text is a constant of the class."""

import re
import zipfile
from functools import cache

import pytest

from kcheck.disk.package_data import log_catalogue
from kcheck.messages.catalogue import Wording
from tests.oracle.ask import IS_WHOLE
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError, classpath

pytestmark = pytest.mark.oracle

SAMPLE = ("4.3.1", "2.8.2")
RELEASES = (
    "0.10.2.2", "0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.1.1", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.3", "2.7.2",
    "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.2",
    "4.2.1", "4.3.1",
)  # fmt: skip
KAFKA_JAR = re.compile(r"/kafka[^/]*-[0-9.]+\.jar$")
OF_OTHERS = ("L165", "L201", "L205", "L206", "L207", "L208", "L209", "L210", "L161", "L227", "L228")
"""Rules of messages that Java, ZooKeeper or the clients write."""
OF_JAVA = ("-",)
CLASSES = {name.removesuffix("$") for wording in log_catalogue().wordings for name in wording.classes}
SPLIT_MAX = 4
WORD = re.compile(r"\w+ ?|\W")


def line_of(version: str) -> str:
    """Return the line of releases of a version."""
    return ".".join(version.split(".")[: 3 if version.startswith("0.") else 2])


@cache
def constants(version: str) -> dict[str, str]:
    """Return the texts in the constant pools of Kafka's classes, by the simple name of the outermost class."""
    try:
        jars = [path for path in classpath(version).split(":") if KAFKA_JAR.search(path)]
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    texts: dict[str, list[str]] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                simple = name.rpartition("/")[2].removesuffix(".class").partition("$")[0]
                if name.endswith(".class") and simple in CLASSES:
                    texts.setdefault(simple, []).append(pool(archive.read(name)))
    return {name: "\0".join(parts) for name, parts in texts.items()}


SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of the constants that are no text, by tag (JVM specification, 4.4)."""


def pool(data: bytes) -> str:
    """Return the texts in the constant pool of a class file."""
    count, at, number, texts = int.from_bytes(data[8:10], "big"), 10, 1, []
    while number < count:
        tag = data[at]
        if tag == 1:
            size = int.from_bytes(data[at + 1 : at + 3], "big")
            texts.append(data[at + 3 : at + 3 + size].decode(errors="replace"))
            at += 3 + size
        else:
            at += 1 + SIZES[tag]
            number += tag in (5, 6)
        number += 1
    return "\0".join(texts)


def is_there(text: str, texts: str, splits: int = SPLIT_MAX) -> bool:
    """Whether a text is among others, or parts of it are: the source may join it from several."""
    text = text.strip()
    if not text or text in texts:
        return True
    words = WORD.findall(text)
    for count in range(len(words) - 1, 0, -1) if splits else ():
        if "".join(words[:count]).rstrip() in texts:
            return is_there("".join(words[count:]), texts, splits - 1)
    return False


def missing(wording: Wording, version: str) -> str | None:
    """Return a text of a wording that none of its classes has in a release."""
    texts = "\0".join(constants(version).get(name.removesuffix("$"), "") for name in wording.classes)
    return next((literal for literal in wording.literals if not is_there(literal, texts)), None)


@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else SAMPLE)
def test_every_text_of_a_wording_is_a_constant_of_the_release(version: str) -> None:
    """Of each wording that the catalogue says the release has."""
    of_release = (one for one in log_catalogue().wordings if one.has(line_of(version)))
    asked = [one for one in of_release if one.rule.id not in OF_OTHERS and one.classes != OF_JAVA]
    assert len(asked) > 50
    wrong = [f"{one.rule.id} {one.pattern}: {text!r}" for one in asked if (text := missing(one, version)) is not None]
    assert not wrong
