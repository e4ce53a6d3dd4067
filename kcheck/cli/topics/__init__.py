"""The topics of `kcheck help`, each a text of 80 columns that is part of the package."""

from textwrap import wrap

from kcheck.cli.environment import FILES, VARIABLES
from kcheck.cli.exit_codes import ANSWERS, CODES

INCIDENTS = {
    "before-a-start": "Check a broker before it starts: systemd, Kubernetes, Strimzi.",
    "power-loss": "All brokers lost power.",
    "dead-disk": "One disk is dead.",
    "disk-full": "A disk is full.",
    "unclean-election": "Before an unclean election.",
    "unclean-happened": "An unclean election has happened.",
    "lost-quorum": "The controllers lost their majority.",
    "lost-metadata": "All metadata is lost.",
    "lost-zookeeper": "ZooKeeper is lost.",
    "upgrade": "A broker does not start after an upgrade.",
    "old-copy": "An old copy of a disk was put back.",
    "moved-by-hand": "Directories were moved or copied by hand.",
    "deleted-topic": "A deleted topic should come back.",
    "stray-replica": "Take a replica back from -stray.",
    "support-ticket": "Send evidence without records.",
    "every-night": "Scan a fleet every night.",
}
"""The pages of docs/operations, each with one sentence; `python -m tests.docs.generate` writes their texts."""

TOPICS = {
    "exit-codes": "The exit codes of all commands.",
    "environment": "Environment variables and the configuration file.",
    "output": "Formats, colors, widths, and what goes to stdout and stderr.",
    "paths": "The kinds of PATH.",
    "releases": "The evidence for the release of Kafka, and the known releases.",
    "glossary": "The words of kcheck.",
    "manual": "Man pages, and completion for bash, zsh and fish.",
    **INCIDENTS,
}
"""The topics, each with one sentence."""

_WIDTH = 80


def topic(name: str) -> str | None:
    """Return the text of a topic; None for an unknown one."""
    if name == "topics":
        return _topics()
    if name not in TOPICS:
        return None
    written = {"exit-codes": _exit_codes, "environment": _environment, "releases": _releases}
    return (written[name]() if name in written else _file(name)).rstrip("\n")


def _topics() -> str:
    rows = [_row(name, words, 18) for name, words in TOPICS.items()]
    return "\n".join(["Topics of kcheck help:", "", *rows, "", "kcheck help TOPIC shows one of them."])


def _row(name: str, words: str, column: int) -> str:
    indent = " " * (column + 2)
    first = f"  {name:{column}}"
    return "\n".join(wrap(words, _WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False))


def _exit_codes() -> str:
    from kcheck.cli.commands import PATH_COMMAND

    rows = [_row(str(row.code), row.words, 5) for row in CODES]
    lines = ["Exit codes of all commands", "", *rows, "", "1 means, command by command:", ""]
    for name, (_, one) in ANSWERS.items():
        shown = "PATH" if name == PATH_COMMAND else name
        lines.append(_row(shown, one or "never", 18))
    end = (
        "--exit-zero makes 1 to 0, for scripts that read the answer. --fail-on LEVEL sets the severity for 1. "
        "A closed pipe, as in kcheck ... | head, is 0."
    )
    return "\n".join([*lines, "", *wrap(end, _WIDTH)])


def _environment() -> str:
    rows = [_row(variable.name, variable.words, 17) for variable in VARIABLES]
    return "\n".join(["Environment variables", "", *rows, "", *FILES.splitlines()])


def _releases() -> str:
    from kcheck.core.releases.releases import AS_OF, TABLE, TESTED

    known = f"kcheck knows Kafka {TABLE[0].first} to {TABLE[-1].last}, as of {AS_OF}."
    tested = f"The tests compare it with these release lines: {', '.join(TESTED)}."
    return "\n".join([_file("releases"), *wrap(known, _WIDTH), *wrap(tested, _WIDTH)])


def _file(name: str) -> str:
    import pkgutil

    data = pkgutil.get_data(__name__, f"{name}.txt")
    assert data is not None
    return data.decode()
