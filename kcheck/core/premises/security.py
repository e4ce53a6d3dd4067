"""Key stores, logins and classes that brokers refuse after reading all settings."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kcheck.core.premises.listeners import listeners_of, refused_ports
from kcheck.core.premises.setting_relations import RefusedSetting
from kcheck.model.cluster import PROVIDER

HIDDEN = "[hidden]"
"""The value of a setting that can contain a password."""
_AUTHORIZER, _STANDARD = "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_OF_KAFKA = ("org.apache.kafka.", "kafka.")
_LEVEL, _OF_METADATA = "metrics.recording.level", "remote.log.metadata.manager.listener.name"
_OF_TESTS = "org.apache.kafka.server.log.remote.storage."
"""The package of Kafka's stores for tests. A broker can have their jar."""
_OF_BROKERS = "replica.selector.class"
_HANDLER, _PROVIDERS, _JAAS = "callback.handler.class", "config.providers", "sasl.jaas.config"
_MECHANISMS, _DEFAULT_MECHANISM = "sasl.enabled.mechanisms", "GSSAPI"
_SERVICE, _OF_KERBEROS = "sasl.kerberos.service.name", f".gssapi.{_JAAS}"
_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|;|[^\s;"']+""")
_RULE = r"\s*(?:DEFAULT|RULE:(?:\\.|[^\\/])*/(?:\\.|[^\\/])*/[LU]?[^,\n]*?)\s*"
_RULES = re.compile(rf"{_RULE}(?:[,\n]{_RULE})*,?")
_PEM = "PEM"
_BINARY, _TEXT = (b"\xfe\xed\xfe\xed", b"\x30"), b"-----BEGIN "
"""The first bytes of JKS and of PKCS12, which a JVM reads under each other's name, and what PEM contains."""
_OF_JVM = {
    "ssl.keystore.type": ("JKS", "PKCS12", "JCEKS", _PEM), "ssl.truststore.type": ("JKS", "PKCS12", "JCEKS", _PEM),
    "ssl.protocol": ("TLS", "TLSV1.3", "TLSV1.2", "TLSV1.1", "TLSV1", "SSL"),
    "ssl.enabled.protocols": ("TLSV1.3", "TLSV1.2", "TLSV1.1", "TLSV1", "SSLV3", "SSLV2HELLO"),
    "ssl.keymanager.algorithm": ("SUNX509", "PKIX", "NEWSUNX509"),
    "ssl.trustmanager.algorithm": ("PKIX", "SUNX509", "SUNPKIX", "X509", "X.509"),
    "ssl.secure.random.implementation": ("SHA1PRNG", "NATIVEPRNG", "NATIVEPRNGBLOCKING", "NATIVEPRNGNONBLOCKING",
                                         "DRBG", "PKCS11"),
    "ssl.provider": ("SUNJSSE",),
}  # fmt: skip
"""The values of every JVM, in upper case."""


class KeyStore(NamedTuple):
    """A key store or trust store of a listener."""

    setting: str
    """The name of the setting."""
    path: str
    """The path of the file."""
    kind: str
    """The type, in upper case."""


class _Listener(NamedTuple):
    """A listener and the settings of the node."""

    name: str
    """The name, in upper case."""
    protocol: str
    """The security protocol."""
    settings: Mapping[str, str]
    """The settings of the node."""

    def key(self, name: str) -> str:
        """Return the name of the setting with the prefix of the listener, if present; else without."""
        own = f"listener.name.{self.name.lower()}.{name}"
        return own if own in self.settings else name

    def get(self, name: str, default: str = "") -> str:
        return self.settings.get(self.key(name), "").strip() or default

    @property
    def mechanisms(self) -> list[str]:
        """Its SASL mechanisms."""
        listed = self.settings.get(self.key(_MECHANISMS), _DEFAULT_MECHANISM).split(",")
        return [*filter(None, map(str.strip, listed))]


