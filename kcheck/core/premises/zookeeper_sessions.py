"""The premise that ZooKeeper and a broker agree about TLS and logins. No file of a log dir shows that."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import not_seen
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.start.startup import Mode
from kcheck.model.behaviour import is_between
from kcheck.model.premises import JudgedPremise, PremiseEvidence

SESSION_SECURED = "P354"
"""The premise that ZooKeeper and the broker agree about TLS and logins."""
_ACL, _TLS = "zookeeper.set.acl", "zookeeper.ssl.client.enable"
_SOCKET, _KEYS = "zookeeper.clientCnxnSocket", "zookeeper.ssl.keystore.location"


def is_secured(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for settings that need a login of the broker's JVM, or a server of ZooKeeper with TLS.

    A certificate is a login too (KafkaConfig.zkTlsClientAuthEnabled 2.5 to 3.9). Without a socket for TLS the client of
    ZooKeeper connects in plain text.
    """
    has_tls = _is_true(facts, _TLS) and facts.setting(_SOCKET) is not None and is_between(facts.release, "2.5", None)
    if facts.mode is not Mode.ZOOKEEPER:
        return
    if _is_true(facts, _ACL) and not (has_tls and facts.setting(_KEYS)):
        sentence = f"{_ACL}=true needs a login, and whether the JVM has java.security.auth.login.config is not known"
        yield from _open(premise, facts, _ACL, sentence)
    if has_tls:
        yield from _open(
            premise, facts, _TLS, f"whether ZooKeeper listens with TLS, as {_TLS}=true needs, is not known"
        )


def _is_true(facts: BrokerFacts, name: str) -> bool:
    return (facts.setting(name) or "").lower() == "true"


def _open(premise: Premise, facts: BrokerFacts, name: str, sentence: str) -> Iterator[JudgedPremise]:
    evidence = PremiseEvidence(facts.config_path or "", f"{name}={facts.setting(name)}")
    yield not_seen(premise, facts, sentence, f"settings without {name}", evidence)


TABLE = (
    Premise(
        SESSION_SECURED, PremiseKind.SETTINGS, "ZooKeeper and the broker agree about TLS and logins.",
        "The settings need neither a login nor TLS to ZooKeeper.",
        "Nothing, because no file here shows the JVM of the broker or the listeners of ZooKeeper. Not seen:"
        " zookeeper.set.acl without a certificate, or zookeeper.ssl.client.enable with zookeeper.clientCnxnSocket.",
        "The process ends: SecurityException, or a timeout of the connection.",
        "Look for java.security.auth.login.config and secureClientPort. If both fit: --allow P354.",
        "KafkaServer.initZkClient 0.9 to 3.9", is_secured, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
