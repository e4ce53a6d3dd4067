"""`fleet scan --owners FILE`: teams in tables, report, page and metrics."""

import io
from pathlib import Path
from typing import Any

import pytest

from kcheck.errors import UsageError
from kcheck.fleet.run import open_run
from kcheck.fleet.runs.report import report
from kcheck.fleet.scan.owners import owner_rules
from kcheck.registry import plug
from kcheck.screen.options import Options
from tests.cli.command import kcheck as typed
from tests.fleet.scan.test_local_engine import BROKERS, scanned

CSV = 'topic,owner,cluster\nemptied,"pay\x1bments, <b>EU</b>",\ndiver*,orders,4.3.1\n*,rest,other\n'


def rules_in(tmp_path: Path, name: str, text: str) -> Any:
    """Return the rows of a file of this name and text."""
    (tmp_path / name).write_text(text, "utf-8")
    return owner_rules(str(tmp_path / name))


def test_the_first_row_that_matches_names_the_owner(tmp_path: Path) -> None:
    """The formats say the same; a pattern of a cluster limits a row to it."""
    same = (
        rules_in(tmp_path, "o.csv", "topic,owner,cluster\npay-*,payments,\n*,eu,c?\n"),
        rules_in(tmp_path, "o.tsv", "cluster\ttopic\towner\n\tpay-*\tpayments\nc?\t*\teu\n"),
        rules_in(
            tmp_path, "o.json",
            '[{"topic": "pay-*", "owner": "payments"}, {"topic": "*", "owner": "eu", "cluster": "c?"}]',
        ),
    )  # fmt: skip
    assert same[0] == same[1] == same[2]
    of = {
        (cluster, topic): next((rule.owner for rule in same[0] if rule.matches(cluster, topic)), None)
        for cluster in ("c1", "d", None)
        for topic in ("pay-1", "x")
    }
    assert of == {
        ("c1", "pay-1"): "payments", ("c1", "x"): "eu", ("d", "pay-1"): "payments", ("d", "x"): None,
        (None, "pay-1"): "payments", (None, "x"): None,
    }  # fmt: skip
    assert [rule.owner for rule in rules_in(tmp_path, "p.json", '{"a*": "one", "b": "two"}')] == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("o.txt", "", "name a .csv, .tsv or .json file"),
        ("o.csv", "", "columns topic and owner"),
        ("o.csv", "topic,owner,tema\n", "columns topic and owner"),
        ("o.csv", "topic,owner\na,b\nc\n", "row 2 needs a topic and an owner"),
        ("o.csv", "topic,owner\na,b,c\n", "row 1 needs"),
        ("o.csv", "topic,owner\n,b\n", "row 1 needs"),
        ("o.json", "[1]", "write {"),
        ("o.json", "{", "Expecting"),
        ("o.json", '{"a": 1}', "row 1 needs"),
        ("o.json", '{"a": "\\ud800"}', "surrogates not allowed"),
        ("o.json", "[" * 100_000, "recursion"),
    ],
)
def test_an_invalid_file_is_a_usage_error(name: str, text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--owners .*{name}: .*{words}"):
        rules_in(tmp_path, name, text)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        owner_rules(str(tmp_path / "none.csv"))


def test_owners_are_in_tables_report_page_and_metrics(tmp_path: Path) -> None:
    """Each output escapes the name of an owner, and metrics without an owner have no such label."""
    root = BROKERS / "4.3.1" / "diverged"
    rules = rules_in(tmp_path, "o.csv", CSV)
    _, rows = scanned(tmp_path, root.parent.parent / "{cluster}/diverged/{broker}/{log_dir}", owners=rules)
    owned = {(row["cluster"], row["topic"]): row["owner"] for row in rows["owners"]}
    first = "pay\x1bments, <b>EU</b>"
    assert owned["4.3.1", "emptied"] == first
    assert owned["4.3.1", "diverged"] == "orders"
    assert ("4.3.1", "behind") not in owned
    assert ("3.9.2", "diverged") not in owned
    of_run = report(open_run(str(tmp_path / "out")), lambda *_: True)
    body: Any = of_run.body
    owners = {(row["cluster"], row["owner"]): row for row in body["owners"]}
    assert owners["4.3.1", "orders"]["partitions_at_risk"] == 1
    assert {row["owner"] for row in body["partitions"] if row["topic"] == "emptied"} == {first}
    shown = {}
    for style in ("text", "html", "prometheus", "json"):
        stream = io.StringIO()
        plug("kcheck.renderers", style, "RENDERER").render(of_run, stream, Options())
        shown[style] = stream.getvalue()
        assert "\x1b" not in shown[style]
    assert "<b>EU" not in shown["html"]
    assert "orders" in shown["text"]
    assert 'kcheck_fleet_partitions_at_risk{cluster="4.3.1",owner="orders"} 1\n' in shown["prometheus"]
    assert 'kcheck_fleet_partitions_at_risk{cluster="4.3.1"} 1\n' in shown["prometheus"]


def test_the_option_is_read_before_the_scan(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("topic\n")
    done = typed("fleet", "scan", BROKERS, "--output-dir", tmp_path / "out", "--owners", tmp_path / "o.csv")
    assert (done.code, "columns topic and owner" in done.err) == (2, True)
    assert not (tmp_path / "out").exists()
