"""The classes that make the channels of a broker refuse the stores, logins and rules that `security` says."""

from itertools import product

import pytest

from kcheck.core.premises.security import refused_security
from tests.oracle.ask import IS_WHOLE, Ask, assert_equal

pytestmark = pytest.mark.oracle

RELEASES = ("2.8.2", "3.3.2", "3.9.2", "4.0.2", "4.3.1")
SAMPLE = RELEASES if IS_WHOLE else ("2.8.2", "4.3.1")
TLS, SASL = {"listeners": "SSL://:1"}, {"listeners": "SASL_PLAINTEXT://:1", "sasl.enabled.mechanisms": "PLAIN"}
STORES = [
    (("location", "/none"), ("password", "p"), ("type", "PEM"), ("key", "k"), ("certificate.chain", "c")),
    (("location", "/none"), ("password", "p"), ("type", "PEM"), ("certificates", "c")),
]
"""What each store can have; any part of it is tried."""
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
LOGINS = (
    f'{PLAIN} required username="a" password="b";', f"{PLAIN} required;", f"{PLAIN} Required ;", f"{PLAIN} needed;",
    f'{PLAIN} required user_a="b;c";', f'{PLAIN} required user_a="b"', f"{PLAIN};", PLAIN, "rubbish", ";",
    f"{PLAIN} required; {PLAIN} required;", f"{PLAIN} optional user_a='b;c';", f'{PLAIN} sufficient user_a="\\"";',
)  # fmt: skip
RULES = (
    "DEFAULT", "DEFAULT,", " DEFAULT , DEFAULT", "bogus", "RULE:a/b/", "RULE:a/b/L,DEFAULT", "RULE:a/b", "RULE:a/b/U",
    "RULE:^CN=(.*?),.*$/$1/,DEFAULT", "DEFAULT,bogus", "RULE:a\\/b/c/", "default",
)  # fmt: skip


def chosen() -> list[dict[str, str]]:
    """Return every choice of settings of each store."""
    return [
        {f"ssl.{store}.{name}": value for (name, value), is_in in zip(parts, choice, strict=True) if is_in}
        for store, parts in zip(("keystore", "truststore"), STORES, strict=True)
        for choice in product((False, True), repeat=len(parts))
    ]


def is_accepted(settings: dict[str, str]) -> bool:
    """Return whether kcheck refuses nothing."""
    return not [*refused_security(settings, {}, has_remote_storage=False)]


@pytest.mark.parametrize("version", SAMPLE)
def test_stores(version: str, ask: Ask) -> None:
    """Locations, passwords, types and inline keys, in each combination."""
    cases = [case for case in chosen() if not _is_read(case)]
    answers = ask(version, "Channels.java", ["\t".join(["keys", *map("=".join, case.items())]) for case in cases])
    assert_equal(cases, [is_accepted(TLS | case) for case in cases], [answer == "ok" for answer in answers])


def _is_read(case: dict[str, str]) -> bool:
    """Return whether Kafka takes the settings and parses what they have inline, which is no PEM here."""
    inline = {"ssl.keystore.key", "ssl.truststore.certificates"} & case.keys()
    return bool(inline) and is_accepted(TLS | case)


@pytest.mark.parametrize("version", SAMPLE)
def test_logins(version: str, ask: Ask) -> None:
    """One login module with its flag."""
    answers = ask(version, "Channels.java", [f"login\t{login}" for login in LOGINS])
    mine = [is_accepted(SASL | {"listener.name.sasl_plaintext.plain.sasl.jaas.config": login}) for login in LOGINS]
    assert_equal([*LOGINS], mine, [answer == "ok" for answer in answers])


@pytest.mark.parametrize("version", SAMPLE)
def test_rules_of_principals(version: str, ask: Ask) -> None:
    """DEFAULT, and rules with a pattern and a replacement."""
    answers = ask(version, "Channels.java", [f"rules\t{rules}" for rules in RULES])
    mine = [is_accepted(TLS | {"ssl.principal.mapping.rules": rules}) for rules in RULES]
    assert_equal([*RULES], mine, [answer == "ok" for answer in answers])
