"""The settings of a broker, from its server.properties and the command line."""

from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.errors import UsageError
from kcheck.views.broker_settings import settings_of

pytestmark = pytest.mark.usefixtures("in_folder")


def test_settings_come_from_files_and_words(tmp_path: Path) -> None:
    """A server.properties among the paths counts, `--config` before it, and single settings before both."""
    newest = release("4.3")
    (tmp_path / "server.properties").write_text("log.index.size.max.bytes=96\nlog.preallocate=true\n")
    (tmp_path / "other.properties").write_text("segment.index.bytes=80\n")
    assert settings_of(["server.properties"], None, (), newest).segment_index_bytes == 96
    assert settings_of(["server.properties"], "other.properties", (), newest).segment_index_bytes == 80
    found = settings_of([], "server.properties", ("segment.index.bytes=8", "index.interval.bytes=1"), newest)
    assert (found.index_interval_bytes, found.preallocate) == (1, True)
    with pytest.raises(UsageError, match="write KEY=VALUE"):
        settings_of([], None, ("x",), newest)
    with pytest.raises(UsageError, match=r"^-D log\.dris: unknown setting; did you mean log\.dirs\?$"):
        settings_of([], None, ("log.dris=/d",), newest)
    others = (
        "log.roll.ms=1",
        "log.retention.bytes=1",
        "segment.jitter.ms=1",
        "remote.log.storage.manager.class.name=x",
    )
    names = frozenset(word.partition("=")[0] for word in others)
    assert settings({}, newest)._replace(defined=names) == settings_of([], None, others, newest)
    with pytest.raises(UsageError, match=r"missing\.properties"):
        settings_of([], "missing.properties", (), newest)


def test_settings_next_to_log_dirs_count(tmp_path: Path) -> None:
    """As in every premise: those that list a log dir, where none are named."""
    newest = release("4.3")
    (tmp_path / "b" / "data").mkdir(parents=True)
    (tmp_path / "b" / "data" / "recovery-point-offset-checkpoint").write_text("0\n0\n")
    (tmp_path / "b" / "server.properties").write_text("log.dirs=b/data\nlog.segment.delete.delay.ms=600000\n")
    assert settings_of(["1=b"], None, (), newest).delete_delay_ms == 600_000
    assert settings_of(["b/data"], None, (), newest).delete_delay_ms == 600_000
    (tmp_path / "b" / "server.properties").write_text("log.dirs=elsewhere\nlog.segment.delete.delay.ms=600000\n")
    assert settings_of(["b/data"], None, (), newest).delete_delay_ms is None
