"""The queries of the page run, and their answers are those that stand below them."""

import pytest

from tests.docs.examples import ROOT
from tests.docs.queries import PAGE, answer, queries, scanned

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""


def test_every_query_answers_as_it_is_shown() -> None:
    """On real brokers, and each of them has something to say."""
    text = (ROOT / PAGE).read_text("utf-8")
    found = queries(text)
    assert len(found) == text.count("```sql") >= 5
    with scanned() as run:
        for query, shown in found:
            assert shown == answer(query, run)
            assert shown.count("\n") > 1
