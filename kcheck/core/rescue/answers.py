"""The answers file of `kcheck recover metadata`: what only the user knows, and what kcheck would assume."""

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Mapping
from hashlib import pbkdf2_hmac, sha256, sha512
from hmac import digest
from typing import Any, NamedTuple

from kcheck.core.rescue.made_ids import made_id
from kcheck.errors import UsageError
from kcheck.model.java import INT_MAX, LONG_MAX

SCHEMA = "kcheck.metadata-answers/1"
_RESOURCES = {"TOPIC": 2, "GROUP": 3, "CLUSTER": 4, "TRANSACTIONAL_ID": 5, "DELEGATION_TOKEN": 6, "USER": 7}
_PATTERNS = {"LITERAL": 3, "PREFIXED": 4}
PREFIXED = _PATTERNS["PREFIXED"]
"""The type of the pattern of an ACL for every name with a prefix."""
_OPERATIONS = {
    "ALL": 2, "READ": 3, "WRITE": 4, "CREATE": 5, "DELETE": 6, "ALTER": 7, "DESCRIBE": 8, "CLUSTER_ACTION": 9,
    "DESCRIBE_CONFIGS": 10, "ALTER_CONFIGS": 11, "IDEMPOTENT_WRITE": 12, "CREATE_TOKENS": 13, "DESCRIBE_TOKENS": 14,
    "TWO_PHASE_COMMIT": 15,
}  # fmt: skip
_PERMISSIONS = {"DENY": 2, "ALLOW": 3}
_HASHES = {"SCRAM-SHA-256": (1, sha256), "SCRAM-SHA-512": (2, sha512)}
SCRAM_NAMES = {number: name for name, (number, _) in _HASHES.items()}
"""The mechanisms of credentials by their numbers in records."""
_ITERATIONS = 4096
"""The fewest that Kafka accepts, and its default (ScramMechanism)."""
_ID = re.compile(r"[A-Za-z0-9_-]{22}")
BROKER = 4
"""The type of the configuration of a broker (ConfigResource.Type)."""


class TopicAnswer(NamedTuple):
    """The user's answers about a topic; None and empty without an answer."""

    topic_id: str | None = None
    partitions: int | None = None
    replicas: Mapping[int, tuple[int, ...]] = {}
    isr: Mapping[int, tuple[int, ...]] = {}
    configs: Mapping[str, str] | None = None


NamedRecord = tuple[str, Mapping[str, Any]]
"""The name of a metadata record, and its fields."""


class MetadataAnswers(NamedTuple):
    """The user's answers."""

    topics: Mapping[str, TopicAnswer] = {}
    """The topics by name."""
    elr: bool | None = None
    """True if eligible leader replicas are on; None for the level in an old copy, or else off."""
    next_producer_id: int | None = None
    """The first producer id that is given out; None for one above all that disks name."""
    records: tuple[NamedRecord, ...] = ()
    """Configurations of brokers, ACLs, SCRAM credentials and quotas, as records of version 0."""


NONE = MetadataAnswers()


def answers_of(document: object, salt: bytes) -> MetadataAnswers:
    """Return the answers in a JSON document; UsageError if it has none. `salt` is for new SCRAM credentials."""
    fields = _AnswerFields("the answers", document)
    if fields.take("schema", str, SCHEMA) != SCHEMA:
        raise UsageError(f"the answers: schema is not {SCHEMA}")
    topics = {name: _topic(name, value) for name, value in fields.mapping("topics").items()}
    answers = MetadataAnswers(
        topics=topics,
        elr=fields.take("elr", bool, None),
        next_producer_id=fields.take("next_producer_id", int, None),
        records=(
            *_broker_configs(fields.mapping("broker_configs")),
            *(record for row in fields.rows("acls") for record in _acl(row)),
            *(record for row in fields.rows("scram") for record in _scram(row, salt)),
            *(record for row in fields.rows("quotas") for record in _quota(row)),
        ),
    )
    fields.end("suggested")
    number = answers.next_producer_id
    if number is not None and not 0 <= number <= LONG_MAX:
        raise UsageError(f"the answers: next_producer_id {number} is no producer id")
    return answers


