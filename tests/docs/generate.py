"""Writes what is generated in the pages: `python -m tests.docs.generate [PAGE...]`.

docs/cli.md from the help of every command, docs/rules.md from the rules, docs/releases.md from the table of releases,
docs/tables.md from the tables, docs/json.md and docs/schemas from the fields of documents, docs/premises.md from the
premises, docs/demo.md from a run, docs/histories from the histories that kcheck ships, docs/log-messages.md from the
catalogue of broker messages, the answers in docs/queries.md, and what stands below every `$ kcheck ...` in README.md
(its help text too) and in the pages written by hand.
"""

import ast
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from typer.main import get_command

import kcheck.model.release
from kcheck.cli.app import app
from kcheck.cli.commands import TWO_WORDS
from kcheck.core.releases.release_evidence import TABLE as EVIDENCE
from kcheck.core.releases.releases import NEWEST_TESTED, PROFILES, TABLE, TESTED, ReleaseRow, release
from kcheck.disk.package_data import log_catalogue
from kcheck.messages.catalogue import LogRule
from kcheck.model.behaviour import Behaviour
from kcheck.model.behaviours import BEHAVIOURS
from kcheck.model.release import Follower, ProfileRules
from kcheck.model.report import Column
from kcheck.registry import discover
from kcheck.tables import PLACE, Table
from tests.cli.command import kcheck as in_process
from tests.docs import premises, queries, schemas, test_rules_page, topics
from tests.docs.examples import ROOT, pages, printed, with_current_output
from tests.docs.histories import history_pages

COMMAND = "python -m tests.docs.generate"
NOTICE = f"<!-- {COMMAND} writes this page"

RELEASES_HEAD = f"""# Releases

The behavior of each release of Kafka that changes an answer of `kcheck`. `--kafka` chooses the row, `--ibp` and
`--message-format` can change it, `--profile` puts another profile in its place. The default is the release that
[the files tell](#which-release-wrote-the-files).
The brokers or classes of these lines answer in the tests: {", ".join(TESTED)}.

{NOTICE} from kcheck/core/releases/releases.py, kcheck/model/release.py,
kcheck/model/behaviours.py and kcheck/core/releases/release_evidence.py: change those, not this. -->
"""

DEMO_HEAD = f"""# Two minutes: kcheck demo

`kcheck demo` writes the log dirs of three simulated brokers into a temporary folder, breaks one of them, and walks
through look, plan and act. Each step shows a command that you can type, and its output. On a terminal the demo waits
for Enter after each step, unless you use `--no-pause`. At the end, and after ^C, it removes the folder. `--dir DIR`
builds the cluster in `DIR` and keeps it.

{NOTICE} from a run: change kcheck/cli/demo.py, not this. -->
"""

LOG_MESSAGES_HEAD = f"""# Messages of brokers

The meaning of the messages in a broker's log. [explain](log-lines.md) shows how to ask; `kcheck explain L008` shows
every wording of one. Rules under Unrelated are not about files, and each names the reason.

{NOTICE} from kcheck/messages/rules.tsv and patterns.tsv: change those, not this. -->
"""

