"""Every error that a release has is explained by the name of its exception, with its default text and without."""

import pytest

from kcheck.disk.package_data import log_catalogue
from kcheck.messages.lines import pasted
from tests.oracle.ask import IS_WHOLE, Ask
from tests.oracle.logs.test_log_patterns import RELEASES, line_of

pytestmark = pytest.mark.oracle

CODES = range(-1, 200)


@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else ("4.3.1",))
def test_every_error_of_a_release_has_a_rule(version: str, ask: Ask) -> None:
    """Of the protocol's errors, by Kafka's own list of them, and the name is said to be known in that release."""
    texts = [text for text in ask(version, "ErrorTexts.java", CODES) if text]
    assert len(texts) > 40
    names = {wording.pattern for wording in log_catalogue().wordings if wording.has(line_of(version))}
    assert [] == [text for text in texts if text.partition(":")[0].rpartition(".")[2] not in names]
    for text in texts:
        said = [event for paste in (text, text.partition(":")[0]) for event in pasted(log_catalogue(), paste)]
        assert [True, True] == [event.rule is not None for event in said], text
