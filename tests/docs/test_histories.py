"""The pages of docs/histories say what the histories do now."""

from tests.docs.examples import ROOT
from tests.docs.histories import FOLDER, history_pages


def test_every_history_has_its_page() -> None:
    """It is what the generator would write now, and no page is left of a history that is gone."""
    written = history_pages()
    assert written == {path: (ROOT / path).read_text("utf-8") for path in written}
    assert set(written) == {f"{FOLDER}/{page.name}" for page in (ROOT / FOLDER).iterdir()}
