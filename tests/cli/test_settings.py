"""KCHECK_* variables and the configuration file: what they set, what wins, and what they may never set."""

import json
import os
from pathlib import Path

import pytest

from kcheck.cli.environment import VARIABLES
from kcheck.cli.settings import GENERAL, NEVER
from tests.cli.command import Ended, kcheck, shell

OLD = Path(__file__).parents[2] / "fixtures" / "brokers" / "2.8.2" / "stopped" / "broker-1"
BROKER = next(path for path in (OLD, *sorted(OLD.parents[2].glob("*/stopped/broker-1"))) if path.is_dir())


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return the configuration file of the user."""
    path = tmp_path / "home" / "kcheck" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def configured(config: Path, *words: str | Path, **changes: str) -> Ended:
    """Run kcheck with that file; `unset` removes what the tests set otherwise."""
    variables = {"XDG_CONFIG_HOME": str(config.parents[1]), "KCHECK_CONFIG": str(config), "COLUMNS": "120", **changes}
    return shell(*words, **variables)


def first(done: Ended) -> str:
    """Return the first line, as one line."""
    return " ".join(done.out.partition("\n\n")[0].split())


def test_a_variable_sets_an_option() -> None:
    """The first line and JSON name it; the command line wins; an empty one sets nothing."""
    done = shell("inspect", BROKER, KCHECK_KAFKA="4.3")
    assert first(done).startswith("Kafka 4.3 (from KCHECK_KAFKA")
    document = json.loads(shell("inspect", BROKER, "--format", "json", KCHECK_KAFKA="4.3").out)
    assert (True, "KCHECK_KAFKA") == (document["kafka_evidence"]["given"], document["kafka_evidence"]["given_by"])
    assert first(shell("inspect", BROKER, "--kafka", "4.2", KCHECK_KAFKA="4.3")).startswith("Kafka 4.2 (--kafka")
    assert shell("inspect", BROKER, KCHECK_KAFKA="").out == shell("inspect", BROKER).out


@pytest.mark.parametrize(
    ("variable", "value", "options"),
    [
        ("KCHECK_SELECT", "KC103", ("--select", "KC103")),
        ("KCHECK_IGNORE", "KC1", ("--ignore", "KC1")),
        ("KCHECK_SEVERITY", "fatal", ("--severity", "fatal")),
        ("KCHECK_FAIL_ON", "info", ("--fail-on", "info")),
        ("KCHECK_COLOR", "always", ("--color", "always")),
        ("KCHECK_JOBS", "2", ("--jobs", "2")),
    ],
)
def test_a_variable_is_as_its_option(variable: str, value: str, options: tuple[str, ...]) -> None:
    """The same bytes and the same exit code."""
    set_by_variable = shell("check", BROKER, **{variable: value})
    assert shell("check", BROKER, *options) == set_by_variable
    assert shell("check", BROKER, **{variable: "nonsense"}).code == (0 if variable == "KCHECK_JOBS" else 2) or (
        variable == "KCHECK_JOBS"
    )


def test_every_variable_that_sets_an_option_is_tried_here() -> None:
    tried = {"KCHECK_KAFKA", "KCHECK_SELECT", "KCHECK_IGNORE", "KCHECK_SEVERITY", "KCHECK_FAIL_ON", "KCHECK_COLOR"}
    assert tried | {"KCHECK_JOBS"} == {variable.name for variable in VARIABLES if variable.sets}


def test_a_file_sets_options(config: Path) -> None:
    """For all commands, or for one; a variable wins, and the first line names the file."""
    config.write_text('kafka = "4.3"\nselect = ["KC103"]\nwidth = 60\n[check]\nkafka = "4.2"\n', "utf-8")
    assert first(configured(config, "inspect", BROKER)).startswith(f"Kafka 4.3 (from {config}")
    assert first(configured(config, "check", BROKER)).startswith(f"Kafka 4.2 (from {config}")
    assert first(configured(config, "check", BROKER, KCHECK_KAFKA="4.1")).startswith("Kafka 4.1 (from KCHECK_KAFKA")
    assert "KC602" not in configured(config, "check", BROKER).out
    wrapped = configured(config, "check", BROKER, COLUMNS="").out.splitlines()
    assert not [line for line in wrapped[1:] if len(line) > 60 and len(line.split()) > 2]
    user = {"XDG_CONFIG_HOME": str(config.parents[1])}
    assert "(from" not in first(shell("inspect", BROKER, **user))  # KCHECK_CONFIG is empty in the tests.


def test_the_file_of_the_user_is_found(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none in the current directory, or in one that is checked."""
    config.write_text('fail-on = "info"\n', "utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parents[1]))
    monkeypatch.setattr("tests.cli.command.environment", _without_config)
    assert (1, 0) == (shell("check", BROKER).code, shell("check", BROKER, KCHECK_CONFIG="").code)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parent))
    assert 0 == shell("check", BROKER, cwd=config.parent).code


def _without_config(**changes: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KCHECK_")}
    return {**kept, "PYTHONPATH": str(Path(__file__).parents[2]), **changes}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('kafka = "4.3"\ncolour = "never"\n', "{0}:2: unknown key colour; use one of kafka, ibp, "),
        ('[check]\nsince-run = "x"\n', "{0}:2: unknown key since-run; kcheck check has no option --since-run"),
        ('[check]\nmetadata = "x"\n', "{0}:2: metadata cannot be set here; type --metadata with the command"),
        ("kafka = 2026-01-01\n", "{0}:1: write a text, a number, true, false or a list of texts"),
        ("kafka = \n", "{0}: Invalid value (at line 1, column 9)"),
    ],
)
def test_a_mistake_in_the_file_is_named(config: Path, text: str, error: str) -> None:
    """With its line, and nothing is read."""
    config.write_text(text, "utf-8")
    done = configured(config, "check", BROKER)
    assert (2, "") == (done.code, done.out)
    assert done.err.startswith(f"kcheck: {error.format(config)}")


def test_a_file_that_is_not_there_is_no_file() -> None:
    """But one that is named."""
    done = shell("check", BROKER, KCHECK_CONFIG="/nowhere/kcheck.toml")
    assert (2, "kcheck: KCHECK_CONFIG=/nowhere/kcheck.toml: no such file or directory\n") == (done.code, done.err)


def test_what_accepts_a_risk_is_typed() -> None:
    """No key of the file is an option that accepts a risk or names a path."""
    assert not {*GENERAL} & {*NEVER}
    assert {"yes", "accept-loss", "allow", "incomplete-ok", "unfinished", "metadata"} <= {*NEVER}


def test_the_color_of_the_file_gives_way_to_the_environment(config: Path) -> None:
    config.write_text('color = "always"\n', "utf-8")
    assert "\x1b" in configured(config, "inspect", BROKER).out
    assert "\x1b" not in configured(config, "inspect", BROKER, NO_COLOR="1").out


def test_help_names_the_variables() -> None:
    shown = kcheck("help", "environment").out
    assert [] == [variable.name for variable in VARIABLES if variable.name not in shown]
    assert "KCHECK_KAFKA" in kcheck("check", "--help").out
    assert "KCHECK_KAFKA" not in kcheck("undo", "--help").out
