"""What tests of pages share."""

from collections.abc import Iterator

import pytest

from tests.renderers.browser import Browser, browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start the browser once for all."""
    with browser(tmp_path_factory.mktemp("chromium") / "profile") as started:
        yield started
