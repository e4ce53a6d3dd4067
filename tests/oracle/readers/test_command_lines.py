"""Kafka's own tools parse every command line that pages, screens and plans print, release by release.

Each command fails behind its options: at its address, whose port is none, or at a file that is not there.
`test_election_files` asks the same of the plans of `elect`, whose words depend on the release.
"""

import ast
import importlib
import json
import re
import shlex
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from types import ModuleType

import pytest

from kcheck.handouts.quorum_steps import JOINS, format_command
from tests.cli.command import kcheck
from tests.docs.examples import ROOT
from tests.oracle.ask import IS_WHOLE, Ask, sampled
from tests.oracle.jars import classpath

pytestmark = pytest.mark.oracle

RELEASES = ("2.4.1", "2.8.2", "3.6.2", "3.9.2", "4.0.2", "4.3.1")
NEWEST = RELEASES[-1]
TOOLS = {
    "kafka-cluster": "ClusterTool",
    "kafka-configs": "ConfigCommand",
    "kafka-console-consumer": "ConsoleConsumer",
    "kafka-console-producer": "ConsoleProducer",
    "kafka-consumer-groups": "ConsumerGroupCommand",
    "kafka-delete-records": "DeleteRecordsCommand",
    "kafka-features": "FeatureCommand",
    "kafka-leader-election": "LeaderElectionCommand",
    "kafka-metadata-quorum": "MetadataQuorumCommand",
    "kafka-reassign-partitions": "ReassignPartitionsCommand",
    "kafka-storage": "StorageTool",
    "kafka-topics": "TopicCommand",
    "kafka-transactions": "TransactionsCommand",
}
"""The main class of each tool, without its package: that moved."""
SINCE = {
    ("kafka-metadata-quorum", ""): "3.6.2", ("kafka-transactions", ""): "3.6.2", ("kafka-storage", ""): "2.8.2",
    ("kafka-cluster", ""): "2.8.2", ("kafka-features", ""): "2.8.2",
    ("kafka-reassign-partitions", ""): "2.8.2", ("kafka-configs", "--topic"): "2.8.2",
    ("kafka-configs", "topics"): "2.8.2", ("kafka-console-producer", "--bootstrap-server"): "2.8.2",
    ("kafka-metadata-quorum", "add-controller"): "3.9.2", ("kafka-metadata-quorum", "remove-controller"): "3.9.2",
    ("kafka-storage", "--no-initial-controllers"): "3.9.2", ("kafka-features", "upgrade"): "3.6.2",
}  # fmt: skip
"""The first of these releases that has a tool, or a word of it. The pages say which release they are about."""
ENDS_THE_JVM = ("kafka-features", "kafka-metadata-quorum", "kafka-storage")
"""The tools of which some releases end the JVM themselves at a wrong option; a test sees that as a failure."""
SERVERS = frozenset({"--bootstrap-server", "--bootstrap-controller", "--zookeeper", "--broker-list"})
NOWHERE = "nowhere:99999"
PARSED = re.compile(
    r"Invalid port in bootstrap\.servers: nowhere:99999|port out of range:99999|Failed to create new KafkaAdminClient"
    r"|NoSuchFileException|FileNotFoundException|Properties file \S+ does not exist"
)
LINE = re.compile(r"(?:^|[`\s])(?:bin/)?(kafka-[a-z-]+)\.sh ([^`\n]+)")
PUT_IN = "\0"


@cache
def main_class(version: str, tool: str) -> str | None:
    """Return the main class of a tool in a release; None if it has none. The newer package goes first."""
    wanted = f"{TOOLS[tool]}.class"
    jars = [jar for jar in classpath(version).split(":") if "/org/apache/kafka/" in jar]
    names = {name for jar in jars for name in zipfile.ZipFile(jar).namelist() if name.endswith(f"/{wanted}")}
    return max((name.removesuffix(".class").replace("/", ".") for name in names), default=None)


def whole(text: str) -> Iterator[str]:
    """Yield the command lines of a text that could be typed: prose names options alone. What stands in code counts."""
    text = text.replace("\\\n", " ")
    code = "\n".join([*re.findall(r"```.*?```", text, re.DOTALL), *re.findall(r"`[^`\n]+`", text)] or [text])
    for tool, rest in LINE.findall(re.sub(r"; (then )?", "\n", code)):
        words = re.split(r" [<>|] ", rest)[0].split()
        if tool in TOOLS and ({*words} & SERVERS or words[-2:-1] == ["--config"]):
            yield " ".join((tool, *words))


