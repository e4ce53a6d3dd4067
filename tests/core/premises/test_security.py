"""The keys, logins and classes that end a start after its settings were read. Real brokers ended by each of them."""

import pytest

from kcheck.core.premises.facts import StoreFile
from kcheck.core.premises.limits import refused_later, refused_settings
from kcheck.core.premises.listeners import unreached_controller
from kcheck.core.premises.security import KeyStore, fault_of, left_to_the_jvm, stores
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.model.cluster import Voter
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import copy, facts, refuted, rows
from tests.core.premises.test_setting_relations import KRAFT, ZOOKEEPER, settings

MAP = "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,X1"
LISTENERS = "listeners=PLAINTEXT://h:1,X1://h:2"
TLS = f"{LISTENERS} {MAP}:SSL"
SASL = f"{LISTENERS} {MAP}:SASL_PLAINTEXT"
KEYS = "ssl.keystore.location=/k ssl.keystore.password=p"
JAAS = "listener.name.x1.plain.sasl.jaas.config"
NO_CLASS = "org.apache.kafka.Nope"
CONTROLLER = "process.roles=controller listeners=CONTROLLER://h:9 controller.quorum.voters=1@h:9"

CASES = {
    "": [], TLS: [], f"{TLS} {KEYS}": [], KEYS: [], f"{TLS} {KEYS} ssl.truststore.location=/t": [],
    f"{TLS} ssl.keystore.location=/k": ["ssl.keystore.location"], "ssl.keystore.location=/k": [],
    f"{TLS} ssl.keystore.location=/k listener.name.x1.ssl.keystore.password=p": [],
    f"{TLS} listener.name.x1.ssl.keystore.location=/k": ["listener.name.x1.ssl.keystore.location"],
    f"{TLS} ssl.keystore.location=/k ssl.engine.factory.class=x.Y": [],
    f"{TLS} ssl.keystore.location=${{env:K}}": [],
    f"{TLS} {KEYS} ssl.keystore.type=PEM": ["ssl.keystore.password"],
    f"{TLS} ssl.keystore.password=p": ["ssl.keystore.password"],
    f"{TLS} ssl.keystore.key=k": ["ssl.keystore.key"],
    f"{TLS} ssl.truststore.certificates=c": ["ssl.truststore.certificates"],
    f"{TLS} ssl.truststore.certificates=c ssl.truststore.type=pem": [],
    f"{TLS} ssl.truststore.certificates=c ssl.truststore.type=PEM ssl.truststore.location=/t": [
        "ssl.truststore.location"
    ],
    f"{TLS} inter.broker.listener.name=X1": ["inter.broker.listener.name"],
    f"{TLS} inter.broker.listener.name=X1 {KEYS}": [],
    f"{TLS} ssl.principal.mapping.rules=bogus": ["ssl.principal.mapping.rules"],
    f"{TLS} ssl.principal.mapping.rules=DEFAULT": [], "ssl.principal.mapping.rules=bogus": [],
    SASL: [],
    f"{SASL} sasl.enabled.mechanisms=PLAIN {JAAS}=rubbish": [JAAS], f"{SASL} {JAAS}=rubbish": [],
    f"{SASL} sasl.enabled.mechanisms=PLAIN {JAAS}=//": [],
    f"{SASL} sasl.enabled.mechanisms=PLAIN {JAAS}=x.Y~required;": [],
    f"{SASL} sasl.enabled.mechanisms=PLAIN {JAAS}={NO_CLASS}~required;": [JAAS],
    f"authorizer.class.name={NO_CLASS}": ["authorizer.class.name"], "authorizer.class.name=x.Y": [],
    "authorizer.class.name=kafka.security.auth.SimpleAclAuthorizer": ["authorizer.class.name"],
    f"metric.reporters=org.apache.kafka.common.metrics.JmxReporter,{NO_CLASS}": ["metric.reporters"],
    f"config.providers=x config.providers.x.class={NO_CLASS}": ["config.providers.x.class"],
    f"sasl.login.callback.handler.class={NO_CLASS}": ["sasl.login.callback.handler.class"],
    f"create.topic.policy.class.name={NO_CLASS}": ["create.topic.policy.class.name"],
    "remote.log.storage.manager.class.name=org.apache.kafka.server.log.remote.storage.LocalTieredStorage": [],
    "super.users=bogus": [], "super.users=bogus authorizer.class.name=x.Y": [],
    "metrics.recording.level=debug": [], "metrics.recording.level=FOO": ["metrics.recording.level"],
    "remote.log.metadata.manager.listener.name=FOO": [],
    "remote.log.storage.system.enable=true remote.log.metadata.manager.listener.name=plaintext": [],
    "remote.log.storage.system.enable=true remote.log.metadata.manager.listener.name=FOO": [
        "remote.log.metadata.manager.listener.name"
    ],
    "listeners=PLAINTEXT://h:65536": ["listeners"], "listeners=PLAINTEXT://h:-1": ["listeners"],
    f"{SASL} listener.name.x1.gssapi.sasl.jaas.config=x.Y~required;": ["sasl.kerberos.service.name"],
    f"{SASL} listener.name.x1.gssapi.sasl.jaas.config=x.Y~required~serviceName=k;": [],
    f"{SASL} listener.name.x1.gssapi.sasl.jaas.config=x.Y~required; sasl.kerberos.service.name=k": [],
    "listener.name.plaintext.num.network.threads=0": ["listener.name.plaintext.num.network.threads"],
    f"{TLS} listener.name.x1.plain.max.connections=x": ["listener.name.x1.plain.max.connections"],
    "listener.name.other.num.network.threads=0": [], "listener.name.plaintext.my.own=0": [],
}  # fmt: skip
"""The names of the refused settings, by what is added to those of a node; `~` stands for a blank."""