def refused_security(
    settings: Mapping[str, str], classes: Mapping[str, frozenset[str]], *, has_remote_storage: bool
) -> Iterator[RefusedSetting]:
    """Yield settings refused by the channels and plugins of a node; `classes` are Kafka's own, by setting.

    DefaultSslEngineFactory, SslPrincipalMapper, JaasContext, Authorizer, AbstractConfig.getConfiguredInstances 1.0 to
    4.3.1.
    """
    listeners, roles = [*_listeners(settings)], settings.get("process.roles", "").strip()
    yield from dict.fromkeys(
        refusal for listener in listeners if "SSL" in listener.protocol for refusal in _refused_tls(listener)
    )
    for listener in listeners:
        if "SASL" in listener.protocol:
            yield from _refused_logins(listener, classes.get(_JAAS, frozenset()))
    yield from refused_ports(settings)
    yield from _refused_classes(settings, classes)
    authorizer = settings.get(_AUTHORIZER, "").strip()
    for user in map(str.strip, settings.get("super.users", "").split(";")) if authorizer.startswith(_OF_KAFKA) else ():
        if user and ":" not in user and PROVIDER not in user:
            yield RefusedSetting("super.users", user, "accepts TYPE:NAME")
    if authorizer == _STANDARD and not roles:
        yield RefusedSetting(_AUTHORIZER, authorizer, "needs process.roles")
    level = settings.get(_LEVEL, "INFO").strip()
    if level.upper() not in ("INFO", "DEBUG", "TRACE") and PROVIDER not in level:
        yield RefusedSetting(_LEVEL, level, "accepts INFO, DEBUG or TRACE")
    is_on = has_remote_storage and settings.get("remote.log.storage.system.enable", "").strip().lower() == "true"
    if is_on and roles != "controller":
        named = settings.get(_OF_METADATA, "").strip()
        if named and PROVIDER not in named and named.upper() not in {row.name for row in listeners}:
            yield RefusedSetting(_OF_METADATA, named, "must be in listeners")
    yield from _without_keys(settings, roles, listeners)


def _without_keys(settings: Mapping[str, str], roles: str, listeners: list[_Listener]) -> Iterator[RefusedSetting]:
    """Yield a listener between brokers without a key. SslFactory lets each such listener connect to itself."""
    protocol = settings.get("security.inter.broker.protocol", "PLAINTEXT").strip()
    between = settings.get("inter.broker.listener.name", protocol).strip().upper()
    keys = ("ssl.engine.factory.class", "ssl.keystore.location", "ssl.keystore.key")
    for listener in listeners if roles != "controller" else ():
        if listener.name == between and "SSL" in listener.protocol and not any(map(listener.get, keys)):
            yield RefusedSetting("inter.broker.listener.name", between, "needs ssl.keystore.location")


def stores(settings: Mapping[str, str]) -> Iterator[KeyStore]:
    """Yield the files of keys and certificates that the listeners load."""
    every = dict.fromkeys(
        KeyStore(listener.key(f"ssl.{store}.location"), path, listener.get(f"ssl.{store}.type", "JKS").upper())
        for listener in _listeners(settings)
        for store in ("keystore", "truststore")
        if "SSL" in listener.protocol and (path := listener.get(f"ssl.{store}.location"))
    )
    yield from (store for store in every if PROVIDER not in store.path)


def fault_of(kind: str, content: bytes | None) -> str | None:
    """Return the reason why brokers refuse a store with this content; None without one."""
    if content is None:
        return "is missing, or no file"
    if not content:
        return "is empty"
    is_one = content.startswith(_BINARY) if kind in ("JKS", "PKCS12") else kind != _PEM or _TEXT in content
    return None if is_one else f"is no store of type {kind}"


