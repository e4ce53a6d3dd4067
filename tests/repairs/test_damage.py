"""Whatever was done to a log dir: what is planned can be carried out, comes true, and is taken back.

`KCHECK_SWEEP` multiplies the damaged log dirs, `KCHECK_SEED` chooses other ones.
"""

from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.disk.apply import apply, undo
from kcheck.plans.repair import repair
from kcheck.startup.log_manager import combined_starts
from kcheck.verbs.predict import start_of
from kcheck.views.targets import replica_targets
from tests.damage import cases
from tests.oracle.ask import SEED, SWEEP
from tests.repairs.test_cases import contents, told, wish

COUNT = 20 * SWEEP


@pytest.mark.parametrize("accept_loss", [False, True])
def test_a_plan_for_random_damage_comes_true(accept_loss: bool, tmp_path: Path) -> None:
    """The next start is the predicted one; without --accept-loss only what somebody else has is discarded."""
    planned = 0
    for case in cases(f"plan {SEED}", COUNT, tmp_path, "4.3.1"):
        around = case.dirs[0].parent
        paths, before = [str(path) for path in case.dirs], contents(around)
        how = settings({name: str(value) for name, value in case.config.items()}, release("4.3"))
        made = repair(paths, [], wish("4.3")._replace(settings=how), accept_loss=accept_loss)
        losses = [each.why.loses for each in made.plan.operations if each.why.loses is not None]
        assert accept_loss or all(loses["held"] for loses in losses), (case.name, case.what)
        backup = tmp_path / f"backup {case.name.rpartition('/')[2]}"
        apply(made.plan_bytes(), str(backup))
        asked = wish("4.3")._replace(settings=how)
        after = combined_starts([start_of(each, asked, []) for each in replica_targets(paths)], asked.release)
        assert (case.name, case.what, told(list(made.starts))) == (case.name, case.what, told(after))
        if made.plan.operations:
            undo(str(backup))
            planned += 1
        assert before == contents(around)
    assert planned > COUNT // 4