EVIDENCE_HEAD = f"""## Which release wrote the files

`--kafka auto`, the default, reads the release from the files of a broker, in all the given log dirs. The first line of
a text answer names it, and so does `kafka_evidence` in JSON:

| Field | Meaning |
| --- | --- |
| `lowest`, `highest` | The lines of releases that the files fit, both included; null if nothing is known. |
| `used` | The release of the answer, the highest possible one up to {NEWEST_TESTED}, the newest tested one. |
| `given` | Whether the user named it. If the files contradict that, a warning on stderr says so. |
| `given_by` | The variable or configuration file that named it; null if `--kafka` did, or if it was detected. |
| `other` | The comparison with the answer for `lowest`, with `kafka`, and the rules and partitions in `differs_in`. |
| `reasons` | The evidence for the range, with its releases (`says`), kind (`from`), `path` and `broker_id`. |

- A broker that registered in the metadata log proves its release. So does its own log (`--server-log FILE`, plain or
  `.gz`). All other evidence gives a range. `--config FILE` adds the evidence of its server.properties.
- With `unstable.feature.versions.enable`, 3.7 registers as 3.8 does, and 3.8 as 3.9. Name it by `--kafka` then.
- A file stays when its broker is upgraded. So a file proves that a broker at least this new wrote here. A
  broker that was downgraded leaves the same files, so name its release by `--kafka`.
- Files can be newer than the registration of their broker after an upgrade that has not registered yet, or after a
  downgrade. The range then contains both releases, and the first line has "not one release".
- A missing file bounds the release from above only if every later broker writes it when it starts. A file that exists
  counts more, because a file can be lost. A missing partition.metadata proves nothing, because brokers of 3.9 and
  earlier with an inter.broker.protocol.version below 2.8 write none. Outside of a log dir, missing files prove nothing.
- These names prove nothing, because every release above writes them: `recovery-point-offset-checkpoint`,
  `replication-offset-checkpoint` and `cleaner-offset-checkpoint`, `.cleaned`, `.swap` and `.deleted` files of a
  segment, the names of a broker's own log files (`server.log`, `controller.log`), and in a metadata log
  `.checkpoint`, `.checkpoint.part` and `.checkpoint.deleted`. No release writes `-delete`, `-future` or `-stray`
  without the 32 digits.
- Where the range has several releases, `check`, `predict`, `kcheck PATH`, `truncation` and `end-offset` also answer
  for the lowest one and name the differences. They do not compare answers for more than 1000 partitions or segments,
  nor for more than 256 MiB. `differs_in` is then null. `other` is null if the answer is for one release only.
- `truncation` and the other commands answer for one release. If the brokers have several releases, the first line says
  so, and the answer is for the newest. Name the release of the next start by `--kafka`.
- `fleet scan` answers for each broker as the newest release that fits all its log dirs. Columns of `log_dirs` have it.

First and last: the lines of releases that the evidence fits. An empty field has no limit. The levels of
`metadata.version` in records and versions in texts narrow the range. kcheck looks at 16 partitions of a log dir at
most, and at 4 of each internal topic. It reads the first 64 KiB of their last segments.
"""

BEHAVIOURS_HEAD = """## What else changes with the release

From: the first release that does it. Until: the first release that no longer does it. An empty field has no limit.
"""

TABLES_HEAD = f"""# Tables

The columns of `--format csv` and `--format parquet`, and of a run of `fleet scan`. `--format parquet` needs `-o FILE`.
In Parquet text is UTF-8, and numbers are signed. A null value is unknown, or there is none. A column of type json is a
text that contains JSON. A column of type time is a timestamp in microseconds, in UTC. It is null outside of the years 1
to 9999.

{NOTICE} from kcheck/tables: change those, not this. -->
"""

RUN_TABLE = "A table of a run of `fleet scan`, version {}."
IN_RUN = " Its rows begin with the [columns of its place](#in-a-run)."

FOLLOWERS = {
    Follower.HIGH_WATERMARK: "Truncates to its own high watermark and asks nobody.",
    Follower.KIP101: "Asks OffsetsForLeaderEpoch once, for its latest epoch.",
    Follower.KIP279: "Asks OffsetsForLeaderEpoch until both name the same epoch.",
    Follower.FETCH: "Sends its latest epoch with each fetch; the leader answers where the logs diverge.",
}
"""They have no docstrings of their own; `kcheck.core.replication.truncation` has one for all."""

MEANINGS = (
    ("Readers", "CheckpointReader", "Reader: how the text checkpoints are read."),
    ("Epoch loads", "EpochLoad", "Epoch load: the effect of loading a log on leader-epoch-checkpoint."),
    ("Assign", "Assign", "Assign: the effect of an entry that contradicts the epoch cache."),
    ("Lookups", "Lookup", "Lookup: the answer of a leader to OffsetsForLeaderEpoch."),
)