def left_to_the_jvm(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield settings and values that only some JVMs accept."""
    seen = dict[tuple[str, str], None]()
    for listener in _listeners(settings):
        if "SSL" in listener.protocol and not listener.get("ssl.engine.factory.class"):
            for name, values in _OF_JVM.items():
                given = [*filter(None, map(str.strip, listener.get(name).split(",")))]
                more = [value for value in given if value.upper() not in values]
                seen.update(dict.fromkeys((listener.key(name), value) for value in more))
        if "SASL" in listener.protocol:
            lacking = [one for one in listener.mechanisms if _login(listener, one) not in settings]
            seen.update(dict.fromkeys((listener.key(_MECHANISMS), one) for one in lacking))
    yield from seen


def _listeners(settings: Mapping[str, str]) -> Iterator[_Listener]:
    return (_Listener(name, protocol, settings) for name, protocol in listeners_of(settings))


def _refused_tls(listener: _Listener) -> Iterator[RefusedSetting]:
    """Yield contradictions between the stores of a listener."""
    if listener.get("ssl.engine.factory.class"):
        return
    for store, parts in (("keystore", ("key", "certificate.chain")), ("truststore", ("certificates",))):
        place, password = (f"ssl.{store}.{part}" for part in ("location", "password"))
        path, is_pem = listener.get(place), listener.get(f"ssl.{store}.type", "JKS").upper() == _PEM
        inline = [part for part in (f"ssl.{store}.{part}" for part in parts) if listener.get(part)]
        if any(PROVIDER in listener.get(name) for name in (place, password, f"ssl.{store}.type", *inline)):
            continue
        if inline and len(inline) < len(parts):
            yield RefusedSetting(listener.key(inline[0]), HIDDEN, f"needs both ssl.{store}.{' and '.join(parts)}")
        elif inline and not is_pem:
            yield RefusedSetting(listener.key(inline[0]), HIDDEN, f"needs ssl.{store}.type=PEM")
        elif inline and path:
            yield RefusedSetting(listener.key(place), path, f"excludes {inline[0]}")
        elif (inline or (is_pem and path)) and listener.get(password):
            yield RefusedSetting(listener.key(password), HIDDEN, f"excludes ssl.{store}.type=PEM")
        elif not inline and not path and listener.get(password):
            yield RefusedSetting(listener.key(password), HIDDEN, f"needs {place}")
        elif path and store == "keystore" and not is_pem and not listener.get(password):
            yield RefusedSetting(listener.key(place), path, f"needs {password}")
    rules = listener.get("ssl.principal.mapping.rules")
    if rules and PROVIDER not in rules and not _RULES.fullmatch(rules):
        yield RefusedSetting(
            listener.key("ssl.principal.mapping.rules"), rules, "accepts DEFAULT, or RULE:PATTERN/REPLACEMENT/"
        )


def _login(listener: _Listener, mechanism: str) -> str:
    return f"listener.name.{listener.name.lower()}.{mechanism.lower()}.{_JAAS}"


def _refused_logins(listener: _Listener, modules: frozenset[str]) -> Iterator[RefusedSetting]:
    """Yield logins with several login modules, or none (JaasConfig)."""
    for name in (_login(listener, mechanism) for mechanism in listener.mechanisms):
        text = listener.settings.get(name, "").strip()
        tokens = _TOKEN.findall(text)
        if not tokens or PROVIDER in text or "//" in text or "/*" in text:
            continue
        flag = tokens[1].lower() if len(tokens) > 1 else ""
        if flag not in _FLAGS or tokens.count(";") != 1 or tokens[-1] != ";":
            yield RefusedSetting(name, HIDDEN, 'accepts one MODULE required NAME="VALUE";')
        elif name.endswith(_OF_KERBEROS) and "serviceName" not in text and not listener.get(_SERVICE):
            yield RefusedSetting(_SERVICE, "", f"needs a name for {_DEFAULT_MECHANISM}")
        elif tokens[0].startswith(_OF_KAFKA) and modules and tokens[0] not in modules:
            yield RefusedSetting(name, tokens[0], "has no such class")


def _refused_classes(settings: Mapping[str, str], classes: Mapping[str, frozenset[str]]) -> Iterator[RefusedSetting]:
    """Yield classes named as Kafka's own that the release lacks."""
    unused = _OF_BROKERS if settings.get("process.roles", "").strip() == "controller" else None
    for setting, text in settings.items():
        known = None if setting == unused else classes.get(_kind(setting))
        for name in () if known is None else filter(None, map(str.strip, text.split(","))):
            is_own = name.startswith(_OF_KAFKA) and not name.startswith(_OF_TESTS)
            is_own |= setting == "group.consumer.assignors" and "." not in name
            if is_own and PROVIDER not in text and name not in (known or ()):
                yield RefusedSetting(setting, name, "has no such class")


def _kind(setting: str) -> str:
    """Return the name of a setting in the table of classes."""
    if setting.endswith(_HANDLER):
        return _HANDLER
    return _PROVIDERS if setting.startswith(f"{_PROVIDERS}.") and setting.endswith(".class") else setting
