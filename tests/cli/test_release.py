"""`--kafka`: the release that the files tell, the one that the user names, and what is said of both."""

import json
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.test_brokers import BROKERS

NEW, OLD = BROKERS / "3.9.2" / "stopped" / "broker-1", BROKERS / "2.8.2" / "stopped" / "broker-1"
PAIR = [f"{number}={BROKERS / '2.8.2' / 'diverged' / f'broker-{number}'}" for number in (1, 2)]


@pytest.mark.parametrize(
    "command",
    [
        ["check", NEW], [NEW], ["inspect", NEW], ["predict", NEW], ["end-offset", NEW], ["repair", NEW],
        ["truncation", *(f"{number}={BROKERS / '3.9.2' / 'diverged' / f'broker-{number}'}" for number in (1, 2))],
    ],
    ids=lambda command: str(command[0]).rpartition("/")[2],
)  # fmt: skip
def test_the_first_line_names_the_release_and_why(command: list[str]) -> None:
    done = kcheck(*command)
    assert ("Kafka 3.9 (detected: broker registrations in __cluster_metadata-0)", "") == (
        done.out.splitlines()[0], done.err.replace("No files were changed.\n", "")
    )  # fmt: skip


def test_a_range_is_said() -> None:
    first = kcheck("check", OLD, columns=120).out.splitlines()[0]
    assert first.startswith("Kafka 3.6 (files fit 2.8 to 3.6; --kafka RELEASE to change; 2.8 ")


def test_a_named_release_overrides() -> None:
    """The first line says so; JSON holds the evidence all the same."""
    done = kcheck("check", OLD, "--kafka", "2.8")
    assert ("Kafka 2.8 (--kafka)", "") == (done.out.splitlines()[0], done.err)
    document = json.loads(kcheck("check", OLD, "--kafka", "2.8", "--format", "json").out)
    said = document["kafka_evidence"]
    assert ("2.8", "2.8", "3.6", "2.8", True) == (
        document["kafka"], said["lowest"], said["highest"], said["used"], said["given"],
    )  # fmt: skip
    assert [("2.8 or later", "topic ids", 1), ("3.6 or earlier", "empty .kafka_cleanshutdown", 1)] == [
        (reason["says"], reason["from"], reason["broker_id"]) for reason in said["reasons"]
    ]


def test_a_release_that_the_files_contradict_gets_one_warning() -> None:
    warning = "kcheck: --kafka 4.3, but the files are of Kafka 2.8 to 3.6 (topic ids, empty .kafka_cleanshutdown)\n"
    assert warning == kcheck("check", OLD, "--kafka", "4.3").err
    assert "" == kcheck("check", OLD, "--kafka", "4.3", "--quiet").err
    exact = kcheck("predict", NEW, "--kafka", "3.8").err
    assert (
        "kcheck: --kafka 3.8, but the files are of Kafka 3.9 (broker registrations in __cluster_metadata-0)\n" == exact
    )


def test_the_answer_is_that_for_the_release_named() -> None:
    """Only what is said about the release differs, and the next command repeats the option."""
    auto, named = (
        json.loads(kcheck("truncation", *PAIR, *options, "--format", "json").out)
        for options in ([], ["--kafka", "3.9"])
    )  # fmt: skip
    said = [document.pop("kafka_evidence") for document in (auto, named)]
    assert [(False, "2.8"), (True, None)] == [(row["given"], row["other"] and row["other"]["kafka"]) for row in said]
    assert named.pop("next") == f"{auto.pop('next')} --kafka 3.9"
    assert auto == named


def test_a_protocol_can_be_named_beside_it() -> None:
    document = json.loads(kcheck("truncation", *PAIR, "--ibp", "2.6", "--format", "json").out)
    assert ("3.9", "P4") == (document["kafka"], document["profile"])
    assert "--ibp 4.0 is newer than Kafka 3.9" in kcheck("check", NEW, "--ibp", "4.0").err


def test_no_evidence_is_said(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("bare") / "leader-epoch-checkpoint"
    path.write_bytes(b"0\n1\n0 0\n")
    first = kcheck("inspect", path).out.splitlines()[0]
    assert "Kafka 4.3 (assumed: no evidence; --kafka RELEASE to change)" == first
    document = json.loads(kcheck("inspect", path, "--format", "json").out)
    nothing: dict[str, object] = {
        "lowest": None,
        "highest": None,
        "used": "4.3",
        "given": False,
        "given_by": None,
        "other": None,
        "reasons": [],
    }
    assert nothing == document["kafka_evidence"]


def test_a_document_in_lines_has_the_evidence_in_its_first_line() -> None:
    first = json.loads(kcheck("check", NEW, "--format", "ndjson").out.splitlines()[0])
    assert ("run", "3.9", "3.9") == (first["kind"], first["kafka"], first["kafka_evidence"]["used"])


def test_the_settings_and_the_log_of_the_broker_say_more(tmp_path: Path) -> None:
    """Every command that asks for the release takes them; a scan of a fleet does not."""
    log, config = tmp_path / "server.log", tmp_path / "server.properties"
    log.write_text("[x] INFO Kafka version: 2.8.2 (org.apache.kafka.common.utils.AppInfoParser)\n")
    config.write_text("broker.id=1\ninter.broker.protocol.version=3.1\n")
    for command in ([], ["check"], ["inspect"], ["predict"], ["repair"], ["end-offset"]):
        assert (
            "Kafka 2.8 (detected: the broker's log)" == kcheck(*command, OLD, "--server-log", log).out.splitlines()[0]
        )
        first = kcheck(*command, OLD, "--config", config, columns=160).out.splitlines()[0]
        assert first.startswith("Kafka 3.6 (files fit 3.1 to 3.6; --kafka RELEASE to change")
    assert 2 == kcheck("check", OLD, "--server-log", config).code
    assert 2 == kcheck("fleet", "scan", OLD, "--output-dir", tmp_path / "out", "--server-log", log).code
