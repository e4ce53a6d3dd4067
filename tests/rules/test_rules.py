"""Every rule has a page, an id and a name of its own, and stands in the module of that name."""

import importlib
import pkgutil
import re

import pytest

import kcheck.rules
from kcheck.formats import Format, metadata_snapshot, quorum_state
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.report import Report
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.registry import discover
from kcheck.rules import SERIES, Rule, Scope
from kcheck.rules._words import quoted
from kcheck.rules.kc001_unreadable import GONE, finding, settings_finding
from kcheck.rules.kc001_unreadable import RULE as KC001
from tests.rules.build import found_by, rules

RULES = tuple(rule for rule in rules() if rule.id != "KC001")
"""KC001 is no judgement on what was read, but what is said where nothing could be."""
IDS = [rule.id for rule in RULES]


def test_ids_and_names_are_unique() -> None:
    """Nobody can be asked to explain two rules by one name."""
    assert len(set(IDS)) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_module_gives_its_rule_id_name_and_page() -> None:
    """kc201_epoch_order holds KC201, epoch-order; its docstring is the page, before what several pages share."""
    for info in pkgutil.iter_modules(kcheck.rules.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"kcheck.rules.{info.name}")
            rule = module.RULE
            assert module.__name__ == rule.check.__module__
            assert re.fullmatch(r"KC\d{3}", rule.id)
            assert info.name == f"{rule.id.lower()}_{rule.name.replace('-', '_')}"
            assert f"{module.__doc__}{rule.shared_page}" == rule.page


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_has_a_page(rule: Rule) -> None:
    """Its first line is one sentence; then what is wrong, what the broker does, what to do."""
    first, blank, *rest = rule.page.splitlines()
    assert first.endswith(".")
    assert ". " not in first
    assert not blank
    page = "\n".join(rest)
    assert [*re.findall(r"^(What is wrong|What (?:the|a KRaft) broker does|What to do)\b", page, re.MULTILINE)] == [
        "What is wrong",
        "What a KRaft broker does" if "What a KRaft broker does" in page else "What the broker does",
        "What to do",
    ]


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_an_id_says_what_a_rule_looks_at(rule: Rule) -> None:
    """KC1xx one file, KC18x producer snapshots, KC2xx a partition, KC3xx log dirs, KC4xx replicas, KC5xx a cluster.

    What is looked for elsewhere is never found, and would never be asked.
    """
    assert rule.id.startswith(SERIES[rule.scope])


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_of_files_says_of_which_kinds(rule: Rule) -> None:
    """Without one it would never be asked; a rule of something else has none."""
    known = {kind.kind for kind in discover("kcheck.formats", "FORMAT") if isinstance(kind, Format)}
    known.update((metadata_snapshot.FORMAT.kind, quorum_state.FORMAT.kind))
    assert (rule.scope is Scope.FILE) == bool(rule.kinds)
    assert known.issuperset(rule.kinds)


def test_a_finding_carries_what_its_rule_says() -> None:
    """Id, name and severity, unless the finding has another one."""
    rule = RULES[0]
    found = rule.finding(Location(), "m", effect="e", advice="a")
    expected = Finding(
        id=rule.id, name=rule.name, severity=rule.severity, where=Location(), message="m", effect="e", advice="a"
    )
    assert expected == found
    assert rule.finding(Location(), "m", effect="e", advice="a", severity=Severity.INFO).severity is Severity.INFO


def test_what_could_not_be_read_is_the_scans_finding() -> None:
    """A view is made of what could be read."""
    assert not found_by(KC001, None)
    why = Unreadable(UnreadableCause.REFUSED, "Permission denied")
    assert finding(Location(file="x"), why).message == "cannot be read: Permission denied"


def test_a_file_that_is_too_large_is_refused_by_kcheck_alone() -> None:
    """A broker has no such limit but its heap, and permissions have nothing to do with it."""
    found = finding(Location(file="x"), Unreadable(UnreadableCause.TOO_LARGE, "99 bytes"))
    assert found.effect.startswith("Only kcheck refuses it")
    assert "kcheck as the broker's user" not in found.advice


def test_settings_that_are_not_in_a_bundle_are_information() -> None:
    """The broker has the file, so nothing fails when it starts."""
    found = settings_finding(Location(file="server.properties"))
    assert (found.severity, found.message) == (Severity.INFO, "not in the bundle")
    assert found.effect.startswith("None, because the broker has the file")


def test_a_link_that_leads_nowhere_has_no_target_to_pass() -> None:
    """A broker finds no file there either."""
    found = finding(Location(file="x"), Unreadable(UnreadableCause.NOWHERE, "a symbolic link to itself"))
    assert found.effect == "The broker finds no file here, and fails if it opens or creates one."
    assert found.advice.startswith("Stop the broker and replace the link")


def test_what_a_running_broker_removes_is_no_failure() -> None:
    """In a partition. A log dir that is not there is one."""
    found = finding(Location(dir="t-0", file="x"), GONE)
    assert (Severity.INFO, "removed while kcheck was running") == (found.severity, found.message)
    assert finding(Location(file="x"), GONE).severity is Severity.ERROR
    assert not Report(verb="check", kafka="4.3", body={}, collected=[found]).unfinished


def test_bytes_are_quoted() -> None:
    """With escapes for what would disturb a terminal."""
    assert quoted(bytes(64)) == '"' + 4 * "\\x00" + '..."'
    assert quoted(b"a\x1b\x00\xff\xc3\xa9") == '"a\\x1b\\x00\\xffé"'
