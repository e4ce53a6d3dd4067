"""The offsets that consumer groups are put back to, as kafka-consumer-groups.sh of each release reads them."""

import pytest

from kcheck.core.election.plans import PartitionElection
from kcheck.core.releases.releases import release
from kcheck.handouts.group_resets import GroupReset, resets_of
from kcheck.model.entries import Offset
from tests.core.election.test_plans import candidate, election
from tests.core.election.test_recovery_plan import recovery


def consumed(topic: str, **groups: int) -> PartitionElection:
    """Return a partition whose leader ends at 9, with what each group has committed."""
    committed = tuple((group, Offset(offset)) for group, offset in groups.items())
    return election(candidate(1))._replace(topic=topic, groups=committed)


def test_a_group_beyond_the_end_is_put_back_to_it() -> None:
    """Who has read up to the end, or less, stays. Groups and rows are sorted."""
    plan = recovery(consumed("a", mail=10, at_end=9), consumed("b", mail=99, audit=10, behind=3))
    assert resets_of(plan) == (
        GroupReset(("audit", "mail"), "reset-offsets.csv", '"audit",b,0,9\n"mail",a,0,9\n"mail",b,0,9\n'),
    )


def test_no_group_is_beyond() -> None:
    """Then there is no file; an unknown leader and an unknown log end prove nothing."""
    undecided = consumed("a", mail=99)._replace(best=None)
    unread = election(candidate(1, log_end_offset=None))._replace(groups=(("mail", Offset(99)),))
    assert resets_of(recovery(consumed("a", mail=9), undecided, unread)) == ()


@pytest.mark.parametrize(("kafka", "together"), [("2.2", False), ("2.3", True)])
def test_a_file_for_each_group_up_to_2_2(kafka: str, together: bool) -> None:
    """Its rows have no group, so each group is a run of its own."""
    resets = resets_of(recovery(consumed("a", mail=10, audit=10), release=release(kafka)))
    if together:
        assert [reset.groups for reset in resets] == [("audit", "mail")]
    else:
        assert resets == (
            GroupReset(("audit",), "reset-offsets.csv", "a,0,9\n"),
            GroupReset(("mail",), "reset-offsets-2.csv", "a,0,9\n"),
        )


def test_a_release_whose_tool_resets_nothing() -> None:
    assert resets_of(recovery(consumed("a", mail=10), release=release("0.10.2"))) == ()


def test_a_name_that_no_column_can_hold() -> None:
    """A line feed, a lone surrogate: such a group is named on the command line; quotes are doubled."""
    groups = {'say "hi"': 10, "two\nlines": 10, "lone\ud800": 10}
    assert resets_of(recovery(consumed("a", **groups))) == (
        GroupReset(('say "hi"',), "reset-offsets.csv", '"say ""hi""",a,0,9\n'),
        GroupReset(("lone\ud800",), "reset-offsets-2.csv", "a,0,9\n"),
        GroupReset(("two\nlines",), "reset-offsets-3.csv", "a,0,9\n"),
    )
