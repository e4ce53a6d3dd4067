"""The commands by the question that they answer, and the first screen of help; needs no other module."""

from textwrap import dedent

GROUPS: dict[str, dict[str, str]] = {
    "Check": {
        "check": "Find corrupt log dirs and files.",
        "predict": "Show what the next start does to each partition.",
        "preflight": "Check that a broker starts without losing records.",
        "explain": "Explain a finding, a log line, or a server.log.",
    },
    "Decide": {
        "recover": "Write the step-by-step plan that loses the fewest records.",
        "recover-quorum": "Restore controllers that lost their majority.",
        "recover-metadata": "Rebuild lost metadata from the brokers' disks.",
        "recover-topic": "Bring old directories of a topic back into service.",
        "elect": "Recommend a start order and leaders, with their cost.",
        "verify": "Compare brokers with the plan of elect.",
        "truncation": "Show where followers truncate under each leader.",
        "cluster": "Show leaders, ISR, brokers and quorum from disk.",
    },
    "Fix": {
        "repair": "Plan repairs, with proof.",
        "apply": "Apply a plan, and back up every file it replaces.",
        "undo": "Restore what apply changed, byte for byte.",
    },
    "Look": {
        "inspect": "Show offsets, epochs and segments.",
        "dump": "Show batches, records or entries of a file.",
        "tiered": "Show remote segments, gaps, and who would delete what.",
        "end-offset": "Answer OffsetsForLeaderEpoch from disk.",
    },
    "Share": {
        "capture": "Pack the evidence for a support ticket: no records.",
        "export": "Write records in a form that a producer takes.",
    },
    "Fleet": {"fleet": "Scan all brokers every night; report and compare the runs."},
    "Learn": {
        "demo": "Break a small cluster, and repair it.",
        "simulate": "Replay and search histories of one partition.",
        "rules": "List all rules.",
        "schema": "Show the fields of a JSON answer, as JSON Schema.",
        "help": "Show help for a command or a topic.",
    },
}
"""The groups of the help, each with its commands in their order, and one sentence for each command."""

PATH_COMMAND = "overview"
"""The hidden command that runs when the first argument is a path."""
HIDDEN = {
    PATH_COMMAND: "Show what is wrong, and what the next start does.",
    "manual": "Write man pages and shell completion.",
    "version": "Show the versions of kcheck, Python and Kafka.",
}
"""Commands that the first screen does not list."""

SENTENCES = {name: words for group in GROUPS.values() for name, words in group.items()} | HIDDEN
"""All commands, in the order of the help."""

TWO_WORDS = {f"recover-{word}": f"recover {word}" for word in ("quorum", "metadata", "topic")}
"""Commands that are typed as two words, the first of which is a command too."""

CHANGE_FILES = tuple(name for name in GROUPS["Fix"] if name != "repair")
"""The commands that write to log dirs."""

_HEAD = """\
    Usage: kcheck PATH...                what is wrong, and what the next start does
           kcheck COMMAND [OPTIONS] ...

    Check Kafka log directories offline: what is wrong, what the broker will do,
    which records you would lose. Only apply and undo write to log dirs.

    """
_END = """
    Start with:  kcheck /var/lib/kafka/data
    Options:     -h, --help   --version   --color auto|always|never
                 kcheck COMMAND -h shows its options, --help all of them
    Docs:        kcheck help topics|power-loss|dead-disk|every-night"""


def first_screen() -> str:
    """Return the help of `kcheck` itself."""
    rows = []
    for title, commands in GROUPS.items():
        heading = title
        for name, words in commands.items():
            if name in TWO_WORDS:
                continue  # The help of its first word names it.
            rows.append(f"{heading:9}{name:13}{words}\n")
            heading = ""
    return dedent(_HEAD) + "".join(rows) + dedent(_END)
