"""The worse of what two releases find, with the name of the other one."""

from kcheck.core.releases.releases import release
from kcheck.fleet.scan.both_ends import worse_findings, worse_premises
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.premises import JudgedPremise, PremiseStatus

NEW, OLD = release("2.3"), release("0.11.0")


def test_the_more_severe_finding_of_a_place_counts() -> None:
    """A finding of one end counts too, and of equal ones that of the newest release."""
    one = Finding("KC201", "epoch-order", Severity.WARNING, Location(1, "/d", "t-0"), "m", "e", "a")
    other = one._replace(severity=Severity.ERROR)
    second = one._replace(where=Location(1, "/d", "t-1"))
    twice = one._replace(message="again")
    for ours, theirs, expected in (
        ([one], [one._replace(effect="other words")], [(one, None)]),
        ([one], [other], [(other, "2.3")]),
        ([other], [one], [(other, "0.11.0")]),
        ([one], [], [(one, "0.11.0")]),
        ([], [one, second], [(one, "2.3"), (second, "2.3")]),
        ([one, other], [twice], [(other, "0.11.0"), (one, "0.11.0")]),
        ([one], [other, twice], [(other, "2.3"), (twice, "2.3")]),
    ):
        found = [
            (row._replace(kafka_differs=None), row.kafka_differs) for row in worse_findings((NEW, ours), (OLD, theirs))
        ]
        assert expected == found


def test_the_worse_judgement_of_a_premise_counts() -> None:
    """What only one end proves is no difference."""
    proven = JudgedPremise("P301", PremiseStatus.PROVEN, "holds", 1, "/d")
    unseen, refuted = (proven._replace(status=status) for status in (PremiseStatus.NOT_SEEN, PremiseStatus.REFUTED))
    later = proven._replace(id="P401")
    for ours, theirs, expected in (
        ([later, proven], [proven], [(proven, None), (later, None)]),
        ([], [proven], [(proven, None)]),
        ([proven], [unseen], [(unseen, "2.3")]),
        ([refuted], [unseen], [(refuted, "0.11.0")]),
        ([], [refuted], [(refuted, "2.3")]),
    ):
        assert expected == worse_premises((NEW, ours), (OLD, theirs))
