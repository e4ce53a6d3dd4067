"""What the file system refuses is named once."""

import os
from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.disk.refusals import Refusals, asked_twice, note_refusal
from kcheck.errors import UsageError
from kcheck.model.finding import Finding, Location
from kcheck.model.unreadable import Unreadable, UnreadableCause, UnreadableError
from kcheck.rules import kc001_unreadable
from kcheck.survey.refused_paths import complete, path_of, refused_findings

EIO = OSError(5, "Input/output error")
WHY = Unreadable(UnreadableCause.REFUSED, "Input/output error")


class Answer:
    """An answer without a finding."""

    def __init__(self) -> None:
        self.collected: list[Finding] = []


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/d/t-0", Location(log_dir="/d", dir="t-0", topic="t", partition=0)),
        ("/d/t-0/x.log", Location(log_dir="/d", dir="t-0", topic="t", partition=0, file="x.log")),
        ("/d/meta.properties", Location(log_dir="/d", file="meta.properties")),
    ],
)
def test_a_refused_path_is_a_finding_at_its_place(path: str, where: Location) -> None:
    """A partition directory, a file in it, a file of the log dir."""
    (finding,) = refused_findings({path: "Input/output error"}, ())
    assert where == finding.where
    assert path == path_of(where)
    assert "cannot be read: Input/output error" in finding.message


def test_a_log_of_a_broker_takes_no_log_dir_offline() -> None:
    """Only the answer suffers: no broker reads its log."""
    finding = kc001_unreadable.log_finding("server.log", WHY)
    assert ("KC001", Location(file="server.log")) == (finding.id, finding.where)
    assert ("cannot be read: Input/output error", "The answer lacks the messages that could not be read.") == (
        finding.message, finding.effect,
    )  # fmt: skip


def test_what_is_named_already_is_not_named_again() -> None:
    """Neither the path itself nor what is in a directory that has a finding."""
    of_directory = kc001_unreadable.finding(Location(3, "/d", "t-0"), WHY)
    refused = {"/d/t-0": "", "/d/t-0/a.log": "", "/d/u-0/b.log": "refused"}
    (finding,) = refused_findings(refused, (of_directory,))
    assert Location(3, "/d", "u-0", "u", 0, "b.log") == Location(
        finding.where.broker_id, finding.where.log_dir, finding.where.dir,
        finding.where.topic, finding.where.partition, finding.where.file,
    )  # fmt: skip
    assert [*refused_findings({}, (of_directory,))] == []


def test_an_answer_is_complete_with_what_was_refused() -> None:
    """What does not exist was not refused."""

    def ask() -> Answer:
        note_refusal("/d/t-0/x.log", EIO)
        note_refusal("/d/t-0/y.log", FileNotFoundError(2, "No such file or directory"))
        return Answer()

    assert [finding.where.file for finding in complete(ask).collected] == ["x.log"]


def test_an_error_names_what_was_refused() -> None:
    """Unless it says so itself."""

    def fail(words: str) -> Answer:
        note_refusal("/d", EIO)
        raise UsageError(words)

    with pytest.raises(UsageError, match=r"^no log dir \(/d: Input/output error\)$"):
        complete(lambda: fail("no log dir"))
    with pytest.raises(UsageError, match=r"^/d: Input/output error$"):
        complete(lambda: fail("/d: Input/output error"))


def test_a_refused_question_is_asked_again() -> None:
    """Once."""
    asked: list[int] = []

    def ask() -> int:
        asked.append(1)
        if len(asked) == 1:
            note_refusal("/d", EIO)
        return len(asked)

    assert (asked_twice(ask), asked_twice(ask)) == (2, 3)


def test_a_status_that_fails_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was opened, and then has no status: no OSError leaves `opened`."""
    path = tmp_path / "x.log"
    path.touch()

    def refuse(_: int) -> None:
        raise OSError(5, "Input/output error")

    with Refusals() as refused, monkeypatch.context() as patched:
        patched.setattr(os, "fstat", refuse)
        with pytest.raises(UnreadableError) as caught:
            LOCAL.open(str(path)).__enter__()
    assert str(caught.value) == "Input/output error"
    assert refused == {str(path): "Input/output error"}