def cli_page() -> str:
    """Return docs/cli.md: the help of kcheck, then that of every command in the order of the help."""
    parts = ["# Commands\n", f"{NOTICE} from the help of each command: change that, not this. -->\n"]
    for arguments in ("", *commands()):
        name = f"kcheck {arguments}".strip()
        parts.append(f"## {name}\n\n```text\n{in_process(*_typed(name).split()[1:], '--help').out}```\n")
    return "\n".join(parts)


def _typed(name: str) -> str:
    """Return a command as it is typed."""
    command = name.removeprefix("kcheck").strip()
    return f"kcheck {TWO_WORDS.get(command, command)}".strip()


def commands() -> list[str]:
    """Return the names of the commands, in the order in which the program has them; a group's follow its own."""
    return [*_names(get_command(app))]


def _names(group: object) -> Iterator[str]:
    found: dict[str, object] = getattr(group, "commands", {})  # a group has them, a command does not
    for name, command in found.items():
        if getattr(command, "hidden", False):
            continue
        yield name
        yield from (f"{name} {below}" for below in _names(command))


def releases_page() -> str:
    """Return docs/releases.md."""
    said = docstrings(Path(kcheck.model.release.__file__))
    header = ("Releases", "Profile", "Lookup", "Reader", "Epoch load", "Assign", "Default protocol")
    parts = [RELEASES_HEAD, table(header, (release_row(row) for row in TABLE))]
    parts.append(
        "Default protocol: inter.broker.protocol.version or metadata.version where nothing else is configured.\n"
    )
    parts += ["## Profiles\n", "A profile is the behavior of a follower and its leader until their logs agree.\n"]
    names = list(ProfileRules._fields)
    words = [name.replace("_", " ").capitalize() for name in names]
    rows = [[str(profile), *(cell(getattr(rules, name)) for name in names)] for profile, rules in PROFILES.items()]
    parts.append(table(("Profile", *words), rows))
    parts += ["## Followers\n", "Follower: how it finds its truncation offset.\n"]
    parts.append(table(("Code", "Meaning"), [(str(follower), FOLLOWERS[follower]) for follower in Follower]))
    for title, name, text in MEANINGS:
        parts += [f"## {title}\n", text + "\n"]
        codes = [(code, doc) for (owner, code), doc in said.items() if owner == name]
        parts.append(table(("Code", "Meaning"), [(value_of(name, code), doc) for code, doc in codes]))
    evidence = [(str(kind), cell(row.first), cell(row.last), row.reference, row.why) for kind, row in EVIDENCE.items()]
    parts += [EVIDENCE_HEAD, table(("Evidence", "First", "Last", "Source", "Why"), evidence)]
    parts += [BEHAVIOURS_HEAD, table(("From", "Until", "Kafka's id", "What it does"), map(behaviour_row, BEHAVIOURS))]
    return "\n".join(parts)


def release_row(row: ReleaseRow) -> Sequence[str]:
    """Return a line of the table of releases."""
    name = row.first if row.first == row.last else f"{row.first} to {row.last}"
    assign = release(row.last).assign if row.lookup else None
    return [name, *map(cell, (row.profile, row.lookup, row.reader, row.epoch_load, assign, row.ibp))]


def behaviour_row(row: Behaviour) -> Sequence[str]:
    """Return a line of the table of behaviours."""
    since = f"{row.since}, not {row.but_not}" if row.but_not else row.since
    return [cell(value) for value in (since, row.until, row.reference, row.says)]


def tables_page() -> str:
    """Return docs/tables.md."""
    parts = [TABLES_HEAD]
    for found in discover("kcheck.tables", "TABLE"):
        assert isinstance(found, Table)
        parts.append(f"## {found.name}\n\n{found.title}\n")
        if found.in_run is not None:
            parts.append(RUN_TABLE.format(found.version) + (IN_RUN if found.in_run else "") + "\n")
        parts.append(table(("Column", "Type", "Meaning"), (*_own_of_run(found), *found.columns)))
    parts += ["## In a run\n", "The first columns of the tables that say so.\n"]
    parts.append(table(("Column", "Type", "Meaning"), PLACE))
    return "\n".join(parts)


