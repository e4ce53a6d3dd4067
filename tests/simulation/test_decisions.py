"""Each rule that can decide a step names a method of Kafka and a page about it."""

import pytest

from kcheck.simulation.decisions import Decision, rule_of

WIKI = "https://cwiki.apache.org/confluence/display/KAFKA"


@pytest.mark.parametrize("decision", Decision)
def test_a_rule_has_a_method_and_a_link(decision: Decision) -> None:
    """Class and method, and where an issue or proposal is named the link leads to it."""
    rule = rule_of(decision)
    assert rule.methods
    assert rule.link.startswith("https://")
    assert rule.reference is None or rule.reference in rule.link


def test_a_link_is_that_of_a_proposal_an_issue_or_the_documentation() -> None:
    """What a rule is called decides; one that is older than both leads to the chapter about replication."""
    links = [rule_of(rule).link for rule in (Decision.FENCED, Decision.FOLLOWER_KEPT, Decision.MADE_LEADER)]
    assert [
        f"{WIKI}/KIP-320%3A+Allow+fetchers+to+detect+and+handle+log+truncation",
        "https://issues.apache.org/jira/browse/KAFKA-7164",
        "https://kafka.apache.org/documentation/#replication",
    ] == links
