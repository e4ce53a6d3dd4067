"""The needs of a broker or controller that no file of its node shows. A green answer does not promise them.

SocketServer.openServerSocket, ZooKeeperClient.waitUntilConnected, RaftManager, DefaultSslEngineFactory 2.4 to 4.3.1.
"""

from collections.abc import Iterator, Mapping

from kcheck.core.premises.listeners import other_servers
from kcheck.core.premises.security import stores
from kcheck.model.cluster import UNCLEAN
from kcheck.model.release import Release
from kcheck.words import some_of

_LISTED_MAX = 3


def not_looked_at(settings: Mapping[str, str], release: Release) -> Iterator[str]:
    """Yield clauses about the host, the network and passwords. Without these the node does not start, or not join."""
    yield "whether the listeners find their addresses and ports free"
    servers = other_servers(settings)
    if servers:
        yield f"whether {some_of(servers, _LISTED_MAX)} can be reached"
    if not settings.get("process.roles") and settings.get("zookeeper.set.acl", "").strip().lower() == "true":
        yield "whether the JVM has the login that zookeeper.set.acl needs"
    if release.exits_out_of_range_without_unclean_election and settings.get(UNCLEAN, "").strip().lower() != "true":
        yield "whether the log of each leader is as long as the log here, or the broker ends"
    opened = [store.setting for store in stores(settings)]
    if opened:
        verb = "fits" if len(opened) == 1 else "fit"
        yield f"whether the password of {some_of(opened, _LISTED_MAX)} {verb}"
