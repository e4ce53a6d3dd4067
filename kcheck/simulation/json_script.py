"""The JSON twin of a history."""

import json

from kcheck.errors import UsageError


def json_lines(text: str, path: str) -> list[str]:
    """Return the lines that a JSON document stands for; UsageError where it is none of a history."""
    try:
        document = json.loads(text)
        lines = [f"brokers {' '.join(document['brokers'])}"]
        topic = document.get("topic", {})
        lines += [f"kafka {document['kafka']}"] if "kafka" in document else []
        lines += ["topic " + " ".join(f"{name}={_plain(value)}" for name, value in topic.items())] if topic else []
        return lines + [str(line) for line in document["events"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f'{path}: expected {{"brokers": ["A", "B"], "topic": {{...}}, "events": ["A leads", ...]}}: {error!r}'
        ) from error


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
