"""docs/premises.md: a row for each premise, from the table that judges them."""

import re
from collections.abc import Callable, Iterable, Sequence

from kcheck.core.premises.premise import Premise
from kcheck.core.premises.table import PREMISES
from kcheck.survey.rule_runner import all_rules
from tests.docs.examples import ROOT

_PAGE = re.compile(r"kcheck help ([a-z-]+)")
TableWriter = Callable[[Sequence[str], Iterable[Sequence[str]]], str]


HEAD = """# Premises

A premise is a condition of a green answer. If the files refute it, the broker does not start, or it loses records.
`kcheck preflight server.properties` judges every premise that applies to the broker.

| `status` | Meaning | `kcheck preflight` |
| --- | --- | --- |
| proven | The files show that it holds. | shows nothing |
| refuted | The files show that it does not hold. | reason `abort`, `offline` or `loss` |
| not-seen | The given files do not show it. `provide` names what would. | reason `unknown`, if there is a `provide` |

- `kcheck predict`, `preflight`, `elect` and `repair` list them in JSON, in `premises`: `id`, `sentence`, `status`,
  `broker_id`, `log_dir`, `partition`, `evidence` (`path`, `says`) and `provide`.
- `kcheck verify` has a step for each refuted one. A run of `kcheck fleet scan` has them in the table
  [premises](tables.md#premises), `kcheck elect --from` the premises that are not proven.
- `preflight --allow ID` accepts one premise. It does not accept a reason `abort`.
- `kcheck check` reports a refuted premise as [KC315](rules.md#kc315-premise-refuted). `kcheck repair` lists it with the
  findings without a repair, unless the plan makes it true.

{notice} from kcheck/core/premises: change that, not this. -->
"""


def premises_page(table: TableWriter, notice: str) -> str:
    """Return docs/premises.md."""
    header = (
        "Id", "What must hold", "Where kcheck looks", "What refutes it", "What Kafka does then", "Reason", "What to do",
    )  # fmt: skip
    sources = ((premise.id, ", ".join(map(_rule, premise.rules or ("KC315",))), premise.kafka) for premise in PREMISES)
    return "\n".join([
        HEAD.format(notice=notice), table(header, map(row, PREMISES)),
        "## Kafka's code\n", "The rules of `kcheck check` that report a refutation, and the classes that decide.\n",
        table(("Id", "Rules", "Classes"), sources),
    ])  # fmt: skip


def row(premise: Premise) -> Sequence[str]:
    """Return the line of a premise."""
    remedy = _PAGE.sub(_link, premise.remedy)
    return premise.id, premise.sentence, premise.proof, premise.against, premise.refutation, reason(premise), remedy


def _rule(name: str) -> str:
    """Return a link to the page of a rule."""
    rule = next(rule for rule in all_rules() if rule.id == name)
    return f"[{name}](rules.md#{name.lower()}-{rule.name})"


def _link(found: re.Match[str]) -> str:
    """Return a link to a page of docs/operations, with its title."""
    name = f"operations/{found[1]}.md"
    return f"[{(ROOT / 'docs' / name).read_text('utf-8').splitlines()[0].removeprefix('# ')}]({name})"


def reason(premise: Premise) -> str:
    """Return the kind of reason that a refuted premise is; unknown if no files can refute it."""
    if {"refuted", "where_it_leads"}.isdisjoint(premise.judge.__code__.co_names):
        return "unknown"
    return "abort" if premise.ends_start else "offline" if premise.takes_offline else "loss"
