"""Writes the tables of `kcheck/schemas` from Kafka's own schema files: `python -m tests.oracle.messages`.

The jars of a release hold them, one JSON file for each message. What a table says is name, type, versions, what can be
null, what is tagged, and the defaults.
"""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.oracle.jars import classpath

NEWEST = "4.3.1"
"""Its schemas know every version that a broker since 3.0 has written."""

COMMAND = "python -m tests.oracle.messages"
FOLDER = Path(__file__).parents[2] / "kcheck" / "schemas"

TABLES = {
    "offsets": ("the records of __consumer_offsets", "kafka-group-coordinator", r".*(Key|Value)"),
    "protocol": (
        "messages from members of a classic group",
        "kafka-clients",
        "ConsumerProtocol(Assignment|Subscription)",
    ),
    "transactions": ("the records of __transaction_state", "kafka-transaction-coordinator", r".*(Key|Value)"),
    "share_state": ("the records of __share_group_state", "kafka-share-coordinator", r".*(Key|Value)"),
    "metadata": ("the records of __cluster_metadata", "kafka-metadata", r".*Record"),
    "remote_log": ("the records of __remote_log_metadata", "kafka-storage", r"Remote.*Record"),
}
"""The module; what it is about; the jar, and which of its schemas."""

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_TYPE = re.compile(r"((?:\[\])?)(\w+)")
_DEFAULTS = ("", "0", "false")
"""What a field is without saying so. A null that is no text in quotes says nothing, to Kafka's generator."""


def main() -> None:
    """Write every table."""
    for module in TABLES:
        (FOLDER / f"{module}.py").write_text(source(module), "utf-8", newline="\n")


def source(module: str) -> str:
    """Return the text of a module of tables."""
    about, jar, names = TABLES[module]
    found = sorted(_schemas(jar, names), key=lambda schema: (schema.get("apiKey", 0), schema["name"]))
    lines = [line for schema in found for line in _message(schema)]
    head = f"The schemas of {about}, Kafka {NEWEST}, by `{COMMAND}`."
    return "\n".join([f'"""{head}"""', "", 'TABLE = """', *lines, '"""', ""])


def _schemas(artifact: str, names: str) -> Iterator[dict[str, Any]]:
    (jar,) = (
        path for path in classpath(NEWEST).split(":") if re.fullmatch(rf"{artifact}-[0-9.]+\.jar", Path(path).name)
    )
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", name):
                schema = json.loads(_COMMENT.sub("", archive.read(name).decode()))
                if re.fullmatch(names, schema["name"]):
                    yield schema


def _message(schema: dict[str, Any]) -> Iterator[str]:
    structs = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", ())}
    yield f"{schema['name']} {schema.get('apiKey', '-')} {schema['validVersions']} {schema['flexibleVersions']}"
    yield from _fields(schema["fields"], structs, 1)


def _fields(fields: Iterable[dict[str, Any]], structs: dict[str, Any], depth: int) -> Iterator[str]:
    """Yield a line for each field; the fields of a structure stand below it, one space further in."""
    for field in fields:
        assert "flexibleVersions" not in field, field
        array, name = _TYPE.fullmatch(field["type"]).groups()  # type: ignore[union-attr]
        inner = field.get("fields", structs.get(name))
        tagged = field.get("taggedVersions")
        versions = field.get("versions", tagged)
        words = [field["name"][0].lower() + field["name"][1:], array + (name if inner is None else "struct"), versions]
        if "nullableVersions" in field:
            words.append(f"null={field['nullableVersions']}")
        if tagged is not None:
            words += [f"tag={field['tag']}", *([f"tagged={tagged}"] if tagged != versions else [])]
        default = str(field.get("default")).lower() if field.get("default") is not None else ""
        if default not in _DEFAULTS:
            words.append(f"default={default}")
        yield " " * depth + " ".join(words)
        if inner is not None:
            yield from _fields(inner, structs, depth + 1)


if __name__ == "__main__":
    main()
