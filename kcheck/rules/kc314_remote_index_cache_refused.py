"""Because of a name or a size in remote-log-index-cache, a broker with remote storage does not start.

What is wrong: The directory, in the first log dir, holds indexes of remote segments that the broker fetched. Each has
three files: `<start offset>_<segment id>` with `.index`, `.timeindex` and `.txnindex`. One file has another name, or an
index ends inside an entry. It may be a file of NFS or of an editor, a directory, or an unfinished copy.

What the broker does, in 3.6 and later with `remote.log.storage.system.enable=true`: It parses every name and opens
every index. In 4.1 and later it first deletes `.tmp` and `.deleted` files. It catches no exception and does not start
(StringIndexOutOfBoundsException, IllegalArgumentException, NumberFormatException or CorruptIndexException). Without
remote storage it does not look at the directory. kcheck compares names and sizes; it does not read the indexes.

What to do: Stop the broker and remove the directory. That loses nothing, because the broker fetches the indexes again.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import REMOTE_INDEX_CACHE
from kcheck.model.release import Release
from kcheck.model.remote_index_cache import RemoteIndexCache
from kcheck.model.views import LogDirView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import escaped, kafka
from kcheck.words import counted, listed


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the names with which the broker does not start."""
    cache = view.remote_index_cache
    if cache is None or not cache.refused_count or not release.has_remote_storage:
        return
    yield RULE.finding(
        view.where._replace(file=REMOTE_INDEX_CACHE),
        message(cache),
        effect=f"{kafka(release)} with remote storage does not start. Without it, it does not look at the directory.",
        advice=f"Stop the broker and remove {REMOTE_INDEX_CACHE}: the broker fetches the indexes again.",
        data={"count": cache.refused_count, "names": [escaped(name) for name in cache.refused]},
    )


def message(cache: RemoteIndexCache) -> str:
    """Return the fault of a cache with refused names."""
    if cache.refused == (REMOTE_INDEX_CACHE,):
        return "it is a file, not a directory"
    names = [escaped(name) for name in cache.refused]
    return f"{counted(cache.refused_count, 'name')} that no broker can load: {listed(names, cache.refused_count)}"


def has_refused(view: LogDirView) -> bool:
    """Return whether something in the cache is refused."""
    return view.remote_index_cache is not None and bool(view.remote_index_cache.refused)


RULE = Rule(severity=Severity.ERROR, scope=Scope.LOG_DIR, check=check, when=has_refused)