class _AnswerFields:
    """The fields of a JSON object; each is taken once, and none may be left."""

    def __init__(self, what: str, value: object) -> None:
        if not isinstance(value, dict):
            raise UsageError(f"{what}: not a JSON object")
        self.what, self._left = what, dict(value)

    def take(self, name: str, kind: type, default: Any) -> Any:
        """Return a value of a type; the default if it is missing or null."""
        value = self._left.pop(name, None)
        if value is None:
            return default
        accepted = (int, float) if kind is float else kind
        if not isinstance(value, accepted) or (kind in (int, float) and isinstance(value, bool)):
            raise UsageError(f"{self.what}: {name} is not {_KINDS[kind]}")
        return value

    def need(self, name: str, kind: type) -> Any:
        """Return a value that must be there."""
        value = self.take(name, kind, None)
        if value is None:
            raise UsageError(f"{self.what}: {name} is missing")
        return value

    def choice(self, name: str, among: Mapping[str, Any], default: str | None = None) -> Any:
        """Return the meaning of a word."""
        word = self.need(name, str) if default is None else self.take(name, str, default)
        if word not in among:
            raise UsageError(f"{self.what}: {name}: not one of {', '.join(among)}")
        return among[word]

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object by its names."""
        value: dict[str, Any] = self.take(name, dict, {})
        return value

    def rows(self, name: str) -> Iterator["_AnswerFields"]:
        """Yield the objects of a list."""
        for place, row in enumerate(self.take(name, list, []), start=1):
            yield _AnswerFields(f"{self.what}: {name}, item {place}", row)

    def end(self, *ignored: str) -> None:
        """Raise UsageError if a field is left, because a misspelled name must not become a default."""
        left = [name for name in self._left if name not in ignored]
        if left:
            raise UsageError(f"{self.what}: {left[0]} is not known")


_KINDS = {str: "a text", bool: "true or false", int: "an integer", float: "a number", dict: "an object", list: "a list"}


def _topic(name: str, value: object) -> TopicAnswer:
    fields = _AnswerFields(f"topic {name}", value)
    topic_id = fields.take("topic_id", str, None)
    if topic_id is not None and _ID.fullmatch(topic_id) is None:
        raise UsageError(f"topic {name}: topic_id is not 16 bytes in base64")
    answer = TopicAnswer(
        topic_id,
        fields.take("partitions", int, None),
        _by_partition(fields, "replicas"),
        _by_partition(fields, "isr"),
        _texts(fields.what, fields.take("configs", dict, None)),
    )
    fields.end("suggested_configs")
    if answer.partitions is not None and not 0 < answer.partitions <= INT_MAX:
        raise UsageError(f"topic {name}: partitions is not above 0")
    return answer


def _by_partition(fields: _AnswerFields, name: str) -> dict[int, tuple[int, ...]]:
    by_number = {}
    for number, brokers in fields.mapping(name).items():
        is_list = isinstance(brokers, list) and all(type(one) is int and 0 <= one <= INT_MAX for one in brokers)
        if not number.isascii() or not number.isdigit() or not is_list or len({*brokers}) < len(brokers) or not brokers:
            raise UsageError(f"{fields.what}: {name} of partition {number} is not a list of broker ids")
        by_number[int(number)] = tuple(brokers)
    return by_number


def _texts(what: str, value: dict[str, Any] | None) -> dict[str, str] | None:
    if value is not None and not all(isinstance(text, str) for text in value.values()):
        raise UsageError(f"{what}: the value of a configuration is not a text")
    return value


def config_records(kind: int, resource: str, configs: Mapping[str, str]) -> Iterator[NamedRecord]:
    """Yield the records of the configuration of a topic or a broker."""
    for name, value in configs.items():
        yield "ConfigRecord", {"resourceType": kind, "resourceName": resource, "name": name, "value": value}


def _broker_configs(brokers: Mapping[str, Any]) -> Iterator[NamedRecord]:
    """Yield the configuration of brokers; an empty name means all brokers."""
    for broker, configs in brokers.items():
        if not isinstance(configs, dict):
            raise UsageError(f"broker_configs of {broker or 'all brokers'}: not an object")
        yield from config_records(BROKER, broker, _texts(f"broker_configs of {broker or 'all brokers'}", configs) or {})


def _acl(fields: _AnswerFields) -> Iterator[NamedRecord]:
    data = {
        "resourceType": fields.choice("resource_type", _RESOURCES),
        "resourceName": fields.need("resource_name", str),
        "patternType": fields.choice("pattern_type", _PATTERNS, "LITERAL"),
        "principal": fields.need("principal", str),
        "host": fields.take("host", str, "*"),
        "operation": fields.choice("operation", _OPERATIONS),
        "permissionType": fields.choice("permission_type", _PERMISSIONS, "ALLOW"),
    }
    fields.end()
    yield "AccessControlEntryRecord", {"id": made_id("acl", *map(str, data.values())), **data}


def acl_words(data: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the resource, the operation and the permission of an ACL in the words of znodes (Topic, Read, Allow)."""
    resource, operation, permission = (
        next(word for word, number in words.items() if number == data[field]).title().replace("_", "")
        for field, words in {
            "resourceType": _RESOURCES, "operation": _OPERATIONS, "permissionType": _PERMISSIONS,
        }.items()
    )  # fmt: skip
    return resource, operation, permission


def _scram(fields: _AnswerFields, salt: bytes) -> Iterator[NamedRecord]:
    """Yield the credentials of a user from a password (ScramFormatter), or as Kafka keeps them."""
    user, (mechanism, hashed) = fields.need("user", str), fields.choice("mechanism", _HASHES)
    iterations = fields.take("iterations", int, _ITERATIONS)
    if not _ITERATIONS <= iterations <= INT_MAX:
        raise UsageError(f"{fields.what}: iterations is below {_ITERATIONS}")
    password = fields.take("password", str, None)
    if password is None:
        salt, stored, server = (_bytes(fields, name) for name in ("salt", "stored_key", "server_key"))
    else:
        salt = digest(salt, user.encode(), "sha256")
        salted = pbkdf2_hmac(hashed().name, password.encode(), salt, iterations)
        stored = hashed(digest(salted, b"Client Key", hashed)).digest()
        server = digest(salted, b"Server Key", hashed)
    fields.end()
    keys = {"salt": _base64(salt), "storedKey": _base64(stored), "serverKey": _base64(server)}
    yield "UserScramCredentialRecord", {"name": user, "mechanism": mechanism, **keys, "iterations": iterations}


def _bytes(fields: _AnswerFields, name: str) -> bytes:
    try:
        return a2b_base64(fields.need(name, str), strict_mode=True)
    except ValueError:
        raise UsageError(f"{fields.what}: {name} is not base64") from None


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def _quota(fields: _AnswerFields) -> Iterator[NamedRecord]:
    entity = fields.mapping("entity")
    names = {None, *(name for name in entity.values() if isinstance(name, str))}
    if not entity or not {*entity} <= {"user", "client-id", "ip"} or not {*entity.values()} <= names:
        raise UsageError(f"{fields.what}: entity has no user, client-id or ip")
    parts = [{"entityType": kind, "entityName": name} for kind, name in entity.items()]
    key, value = fields.need("key", str), fields.need("value", float)
    fields.end()
    yield "ClientQuotaRecord", {"entity": parts, "key": key, "value": float(value), "remove": False}
