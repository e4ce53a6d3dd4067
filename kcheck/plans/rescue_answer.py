"""The shared parts of `kcheck recover quorum`, `metadata` and `topic` (refusals, steps, files of a plan)."""

import json
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from kcheck.core.rescue.quorum_loss import NewVoter
from kcheck.core.rescue.refusals import RescueRefusal
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.documents.answer import Answer
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.recovery_quorum import refusal_row
from kcheck.errors import UsageError
from kcheck.handouts.quorum_steps import QuorumStep, runbook
from kcheck.handouts.saved_plan import schema_of
from kcheck.handouts.saved_rescue import RESCUE_SCHEMAS
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import Row
from kcheck.model.unreadable import UnreadableError
from kcheck.words import shell_line

RUNBOOK, RECOVERY, ZNODES = "recovery.md", "recovery.json", "znodes.txt"
_FILE_SIZE_MAX = 1 << 30


@dataclass(frozen=True, kw_only=True)
class RescueAnswer(Answer):
    """A way back from the remaining disks, or the reason why there is no way."""

    release: Release
    """The Kafka release that is modelled."""
    arguments: tuple[str, ...]
    """The arguments that name the nodes."""
    refusals: tuple[RescueRefusal, ...]
    """The reason why there is no plan."""
    warnings: tuple[RescueRefusal, ...]
    """The refusals that the user overruled."""
    checked: tuple[str, ...]
    """The paths that were read."""
    collected: list[Finding]
    """The findings about the paths that were read."""
    folder: str = FOLDER
    """The directory of the plan's files."""
    written: tuple[str, ...] = ()
    """The files of the plan."""

    @property
    @abstractmethod
    def sentences(self) -> tuple[str, ...]:
        """The loss and its meaning."""

    @property
    @abstractmethod
    def steps(self) -> tuple[QuorumStep, ...]:
        """The steps, one after the other."""

    @property
    @abstractmethod
    def next_command(self) -> str | None:
        """The command to type next; None if first something has to be brought."""

    @property
    def first_command(self) -> str:
        """The first command that applies a plan; without a plan the command for the progress."""
        commands = (command for step in self.steps for command in step.commands)
        return next((command for command in commands if command.startswith("kcheck apply ")), self.progress_command)

    @property
    def progress_command(self) -> str:
        """The command for the progress with the plan."""
        return shell_line(["kcheck", "recover", self.folder, "--next", *self.arguments])

    def documents(self, title: str) -> dict[str, bytes]:
        """Return the runbook and the answer as files; their names are known to the answer by now."""
        text = runbook(self.sentences, self.steps, title, self.progress_command)
        return {
            RUNBOOK: text.encode(errors="backslashreplace"),
            RECOVERY: (json.dumps(self.to_dict()) + "\n").encode(errors="backslashreplace"),
        }

    def last_rows(self, plans: Iterable[Row]) -> Row:
        """Return the last fields of the answer as JSON; `plans` are the rows of its plans."""
        return {
            "steps": tuple(step._asdict() for step in self.steps),
            "refusals": tuple(map(refusal_row, self.refusals)),
            "overruled": tuple(map(refusal_row, self.warnings)),
            "plans": tuple(plans),
            "written": self.written,
            "next": self.next_command,
        }


def read_saved(folder: str, name: str) -> bytes:
    """Return a file of the directory of a plan; UsageError for an unreadable file."""
    try:
        return tree_of(folder).read_whole(join(folder, name), follow=True, size_max=_FILE_SIZE_MAX)
    except UnreadableError as error:
        raise UsageError(
            f"{folder}: no plan of kcheck recover --output-dir that can be read: {name}: {error}"
        ) from error


def is_rescue(folder: str) -> bool:
    """Return whether a rescue wrote the plan in a directory, not `kcheck recover`; UsageError without a plan."""
    return schema_of(read_saved(folder, RECOVERY), join(folder, RECOVERY)) in RESCUE_SCHEMAS


def voter_words(voter: NewVoter | None) -> list[str]:
    """Return the option that names the controller, as words of a command."""
    if voter is None:
        return []
    return ["--voter", f"{voter.node_id}{'' if voter.host is None else f'@{voter.host}:{voter.port}'}"]


def overruled(
    every: Iterable[RescueRefusal], *, force: bool
) -> tuple[tuple[RescueRefusal, ...], tuple[RescueRefusal, ...]]:
    """Return the refusals that remain, and the refusals that the user overrules."""
    rows = tuple(every)
    return (
        tuple(row for row in rows if not (row.forced and force)),
        tuple(row for row in rows if row.forced and force),
    )
