"""Whether a broker may start, by its server.properties."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Settings
from kcheck.documents.preflight import start_reasons
from kcheck.errors import UsageError
from kcheck.model.evidence import OtherEnd
from kcheck.model.finding import Finding
from kcheck.startup.options import StartOptions
from kcheck.verbs import preflight
from kcheck.verbs.predict import start_of, with_copies
from kcheck.verbs.premises import judged_starts
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import replica_targets
from tests.cases.build import CASES, shared_copies
from tests.docs.incidents import dead_disk
from tests.oracle.ask import spread
from tests.oracle.incidents.damages.site import set_property
from tests.oracle.incidents.kept import PLACE, unpacked
from tests.startup.test_unchanged import log_dirs
from tests.test_brokers import BROKERS

STOPPED = BROKERS / "4.3.1" / "stopped"


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Return the server.properties of a copy of broker 2."""
    shutil.copytree(STOPPED / "broker-2" / "data1", tmp_path / "data1")
    path = tmp_path / "server.properties"
    path.write_text(f"node.id=2\nprocess.roles=broker\nlog.dirs={tmp_path}/data1\n", "utf-8")
    return path


def controller(folder: Path) -> Path:
    """Return the settings of node 3, which is a controller too, and has the newest metadata."""
    path = folder / "controller.properties"
    path.write_text(f"node.id=3\nprocess.roles=broker,controller\nlog.dirs={STOPPED}/broker-3/data1\n", "utf-8")
    return path


def answer(path: Path, **asked: Any) -> tuple[bool | None, list[tuple[str, bool]]]:
    """Return whether the broker may start, and the reasons with whether they are allowed."""
    said = kcheck.preflight(path, **{"metadata": [controller(path.parent)], **asked}).to_dict()
    return said["may_start"], [(row["kind"], row["allowed"]) for row in said["reasons"]]


def test_a_broker_that_loses_nothing_may_start(broker: Path) -> None:
    assert answer(broker) == (True, [])
    said = kcheck.preflight(broker).to_dict()
    assert said["schema"] == "kcheck.preflight/1"
    assert [row["outcome"] for row in said["log_dirs"]] == ["ok"]


def test_settings_of_the_controllers_that_were_not_seen(broker: Path) -> None:
    """Broker 2 stopped before broker 3: with unclean elections on it leads __consumer_offsets-0 if it comes first."""
    said = kcheck.preflight(broker, metadata=[STOPPED / "broker-3"]).to_dict()
    assert (said["may_start"], [row["premise"] for row in said["reasons"]]) == (None, ["P601"])
    assert said["reasons"][0]["why"].endswith("name the server.properties of a controller, by --metadata or --config")
    path = controller(broker.parent)
    path.write_text(path.read_text("utf-8") + "unclean.leader.election.enable=true\n", "utf-8")
    said = kcheck.preflight(broker, metadata=[path]).to_dict()
    assert (said["may_start"], [row["premise"] for row in said["reasons"]]) == (None, ["P601"])
    assert "unclean.leader.election.enable is on" in said["reasons"][0]["why"]


@pytest.mark.parametrize(
    ("stored", "settings", "why"),
    [
        (100, "node.id=101", "has node.id=101, but meta.properties node.id=100"),
        (100, "node.id=100\nnum.io.threads=0", "has num.io.threads=0: refuses less than 1"),
        (101, "node.id=100", "no majority is left to elect a leader"),
    ],
    ids=["other settings", "refused settings", "other disk"],
)
def test_settings_with_which_the_controller_does_not_start(
    stored: int, settings: str, why: str, broker: Path, tmp_path: Path
) -> None:
    """Its process ends. Brokers of 3.9.2 were then "unable to register with the controller quorum", and ended too."""
    of, log_dir = STOPPED / "broker-3" / "data1", tmp_path / "controller" / "data1"
    shutil.copytree(of / "__cluster_metadata-0", log_dir / "__cluster_metadata-0")
    meta = (of / "meta.properties").read_text("utf-8").replace("node.id=3", f"node.id={stored}")
    (log_dir / "meta.properties").write_text(meta, "utf-8")
    text = "process.roles=controller\nlisteners=C://a:9093\ncontroller.listener.names=C\n"
    text += f"listener.security.protocol.map=C:PLAINTEXT\ncontroller.quorum.voters=100@a:9093\nlog.dirs={log_dir}\n"
    (log_dir.parent / "server.properties").write_text(text + settings, "utf-8")
    said = kcheck.preflight(broker, metadata=[log_dir]).to_dict()
    (ended,) = (row["why"] for row in said["reasons"] if row["premise"] == "P205")
    assert (said["may_start"], ended.endswith(why)) == (False, True)
    assert ended.startswith("1 of 1 controller (100) does not start or vote")
    (log_dir.parent / "server.properties").write_text(f"{text}node.id={stored}", "utf-8")
    assert "P205" not in {row["premise"] for row in kcheck.preflight(broker, metadata=[log_dir]).to_dict()["reasons"]}


