"""What a user types for an option is one of its names, or an error that lists them."""

import pytest

from kcheck.errors import UsageError
from kcheck.model.depth import Depth, parse_depth
from kcheck.model.finding import Severity, parse_severity


def test_depths() -> None:
    assert [*Depth] == [parse_depth(str(depth)) for depth in Depth]
    with pytest.raises(UsageError, match=r"--depth deep: not one of [a-z, ]*headers"):
        parse_depth("deep")


def test_severities() -> None:
    assert [*Severity] * 2 == [parse_severity(name) for form in (str.lower, str.upper) for name in map(form, Severity)]
    with pytest.raises(UsageError, match=r"severity bad: not one of [a-z, ]*fatal"):
        parse_severity("bad")