def _own_of_run(found: Table) -> list[Column]:
    """Return the columns that only a run has, without those of the place."""
    return [column for column in found.in_run or () if column not in PLACE]


def log_messages_page() -> str:
    """Return docs/log-messages.md."""
    catalogue = log_catalogue()
    parts = [LOG_MESSAGES_HEAD]
    for group in dict.fromkeys(rule.group for rule in catalogue.rules.values()):
        parts.append(f"## {group.capitalize()}\n")
        rules = (rule for rule in catalogue.rules.values() if rule.group == group)
        parts.append(table(("Id", "Severity", "Since", "Meaning", "Kafka next", "On disk"), map(log_rule_row, rules)))
    return "\n".join(parts)


def log_rule_row(rule: LogRule) -> Sequence[str]:
    """Return a line of a table of broker messages."""
    since = log_catalogue().since.get(rule.id)
    return [rule.id, rule.severity, cell(since), rule.means, rule.next, ", ".join(rule.findings)]


def cell(value: object) -> str:
    """Return a value of a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def docstrings(path: Path) -> dict[tuple[str, str], str]:
    """Return the docstrings below the members and properties of each class of a module, in one line each."""
    found: dict[tuple[str, str], str] = {}
    for owner in ast.parse(path.read_text("utf-8")).body:
        if not isinstance(owner, ast.ClassDef):
            continue
        for part, after in zip(owner.body, [*owner.body[1:], None], strict=True):
            if isinstance(part, ast.FunctionDef):
                found[owner.name, part.name] = one_line(ast.get_docstring(part))
            elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                text = after.value if isinstance(after, ast.Expr) else None
                said = str(text.value) if isinstance(text, ast.Constant) else None
                found[owner.name, part.targets[0].id] = one_line(said)
    return found


def one_line(text: str | None) -> str:
    """Return a docstring as one line."""
    return " ".join((text or "").split())


def value_of(name: str, member: str) -> str:
    """Return the code of an enum's member, as the table shows it."""
    return str(getattr(kcheck.model.release, name)[member])


def demo_page() -> str:
    """Return docs/demo.md."""
    return f"{DEMO_HEAD}\n```text\n$ kcheck demo --no-pause\n{printed('kcheck demo --no-pause')}```\n"


def premises_page() -> str:
    """Return docs/premises.md."""
    return premises.premises_page(table, NOTICE)


def json_page() -> str:
    """Return docs/json.md."""
    return schemas.json_page(table, NOTICE)


WHOLE: dict[str, Callable[[], str]] = {
    "docs/cli.md": cli_page,
    "docs/demo.md": demo_page,
    "docs/json.md": json_page,
    "docs/log-messages.md": log_messages_page,
    "docs/premises.md": premises_page,
    "docs/releases.md": releases_page,
    "docs/rules.md": test_rules_page.written,
    "docs/tables.md": tables_page,
}


def written(wanted: Collection[str] = ()) -> dict[str, str]:
    """Return what every page must hold, or those that are wanted, by its path from the root."""
    whole = {page: write() for page, write in WHOLE.items() if not wanted or page in wanted}
    by_hand = {page: with_current_output(page) for page in pages() if not wanted or page in wanted}
    if queries.PAGE in by_hand:
        by_hand[queries.PAGE] = queries.with_current_answers(by_hand[queries.PAGE])
    return whole | by_hand


def main(*wanted: str) -> None:
    """Write the pages that are not current: of all, or of those that are wanted."""
    histories = history_pages() if not wanted or any(page.startswith("docs/histories/") for page in wanted) else {}
    of_schemas = schemas.schema_files() if not wanted or any(page.startswith(schemas.FOLDER) for page in wanted) else {}
    for page, text in (written(wanted) | histories | of_schemas | topics.topic_files()).items():
        path = ROOT / page
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8", newline="\n")
            print(f"written: {page}")


if __name__ == "__main__":
    main(*sys.argv[1:])