@pytest.mark.parametrize("added", CASES)
@pytest.mark.parametrize("mode", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_what_ends_a_start(mode: dict[str, str], added: str) -> None:
    """In 3.9, which has both modes."""
    given = {name: value.replace("~", " ") for name, value in settings(mode, added).items()}
    assert CASES[added] == [row.name for row in refused_later(given, release("3.9"))]


STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


@pytest.mark.parametrize(
    ("line", "mode", "added", "names"),
    [
        ("3.9", ZOOKEEPER, f"authorizer.class.name={STANDARD}", ["authorizer.class.name"]),
        ("3.9", KRAFT, f"authorizer.class.name={STANDARD} super.users=User:a;b", ["super.users"]),
        ("3.9", KRAFT, f"authorizer.class.name={STANDARD} super.users=User:a;User:b", []),
        ("3.9", KRAFT, "authorizer.class.name=kafka.security.authorizer.AclAuthorizer", []),
        ("4.0", KRAFT, "authorizer.class.name=kafka.security.authorizer.AclAuthorizer", ["authorizer.class.name"]),
        ("2.8", ZOOKEEPER, "authorizer.class.name=kafka.security.auth.SimpleAclAuthorizer", []),
        ("3.9", KRAFT, "group.consumer.assignors=uniform", ["group.consumer.assignors"]),
        ("4.0", KRAFT, "group.consumer.assignors=uniform", []),
        ("4.3", KRAFT, "advertised.listeners=PLAINTEXT://h:65536", ["advertised.listeners"]),
        ("3.9", ZOOKEEPER, "advertised.listeners=PLAINTEXT://h:65536", []),
        ("4.3", KRAFT, f"replica.selector.class={NO_CLASS}", ["replica.selector.class"]),
        ("4.3", KRAFT, f"{CONTROLLER} replica.selector.class={NO_CLASS}", []),
        ("4.0", KRAFT, "group.consumer.assignors=foo", ["group.consumer.assignors"]),
        ("2.8", ZOOKEEPER, "group.consumer.assignors=foo metrics.recording.level=DEBUG", []),
        ("4.3", KRAFT, f"{CONTROLLER} listener.security.protocol.map=CONTROLLER:SSL {KEYS}", []),
        (
            "4.3",
            KRAFT,
            f"{CONTROLLER} listener.security.protocol.map=CONTROLLER:SSL ssl.keystore.location=/k",
            ["ssl.keystore.location"],
        ),
    ],
)
def test_what_differs(line: str, mode: dict[str, str], added: str, names: list[str]) -> None:
    """Of releases and modes."""
    assert names == [row.name for row in refused_later(settings(mode, added), release(line))]


@pytest.mark.parametrize(
    ("host", "is_address"),
    [("kafka-1", True), ("10.0.0.255", True), ("10.0.0.256", False), ("10.0.0.1000", False), ("", True),
     ("no.such.host.invalid", False), ("HOST.INVALID", False), ("[::1]", True)],
)  # fmt: skip
def test_hosts_of_listeners(host: str, *, is_address: bool) -> None:
    """Brokers of 4.3.1 and 3.9.2 ended where a listener was on no.such.host.invalid."""
    given = ZOOKEEPER | {"listeners": f"PLAINTEXT://{host}:9092"}
    assert is_address == ([] == [*refused_later(given, release("3.9"))])


def test_a_voter_at_any_address() -> None:
    """QuorumConfig of 3.8 to 4.3.1 refuses it, RaftConfig of 2.8 to 3.7 does not."""
    given = KRAFT | {"controller.quorum.voters": "9@h:1,8@0.0.0.0:9093"}
    for line, values in (("3.7", []), ("3.8", ["8@0.0.0.0:9093"]), ("4.3", ["8@0.0.0.0:9093"])):
        assert values == [row.value for row in refused_later(given, release(line))]
    assert [] == [*refused_later(ZOOKEEPER | {"controller.quorum.voters": "8@0.0.0.0:9093"}, release("3.9"))]


def test_no_answer_shows_a_password() -> None:
    given = settings(KRAFT, f"{TLS} ssl.keystore.password=secret")
    assert ["[hidden]"] == [row.value for row in refused_later(given, release("4.3"))]
    assert {"P502": "ssl.keystore.password=[hidden]: Kafka 4.3 needs ssl.keystore.location"} == refuted(
        facts(config=given | {"log.dirs": "d1"}, copies=())
    )
    assert [] == [*refused_settings(given, release("4.3"))]


@pytest.mark.parametrize(
    ("added", "left"),
    [
        (f"{TLS} ssl.protocol=TLSv1.3 ssl.enabled.protocols=TLSv1.2,TLSv1.3 ssl.keystore.type=pkcs12", []),
        (f"{TLS} ssl.protocol=FOO ssl.enabled.protocols=TLSv1.2,TLSv9", [
            ("ssl.protocol", "FOO"), ("ssl.enabled.protocols", "TLSv9")
        ]),
        (f"{TLS} ssl.protocol=FOO ssl.engine.factory.class=x.Y", []), ("ssl.protocol=FOO", []),
        (SASL, [("sasl.enabled.mechanisms", "GSSAPI")]), ("zookeeper.set.acl=false", []),
        (f"{SASL} listener.name.x1.sasl.enabled.mechanisms=PLAIN,FOO {JAAS}=x", [
            ("listener.name.x1.sasl.enabled.mechanisms", "FOO")
        ]),
    ],
)  # fmt: skip
def test_what_the_jvm_decides(added: str, left: list[tuple[str, str]]) -> None:
    """Its algorithms, and the logins in java.security.auth.login.config (P504)."""
    given = settings(KRAFT, added)
    assert left == [*left_to_the_jvm(given)]
    found = [row for row in judged(facts(config=given | {"log.dirs": "d1"})) if "JVM" in row.sentence]
    assert bool(left) == bool(found)
    assert all((row.id, row.status, row.provide) == ("P504", PremiseStatus.NOT_SEEN, None) for row in found)


def test_the_stores_of_tls_listeners() -> None:
    """That of a listener before that of the node."""
    given = settings(KRAFT, f"{TLS} {KEYS} listener.name.x1.ssl.truststore.location=/t ssl.truststore.type=pem")
    expected = [
        KeyStore("ssl.keystore.location", "/k", "JKS"),
        KeyStore("listener.name.x1.ssl.truststore.location", "/t", "PEM")
    ]  # fmt: skip
    assert expected == [*stores(given)]
    assert [] == [*stores(settings(KRAFT, KEYS))]
    assert [] == [*stores(settings(KRAFT, f"{TLS} ssl.keystore.location=${{env:K}}"))]


@pytest.mark.parametrize(
    ("kind", "content", "fault"),
    [
        ("JKS", None, "is missing, or no file"), ("JKS", b"", "is empty"), ("JKS", b"\xfe\xed\xfe\xed", None),
        ("JKS", b"0\x82", None), ("PKCS12", b"\xfe\xed\xfe\xed", None), ("PKCS12", b"x", "is no store of type PKCS12"),
        ("PEM", b"Bag\n-----BEGIN CERTIFICATE-----", None), ("PEM", b"x", "is no store of type PEM"),
        ("FOO", b"x", None),
    ],
)  # fmt: skip
def test_faults_of_stores(kind: str, content: bytes | None, fault: str | None) -> None:
    assert fault == fault_of(kind, content)


def test_a_store_that_is_missing() -> None:
    """On another host nobody looks."""
    whole, gone = StoreFile("ssl.keystore.location", "/k"), StoreFile("ssl.truststore.location", "/t", "is empty")
    assert {"P318": "ssl.truststore.location=/t: /t is empty"} == refuted(facts(stores=(whole, gone)))
    assert "P318" in rows(facts(stores=(whole,)), PremiseStatus.PROVEN)
    assert "P318" not in {row.id for row in judged(facts())}


def test_a_port_of_zookeeper() -> None:
    """Its client reads the port when a broker starts, after the settings."""
    given = ZOOKEEPER | {"zookeeper.connect": "x:1,y:2other"}
    assert [] == [*refused_later(ZOOKEEPER | {"zookeeper.connect": "[::1]:1,x:2,h/y:z"}, release("3.9"))]
    assert [("zookeeper.connect", "y:2other")] == [row[:2] for row in refused_later(given, release("3.9"))]


COMBINED = {
    "process.roles": "broker,controller", "node.id": "1", "log.dirs": "d1", "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
}  # fmt: skip


@pytest.mark.parametrize(
    ("voters", "listener", "is_reached"),
    [
        ("1@127.0.0.1:9093", "127.0.0.1:9093", True),
        ("1@127.0.0.1:1", "127.0.0.1:9093", False),
        ("1@localhost:1", ":9093", False),
        ("1@kafka-1:1", "kafka-1:9093", False),
        ("1@kafka-1:1", ":9093", True),
        ("1@localhost:1", ":0", True),
        ("1@localhost:1,2@h:2", ":9093", True),
    ],
)
def test_a_combined_node_that_does_not_reach_itself(voters: str, listener: str, *, is_reached: bool) -> None:
    """A combined node of 4.3.1 ended with the wrong port, a controller alone did not. A voter set has its own ports."""
    listeners = f"PLAINTEXT://127.0.0.1:9092,CONTROLLER://{listener}"
    given = COMBINED | {"controller.quorum.voters": voters, "listeners": listeners}
    words = (
        f"controller.quorum.voters={voters}: Kafka 4.3 does not reach the controller of the node, which listens on 9093"
    )
    said = refuted(facts(config=given))
    assert (None if is_reached else words) == said.get("P502")
    alone = given | {"process.roles": "controller", "listeners": f"CONTROLLER://{listener}"}
    assert unreached_controller(alone) is None
    assert unreached_controller(given | {"listeners": "PLAINTEXT://127.0.0.1:9092"}) is None
    assert unreached_controller(given | {"listeners": "${env:L}"}) is None
    dynamic = copy()._replace(voter_set=(Voter(1, "D1", ()),))
    assert "P502" not in refuted(facts(config=given, copies=(dynamic,)))