@pytest.mark.parametrize(
    ("settings", "elsewhere"),
    [
        ("log.dirs=/nowhere/x", "/nowhere/x"), ("log.dirs={place}\nmetadata.log.dir=/nowhere/m", "/nowhere/m"),
        ("log.dirs={place}", None), ("log.dirs=/nowhere/data1", None), ("log.dirs=${{env:X}}", None),
    ],
)  # fmt: skip
def test_a_controller_whose_settings_keep_the_metadata_elsewhere(
    settings: str, elsewhere: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Preflight of the controller was red alone. A log dir of the same name can be a copy."""
    unpacked(PLACE / "4.3.1-kraft-nothing-k0.tar.xz", tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in settings.format(place="controller/data1").split("\n"):
        set_property(Path("controller/server.properties"), *line.split("=", 1))
    reasons = kcheck.preflight("broker-1/server.properties", metadata=["controller/data1"]).reasons
    words = f"has the metadata log in {elsewhere}, and not in {tmp_path}/controller/data1"
    assert ([True] if elsewhere else []) == [words in row.why for row in reasons if row.premise == "P205"]


def test_an_unclean_stop_costs_no_leader(broker: Path) -> None:
    """It leaves the ELR, as the metadata of broker 3 say, but others stay in it: real brokers of 4.3.1 led all then."""
    assert answer(broker, clean=False) == (True, [])


def test_an_incomplete_batch_that_a_clean_start_keeps(broker: Path) -> None:
    """The broker appends after it. After an unclean stop it truncates it."""
    name = broker.parent / "data1" / "plain-1"
    (log,) = name.glob("*.log")
    log.write_bytes(log.read_bytes()[:-5])
    said = kcheck.preflight(broker, metadata=[controller(broker.parent)]).to_dict()
    assert said["may_start"] is False
    why = next(row["why"] for row in said["reasons"] if row["premise"] == "P351")
    assert "plain-1: the bytes after the log end" in why
    unclean = kcheck.preflight(broker, metadata=[controller(broker.parent)], clean=False).to_dict()
    assert "P351" not in [row["premise"] for row in unclean["reasons"]]


def test_strays(broker: Path) -> None:
    shutil.copytree(
        BROKERS / "4.3.1" / "tiered" / "broker-1" / "data1" / "whole-0", broker.parent / "data1" / "whole-0"
    )
    assert answer(broker) == (False, [("stray", False)])
    (row,) = kcheck.preflight(broker, metadata=[controller(broker.parent)]).to_dict()["reasons"]
    assert (row["dir"], row["topic"], row["partition"]) == ("whole-0", "whole", 0)


def test_a_new_disk(tmp_path: Path) -> None:
    """Killed, the broker leaves the ELR of its replicas: it leads none of them empty, but who has them is not known."""
    dead_disk(tmp_path)
    old, new = (tmp_path / "broker-1" / name / "meta.properties" for name in ("data1", "data2"))
    lines = old.read_text("utf-8").splitlines(keepends=True)
    new.write_text("".join(line for line in lines if not line.startswith("directory.id")), "utf-8")
    path = tmp_path / "broker-1" / "server.properties"
    path.write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={old.parent},{new.parent}\n", "utf-8")
    assert answer(path, metadata=[]) == (None, [("unknown", False)] * 3)
    said = kcheck.preflight(path).to_dict()
    assert [row["premise"] for row in said["reasons"]] == ["P302", "P303", "P861"]
    assert said["reasons"][0]["why"].startswith("__consumer_offsets-0, __transaction_state-0, codecs-0 and 2 more have")


def test_lost_records(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    before = CASES / "kc141-batch-crc" / "flipped-bit-unclean" / "before"
    path.write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={before}\n", "utf-8")
    assert answer(path, metadata=[]) == (False, [("loss", False), ("unknown", False)])
    assert answer(path, metadata=[], allow=["loss"]) == (None, [("loss", True), ("unknown", False)])
    assert answer(path, metadata=[], allow=["loss", "P303"]) == (True, [("loss", True), ("unknown", True)])


def test_a_broker_that_cannot_start(broker: Path) -> None:
    """No `--allow` covers that."""
    (broker.parent / "data1" / "lost+found").mkdir()
    assert answer(broker, allow=["loss", "stray", "elr", "offline"]) == (False, [("abort", False)])
    with pytest.raises(UsageError, match=r"^allow abort: use loss, stray, elr, offline"):
        answer(broker, allow=["abort"])


def test_a_log_dir_that_is_missing(broker: Path) -> None:
    shutil.rmtree(broker.parent / "data1")
    said = kcheck.preflight(broker, kafka="4.3").to_dict()
    assert (said["may_start"], [row["premise"] for row in said["reasons"]]) == (False, ["P301"])
    assert said["findings"] == []


def test_a_relative_log_dir_is_named_by_the_directory_that_it_leads_to(
    broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Kafka, that depends on the working directory. Log dirs near the settings are only found for the answer."""
    broker.write_text(broker.read_text("utf-8").replace(f"{broker.parent}/", ""), "utf-8")
    monkeypatch.chdir(broker.parent)
    assert [reason.premise for reason in kcheck.preflight(broker, kafka="4.3").reasons] == ["P303"]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    reasons = {reason.premise: reason.why for reason in kcheck.preflight(broker, kafka="4.3").reasons}
    assert reasons.keys() == {"P303", "P317"}
    assert reasons["P317"].startswith(
        f"log.dirs is relative, and leads to {broker.parent}/ only if broker 2 is started there"
    )
    shutil.move(broker.parent / "data1", tmp_path / "elsewhere" / "other")
    (reason,) = kcheck.preflight(broker, kafka="4.3").reasons
    assert reason.why.endswith(f"is missing; the path is relative, and leads to {tmp_path}/elsewhere/data1")
    (found,) = [finding for finding in kcheck.check(broker, kafka="4.3").findings if finding.id == "KC001"]
    assert found.message == f"cannot be read: No such file or directory: {tmp_path}/elsewhere/data1"


def test_relative_log_dirs_of_another_broker_are_not_taken(
    broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings lead to their own where the working directory has some of the same name. Both are named."""
    broker.write_text(broker.read_text("utf-8").replace(f"{tmp_path}/", ""), "utf-8")
    other = tmp_path / "other"
    other.mkdir()
    shutil.copytree(tmp_path / "data1", other / "data1")
    monkeypatch.chdir(other)
    assert [row.path for row in replica_targets(["../server.properties"])] == ["../data1"]
    assert relative_words("../server.properties") == (
        f"log.dirs is relative, and leads to ../ only if broker 2 is started there; {other} has such log dirs too"
    )
    shutil.rmtree("data1")
    words = relative_words("../server.properties")
    assert words is not None
    assert words.endswith("is started there")


def test_settings_below_the_working_directory_lead_to_its_log_dirs(
    broker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker starts there. Log dirs that are nearer to the settings are named, those above are not."""
    broker.write_text(broker.read_text("utf-8").replace(f"{tmp_path}/", ""), "utf-8")
    config = tmp_path / "kafka" / "config"
    config.mkdir(parents=True)
    shutil.move(broker, config)
    shutil.copytree(tmp_path / "data1", tmp_path / "kafka" / "data1")
    monkeypatch.chdir(tmp_path / "kafka")
    assert relative_words("config/server.properties") is None
    shutil.copytree("data1", config / "data1")
    assert relative_words("config/server.properties") == (
        f"log.dirs is relative, and leads to this directory only if broker 2 is started there; {config} has such log"
        " dirs too"
    )


def relative_words(path: str) -> str | None:
    """Return the clause about relative log dirs; None without one."""
    reasons = kcheck.preflight(path, kafka="4.3").reasons
    return next((row.why.partition("; name ")[0] for row in reasons if row.premise == "P317"), None)


def test_config_providers_are_named_and_not_asked(broker: Path) -> None:
    """A setting that is needed to find the log dirs makes the answer unknown."""
    broker.write_text(broker.read_text("utf-8") + "ssl.key.password=${file:/x:y}\n", "utf-8")
    said = kcheck.preflight(broker, metadata=[controller(broker.parent)]).to_dict()
    assert (said["may_start"], said["unresolved"]) == (True, ["ssl.key.password"])
    broker.write_text("node.id=2\nlog.dirs=${env:DIRS}\n", "utf-8")
    said = kcheck.preflight(broker, kafka="4.3").to_dict()
    assert [(row["kind"], row["why"]) for row in said["reasons"]] == [
        ("unknown", "log.dirs comes from a config provider, which kcheck does not ask")
    ]


def test_without_log_dirs_kafka_uses_its_default(broker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker.write_text("node.id=2\nprocess.roles=broker\n", "utf-8")
    monkeypatch.setattr(preflight, "DEFAULT_LOG_DIR", str(broker.parent / "data1"))
    assert answer(broker) == (True, [])
    monkeypatch.setattr(preflight, "DEFAULT_LOG_DIR", str(broker.parent / "missing"))
    assert [row["premise"] for row in kcheck.preflight(broker).to_dict()["reasons"]] == ["P301"]


def test_a_folder_stands_for_its_configuration(broker: Path) -> None:
    """One without names what is missing."""
    assert broker.name == "server.properties"
    assert answer(broker) == answer(broker.parent)
    with pytest.raises(UsageError, match=r"data1: no server\.properties in it"):
        kcheck.preflight(broker.parent / "data1")


def test_of_a_range_the_worse_end_counts(broker: Path) -> None:
    """A script wants one answer. Up to 3.6 a property that only one meta.properties has ends a start with ZooKeeper."""
    shutil.rmtree(broker.parent / "data1")
    shutil.copytree(BROKERS / "2.8.2" / "killed" / "broker-1", broker.parent, dirs_exist_ok=True)
    broker.write_text(f"broker.id=1\nlog.dirs={broker.parent}/data1,{broker.parent}/data2\n", "utf-8")
    said = kcheck.preflight(broker)
    assert (None, "3.9", OtherEnd("2.8", ())) == (said.may_start, said.release.name, _other_end(said))
    with (broker.parent / "data2" / "meta.properties").open("a", encoding="utf-8") as file:
        file.write("x=1\n")
    said = kcheck.preflight(broker)
    assert (False, "2.8", OtherEnd("3.9", ("preflight abort",))) == (
        said.may_start,
        said.release.name,
        _other_end(said),
    )
    assert kcheck.preflight(broker, kafka="3.9").may_start is None


def _other_end(said: preflight.Preflight) -> OtherEnd | None:
    assert said.release.evidence is not None
    return said.release.evidence.other


def test_what_is_not_simulated_has_the_same_answer() -> None:
    """Logs that the start loads unchanged are not simulated."""
    for path in (*log_dirs(BROKERS / "4.3.1"), *spread(log_dirs(shared_copies()), 80)):
        assert reasons(path, all_simulated=True) == reasons(path, all_simulated=False)


def reasons(log_dir: Path, *, all_simulated: bool) -> list[object]:
    """Return what speaks against a start of one log dir."""
    options = StartOptions(clean=None, settings=Settings(), release=release("4.3"))
    opened, targets = LogDirs(options.release), replica_targets([str(log_dir)])
    options = with_copies(targets, options, opened)
    collected: list[Finding] = []
    starts = [start_of(target, options, collected, opened, all_simulated=all_simulated) for target in targets]
    judged, _ = judged_starts(targets, starts, options, opened, collected, reads_keys=True)
    against = [reason for start in judged for reason in start_reasons(start)]
    return [(reason.kind, reason.why, reason.partition and reason.partition.dir) for reason in against]
