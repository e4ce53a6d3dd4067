"""The answers file: what it can say, and how a mistake is refused."""

from typing import Any

import pytest

from kcheck.core.rescue.answers import NONE, SCHEMA, MetadataAnswers, answers_of
from kcheck.core.rescue.made_ids import made_id
from kcheck.errors import UsageError

SALT = b"salt"


def read(**fields: Any) -> MetadataAnswers:
    """Return answers."""
    return answers_of({"schema": SCHEMA, **fields}, SALT)


def test_an_empty_file_says_nothing() -> None:
    assert read() == NONE


def test_a_topic() -> None:
    topic = {"topic_id": "A" * 22, "partitions": 2, "replicas": {"0": [1, 2]}, "isr": {"0": [2]}, "configs": {"a": "b"}}
    answer = read(topics={"t": {**topic, "suggested_configs": {}}}).topics["t"]
    assert (answer.topic_id, answer.partitions, answer.configs) == ("A" * 22, 2, {"a": "b"})
    assert (answer.replicas, answer.isr) == ({0: (1, 2)}, {0: (2,)})


def test_what_is_no_topic() -> None:
    answers = read(
        elr=True,
        next_producer_id=7000,
        broker_configs={"": {"log.retention.ms": "1"}},
        acls=[{"resource_type": "TOPIC", "resource_name": "t", "principal": "User:a", "operation": "READ"}],
        quotas=[{"entity": {"user": "a", "client-id": None}, "key": "consumer_byte_rate", "value": 5}],
        scram=[
            {
                "user": "user", "mechanism": "SCRAM-SHA-512", "iterations": 8192,
                "salt": "AQI=", "stored_key": "Aw==", "server_key": "BA==",
            }
        ],
    )  # fmt: skip
    assert (answers.elr, answers.next_producer_id) == (True, 7000)
    assert [name for name, _ in answers.records] == [
        "ConfigRecord", "AccessControlEntryRecord", "UserScramCredentialRecord", "ClientQuotaRecord",
    ]  # fmt: skip
    config, acl, scram, quota = (data for _, data in answers.records)
    assert (config["resourceType"], config["name"], config["value"]) == (4, "log.retention.ms", "1")
    assert (acl["resourceType"], acl["patternType"], acl["host"], acl["operation"], acl["permissionType"]) == (
        2, 3, "*", 3, 3,
    )  # fmt: skip
    assert (scram["mechanism"], scram["salt"], scram["iterations"]) == (2, "AQI=", 8192)
    assert quota["value"] == 5.0
    assert quota["entity"] == [
        {"entityType": "user", "entityName": "a"}, {"entityType": "client-id", "entityName": None},
    ]  # fmt: skip


def test_a_password_gives_the_same_keys_for_the_same_salt_only() -> None:
    user = {"user": "alice", "mechanism": "SCRAM-SHA-256", "password": "secret"}
    ((_, one),), ((_, same),) = read(scram=[user]).records, read(scram=[user]).records
    ((_, other),) = answers_of({"schema": SCHEMA, "scram": [user]}, b"other").records
    assert one == same
    assert one["storedKey"] != other["storedKey"]
    assert "secret" not in str(one)
    assert one["iterations"] == 4096


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"schema": "other/1"}, "the answers: schema is not kcheck.metadata-answers/1"),
        ({"topic": {}}, "the answers: topic is not known"),
        ({"topics": []}, "the answers: topics is not an object"),
        ({"elr": 1}, "the answers: elr is not true or false"),
        ({"next_producer_id": True}, "the answers: next_producer_id is not an integer"),
        ({"next_producer_id": -1}, "the answers: next_producer_id -1 is no producer id"),
        ({"topics": {"t": 1}}, "topic t: not a JSON object"),
        ({"topics": {"t": {"topic_id": "short"}}}, "topic t: topic_id is not 16 bytes in base64"),
        ({"topics": {"t": {"partitions": 0}}}, "topic t: partitions is not above 0"),
        ({"topics": {"t": {"isr": {"0": 1}}}}, "topic t: isr of partition 0 is not a list of broker ids"),
        ({"topics": {"t": {"isr": {"0": [1, 1]}}}}, "topic t: isr of partition 0 is not a list of broker ids"),
        ({"topics": {"t": {"isr": {"x": [1]}}}}, "topic t: isr of partition x is not a list of broker ids"),
        ({"topics": {"t": {"configs": {"a": 1}}}}, "topic t: the value of a configuration is not a text"),
        ({"topics": {"t": {"config": {}}}}, "topic t: config is not known"),
        ({"broker_configs": {"1": 2}}, "broker_configs of 1: not an object"),
        ({"acls": [{}]}, "the answers: acls, item 1: resource_type is missing"),
        ({"acls": [{"resource_type": "X"}]}, "the answers: acls, item 1: resource_type: not one of TOPIC, GROUP"),
        ({"scram": [{"user": "a", "mechanism": "SCRAM-SHA-256", "iterations": 1}]}, "item 1: iterations is below 4096"),
        ({"scram": [{"user": "a", "mechanism": "SCRAM-SHA-256", "salt": "?"}]}, "item 1: salt is not base64"),
        ({"quotas": [{"entity": {}}]}, "item 1: entity has no user, client-id or ip"),
    ],
)
def test_a_mistake_is_named(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError) as error:
        read(**fields)
    assert why in str(error.value)


def test_an_id_that_is_made_is_an_id_of_kafka() -> None:
    """Version 4, no dash at the beginning; the same names give the same id."""
    ids = [made_id("cluster", str(number)) for number in range(200)]
    assert len({*ids}) == 200
    assert not [one for one in ids if one.startswith("-")]
    assert ids[0] == made_id("cluster", "0")
