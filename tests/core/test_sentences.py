"""Core decides in values: documents, handouts and rules say them."""

import ast
from collections.abc import Iterator
from pathlib import Path

CORE = Path(__file__).parents[2] / "kcheck/core"

SPEAKING = {
    "cluster/metadata_replay.py": "defects of records, as a parser has them",
    "election/first_rescue.py": "which rescue comes first, and why",
    "cluster/znode_tree.py": "the same, of ZooKeeper's transactions",
    **{
        f"premises/{name}.py": "a premise is a sentence, and so is what refutes it"
        for name in (
            "age",
            "batches",
            "clones",
            "compaction",
            "elections",
            "addresses",
            "followers",
            "identity",
            "joining",
            "last_logs",
            "limits",
            "listeners",
            "log_ranges",
            "metadata",
            "migration",
            "mounts",
            "names",
            "outside",
            "providers",
            "presence",
            "remote",
            "resources",
            "retention",
            "setting_relations",
            "rights",
            "rivals",
            "security",
            "settings",
            "short_leaders",
            "voters",
            "zookeeper_sessions",
        )
    },
    "replication/log_names.py": "which partition a directory holds",
    "rescue/answers.py": "what the template of an answers file says",
    "rescue/broker_role.py": "a line to remove from settings, as a comment",
    "rescue/old_directories.py": "why a directory cannot become a replica",
    "rescue/rebuild_refusals.py": "a refusal is a sentence, and so is what helps",
    "rescue/refusals.py": "the same",
    "rescue/progress.py": "what has to happen before a rescue goes on",
    "rescue/ways.py": "why a way is not possible",
    "tiered/regular_deletion.py": "which offsets retention deletes",
    "tiered/reports.py": "which copies of remote metadata differ, and where",
    "start/predictions.py": "the verdict in words, as in JSON",
    "start/startup.py": "which file Kafka's exception is about",
}
"""The modules with sentences, each with a reason."""


def sentences(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of three words or more in functions, but docstrings, errors and messages of assertions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise | ast.Assert | ast.Expr) and not _is_call(node):
            continue
        text = _text(node)
        if text is not None:
            if len(text.split()) >= 3:
                yield text
        else:
            yield from sentences(node)


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return all functions of a module."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def test_no_function_of_core_returns_a_sentence() -> None:
    speaking = {}
    for path in sorted(CORE.rglob("*.py")):
        texts = [text for function in functions(ast.parse(path.read_text("utf-8"))) for text in sentences(function)]
        if texts:
            speaking[path.relative_to(CORE).as_posix()] = texts
    assert SPEAKING.keys() == speaking.keys(), speaking
