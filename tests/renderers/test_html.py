"""The page of a fleet report: what it says, and that no name in it becomes markup."""

import base64
import hashlib
import io
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest

from kcheck.fleet.run import open_run
from kcheck.fleet.runs.report import report
from kcheck.renderers import Options, html
from kcheck.renderers._html.parts import prose
from tests.fleets import LOG_DIR, LOSS, PARTITION, START, finding, forged

HOSTILE = (
    "</script><script>hacked = 1</script>",
    '</style><img src=x onerror="hacked = 1">',
    "'\"><svg onload=hacked=1>",
    "&lt;b&gt; `code` \\",
    "\x00\x1b[2J\r\n\u2028",
    "\u202eevil\u2066\u200b\ufeff",
    "]]>--><!--",
    "javascript:hacked=1",
    "\U0001f600 é 漢字 עברית",
)  # fmt: skip


def page(run: Path) -> str:
    """Return the page of a run."""
    stream = io.StringIO()
    html.render(report(open_run(str(run)), lambda *_: True), stream, Options())
    return stream.getvalue()


class Tags(HTMLParser):
    """Counts tags with the names of their attributes, keeps texts and links."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: Counter[tuple[str, ...]] = Counter()
        self.texts: list[str] = []
        self.links: set[str] = set()
        self.ids: Counter[str] = Counter()
        self.depth: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Count a tag, and go into it."""
        self.tags[(tag, *sorted(name for name, _ in attrs))] += 1
        self.links |= {str(value) for name, value in attrs if name in ("href", "src")}
        self.ids.update(str(value) for name, value in attrs if name == "id")
        if tag not in ("meta", "link", "input", "rect"):
            self.depth.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Go out of a tag: it is the one that was opened last."""
        if tag != "rect":
            assert tag == self.depth.pop()

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.texts.append(data)


def fleet(tmp_path: Path, name: str, word: str) -> Path:
    """Write a run in which every name and text is that word."""
    text = dict.fromkeys(("cluster", "broker", "name", "log_dir", "dir", "file", "topic", "message", "effect"), word)
    places = {key: text[key] for key in ("cluster", "broker", "log_dir")}
    found = [finding(**text, advice=word), finding(**text, id="KC999"), finding(**text, id=word)]
    return forged(
        tmp_path, name, log_dirs=[{**LOG_DIR, **places}], findings=found,
        partitions=[{**PARTITION, **places, "topic": word}],
        predictions=[{**START, **places}, {**LOSS, **places, "topic": word, "reason": word}],
    )  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize("word", HOSTILE)
def test_a_name_is_never_markup(word: str, tmp_path: Path) -> None:
    """The page has the same elements, and their attributes, as one with tame names; nothing turns a line around."""
    tame, hostile = (Tags(page(fleet(tmp_path, name, each))) for name, each in (("a", "zebra"), ("b", word)))
    assert tame.tags == hostile.tags
    assert [] == tame.depth == hostile.depth
    content = page(tmp_path / "run=b")
    assert all(each.isprintable() or each == "\n" for each in content)
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in word)
    assert sum(shown in text for text in hostile.texts) == sum("zebra" in text for text in tame.texts) > 10


def test_a_page_asks_nobody(tmp_path: Path) -> None:
    """No address is in it but places of its own; the policy names what is in it, by its hash."""
    content = page(forged(tmp_path, findings=[finding()], partitions=[PARTITION]))
    tags = Tags(content)
    assert {"data:,"} == {link for link in tags.links if not link.startswith("#")}
    assert {link[1:] for link in tags.links if link.startswith("#")} <= set(tags.ids)
    assert {1} == set(tags.ids.values())
    assert "http:" not in content
    assert "https:" not in content
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', content)
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", content, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")


def test_the_numbers_of_a_chart_are_said_in_words(tmp_path: Path) -> None:
    """For whoever does not see it."""
    found = [finding(severity=name, line=at) for name, count in (("fatal", 2), ("error", 1200)) for at in range(count)]
    content = page(forged(tmp_path, findings=found))
    assert 'aria-label="2 fatal, 1,200 error"' in content
    assert '<span class="said">2 fatal, 1,200 error</span>' in content
    assert 'aria-label="1 fatal"' in content


def test_the_queries_run(tmp_path: Path) -> None:
    """Those that the page shows, as they stand there, also where a quote is in the path."""
    found = [finding(), finding(severity="info"), finding(id="KC101", topic=None)]
    run = forged(tmp_path / "it's", findings=found, predictions=[START, {**START, "outcome": "abort"}, LOSS])
    queries = [text for text in Tags(page(run)).texts if text.startswith("SELECT")]
    rows = [duckdb.connect().execute(query).fetchall() for query in queries]
    assert [2, 2, 1, 1, 3, 3] == [len(found) for found in rows]
    assert [("c", "1", "t", 0, 5, 9, 4, "it is torn")] == rows[3]
    assert [("c", "1", "error", 2), ("c", "1", "info", 1)] == rows[0]
    assert ["error", "error", "info"] == [row[3] for row in rows[4]]


@pytest.mark.parametrize(("finished", "count"), [(True, 0), (False, 1)])
def test_it_says_what_is_missing(finished: bool, count: int, tmp_path: Path) -> None:
    """A run that is not whole; a run in which nothing was found."""
    content = page(forged(tmp_path, finished=finished))
    assert content.count("Incomplete: findings KC000 and KC001") == count
    assert "<p>No findings.</p>" in content
    assert "This run has no predictions." in content
    assert 'class="s clean">clean' in content
    assert "scanned 2023-11-14T22:13:20Z to 2023-11-14T22:14:21Z" in content


def test_the_page_of_a_rule_is_prose() -> None:
    """Paragraphs, lists and code; a lonely backtick is one."""
    assert "<p>One two.</p>\n<p>List:</p>\n<ul><li>a b</li><li><code>c</code> &lt;</li></ul>\n<p>A ` b</p>" == prose(
        "One\ntwo.\n\nList:\n- a\n  b\n- `c` <\n\nA ` b"
    )
    assert "<ul><li>a</li></ul>" == prose("- a")