def of_pages() -> Iterator[str]:
    """Yield the command lines of pages, of topics of help and of screens."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        yield from whole(path.read_text("utf-8"))
    for path in sorted((ROOT / "kcheck/cli/topics").glob("*.txt")) + sorted((ROOT / "fixtures").rglob("plans/*.txt")):
        yield from whole("\n".join(line for line in path.read_text("utf-8").splitlines() if line.startswith("  ")))


def of_answers() -> Iterator[str]:
    """Yield the command lines in the pinned JSON of every verb."""
    for path in sorted((ROOT / "tests/renderers/golden").glob("*.json")):
        for text in _texts(json.loads(path.read_text("utf-8"))):
            yield from whole(text)


def of_scripts(version: str) -> Iterator[str]:
    """Yield the command lines of a history as a shell script for a release."""
    history = "kip-966" if version >= "4" else "kip-101-1"
    text = kcheck("simulate", "script", history, "--kafka", version.rpartition(".")[0]).out
    text = re.sub(r'"\$[123]"', "1", text.replace("\\\n", " ")).replace('"$(address 1)"', NOWHERE)
    for line in text.replace('"$KAFKA/bin/', "\n").replace('.sh"', ".sh").splitlines():
        yield from whole(re.split(r"; | \|\| ", line)[0])


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def of_sources() -> Iterator[str]:
    """Yield the command lines that modules hold, with 1 for each value; those whose options are put in are not."""
    for path in sorted((ROOT / "kcheck").rglob("*.py")):
        source = path.read_text("utf-8")
        if re.search(r"kafka-[a-z-]+\.sh", source):
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for node in ast.walk(ast.parse(source)):
                text = _text(node, module) if isinstance(node, ast.JoinedStr) else ""
                if _is_known(text.split()):
                    yield from whole(text.replace(PUT_IN, "1"))
    yield from whole(format_command("ID"))
    yield from whole(format_command("ID", JOINS))


def _is_known(words: Sequence[str]) -> bool:
    """Return whether only values are put in, behind their options; ZooKeeper's old options are in plans of `elect`."""
    places = (at for at, word in enumerate(words) if PUT_IN in word)
    is_whole = words[-1:] != ["\\"] and "--zookeeper" not in words
    return is_whole and all(at and words[at - 1].startswith("--") and words[at][0] != "-" for at in places)


def _text(node: ast.JoinedStr, module: ModuleType) -> str:
    """Return a string of a source with the constants of its module, and `PUT_IN` for all else."""
    values = (part.value if isinstance(part, ast.FormattedValue) else part for part in node.values)
    return "".join(
        str(value.value) if isinstance(value, ast.Constant)
        else str(getattr(module, value.id, PUT_IN)) if isinstance(value, ast.Name)
        else PUT_IN
        for value in values
    )  # fmt: skip


def typed(version: str, line: str) -> str | None:
    """Return a command line for `Commands.java`, at an address that is none; None if the release lacks its words."""
    tool, *words = shlex.split(line)
    absent = (since for (name, word), since in SINCE.items() if name == tool and (not word or word in words))
    if any(RELEASES.index(version) < RELEASES.index(since) for since in absent):
        return None
    pairs = zip(["", *words], words, strict=False)
    name = main_class(version, tool)
    assert name is not None, (version, tool)
    return "\t".join([name, *(NOWHERE if before in SERVERS else word for before, word in pairs)])


def refused(version: str, lines: Iterable[str], ask: Ask) -> list[tuple[str, str]]:
    """Return the command lines that a tool of a release does not parse, each with its answer."""
    commands = {line: command for line in dict.fromkeys(lines) if (command := typed(version, line)) is not None}
    answers = ask(version, "Commands.java", commands.values())
    return [(line, answer) for line, answer in zip(commands, answers, strict=True) if not PARSED.search(answer)]


@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else sampled(RELEASES))
def test_the_tools_parse_what_kcheck_prints(version: str, ask: Ask) -> None:
    """All that has an address; a line with an option more, which no tool has, is refused."""
    lines = [*dict.fromkeys((*of_pages(), *of_answers(), *of_sources(), *of_scripts(version)))]
    assert len({line.split()[0] for line in lines}) > 8
    wrong = [f"{line} --no-such-option" for line in lines if not line.startswith(ENDS_THE_JVM)]
    assert refused(version, lines, ask) == []
    assert [line for line, _ in refused(version, wrong, ask)] == [line for line in wrong if typed(version, line)]
