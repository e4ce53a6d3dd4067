"""`kcheck repair`: it writes the plan and nothing else, and apply takes it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kcheck.model.plan_json import parse_plan
from tests.builders import broker, flip_byte, readable_run, write
from tests.cases.build import CASES, lay_out
from tests.cli.command import UNCHANGED, kcheck
from tests.repairs.test_cases import contents

LOG = f"t-0/{0:020d}.log"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Copy a case whose partition would be deleted at the next start."""
    lay_out(CASES / "kc211-log-start-above-log-end" / "above", tmp_path / "data")
    return tmp_path / "data"


def test_a_plan_is_written_applied_and_undone(folder: Path, tmp_path: Path) -> None:
    """The last line names the plan; the check is clean afterwards."""
    before = contents(folder)
    plan = tmp_path / "plan.json"
    done = kcheck("repair", folder, "-o", plan)
    assert (0, f"Written: {plan}") == (done.code, done.err.splitlines()[-1])
    assert before == contents(folder)
    assert "remove the line of compact-1" in done.out
    assert 0 == kcheck("apply", plan, "--backup", tmp_path / "backup", "--yes").code
    assert 0 == kcheck("check", folder).code
    again = kcheck("repair", folder, "-o", plan)
    assert 0 == again.code
    assert "Plan: nothing to do" in again.out.splitlines()
    assert 0 == kcheck("undo", tmp_path / "backup").code
    assert before == contents(folder)


def test_json_is_the_plan(folder: Path) -> None:
    """Without -o too, and with what is not planned beside it."""
    done = kcheck("repair", folder, "--format", "json")
    assert UNCHANGED == done.err.splitlines()[-1]
    plan = parse_plan(done.out.encode())
    assert (str(folder.resolve()),) == plan.log_dirs
    assert ["KC211"] == [each.why.finding for each in plan.operations]
    assert [] == json.loads(done.out)["refused"]


def test_loss_is_accepted_by_an_option(tmp_path: Path) -> None:
    """Without it exit code 1, and the numbers; with it a plan that says what is lost."""
    made = broker(tmp_path / "data", readable_run(0, 99))
    size = (made / LOG).stat().st_size // 10
    flip_byte(made / LOG, 3 * size - 1)
    done = kcheck("repair", made)
    assert 1 == done.code
    assert f"it discards 80 records (offsets 20-99), {8 * size} bytes, 80 below the high watermark" in " ".join(
        done.out.split()
    )
    accepted = kcheck("repair", made, "--accept-loss")
    assert 0 == accepted.code
    assert "loses 80 records (offsets 20-99)" in " ".join(accepted.out.split())


def test_each_partition_tells_what_it_loses(tmp_path: Path) -> None:
    """Also where the same is done to several, one behind the other."""
    lay_out(CASES / "kc141-batch-crc" / "flipped-bit-unclean", tmp_path / "data")
    shutil.copytree(tmp_path / "data" / "segments-0", tmp_path / "data" / "segments-1")
    text = " ".join(kcheck("repair", tmp_path / "data", "--accept-loss").out.split())
    assert text.count("loses 9 records (offsets 120-128)") == 4
    for name in ("segments-0", "segments-1"):
        assert f"proof {name}/" in text
        assert f"before the log dir is loaded; {name} ends at offset 120 and LOSES 9 records" in text


def test_one_partition_is_repaired_in_its_log_dir(tmp_path: Path) -> None:
    """A partition directory that is named stands for itself and its lines in the checkpoints."""
    made = broker(tmp_path / "data", readable_run(0, 99), high_watermark=200)
    write(made / "t-0", {"notes.txt": b"mine"})
    plan = parse_plan(kcheck("repair", "--tidy", made / "t-0", "--format", "json").out.encode())
    assert {"KC154", "KC213", "KC225"} == {each.why.finding for each in plan.operations}
    other = made / "t-0" / f"{0:020d}.log"
    assert "needs a log dir or partition directory" in kcheck("repair", other).err


def test_what_cannot_be_meant_is_a_usage_error(tmp_path: Path) -> None:
    """A plan inside of a log dir, one that cannot be written, log dirs beside partitions."""
    made = broker(tmp_path / "data", readable_run(0, 9))
    inside = kcheck("repair", made, "-o", made / "plan.json")
    assert (2, "is inside") == (inside.code, "is inside" if "is inside" in inside.err else "")
    assert "cannot be mixed" in kcheck("repair", made, made / "t-0").err
    nowhere = kcheck("repair", made, "-o", tmp_path / "none" / "plan.json")
    assert (2, True) == (nowhere.code, "cannot write" in nowhere.err)
    (tmp_path / "folder").mkdir()
    folder = kcheck("repair", made, "-o", tmp_path / "folder")
    assert (2, True) == (folder.code, "cannot write" in folder.err)
    assert {"data", "folder"} == {path.name for path in tmp_path.iterdir()}  # Nothing that was begun is left.


def test_no_plan_is_written_if_no_log_dir_can_be_read(tmp_path: Path) -> None:
    """The finding names the log dir; one log dir that can be read makes a plan."""
    (tmp_path / "server.properties").write_text(f"log.dirs={tmp_path}/gone\n")
    plan = tmp_path / "plan.json"
    done = kcheck("repair", tmp_path / "server.properties", "-o", plan)
    assert (1, UNCHANGED, False) == (done.code, done.err.splitlines()[-1], plan.exists())
    made = broker(tmp_path / "data", readable_run(0, 9))
    (tmp_path / "server.properties").write_text(f"log.dirs={tmp_path}/gone,{made}\n")
    kcheck("repair", tmp_path / "server.properties", "-o", plan)
    assert plan.exists()


def test_a_plan_is_written_into_what_is_no_file(tmp_path: Path) -> None:
    """It takes the place of no link and of no device: root would have no /dev/null any more."""
    made, link = broker(tmp_path / "data", readable_run(0, 9)), tmp_path / "link"
    for target in (Path(os.devnull), tmp_path / "plan.json"):
        link.symlink_to(target)
        assert 0 == kcheck("repair", made, "-o", link).code
        assert (target, target.is_file()) == (link.readlink(), target.name == "plan.json")
        assert 0 == kcheck("check", made, "--format", "parquet", "-o", link).code
        assert target == link.readlink()
        link.unlink()


def test_what_is_not_repaired_for_one_reason_is_one_block(tmp_path: Path) -> None:
    """With three names and the number of the others."""
    made = broker(tmp_path / "data", readable_run(0, 9))
    for number in range(5):
        (made / f"empty-{number}").mkdir()
    text = " ".join(kcheck("repair", made).out.split())
    assert f"info KC310 {made}/empty-0, {made}/empty-1, {made}/empty-2 and 2 more: no other partition" in text


def test_only_the_chosen_rules_are_repaired(tmp_path: Path) -> None:
    """Nor is anything said of the others."""
    made = broker(tmp_path / "data", readable_run(0, 99), high_watermark=200)
    flip_byte(made / LOG, 299)
    plan = kcheck("repair", made, "--select", "KC154,KC213", "--format", "json")
    assert {"KC154", "KC213"} == {row["finding"] for row in json.loads(plan.out)["refused"]}
