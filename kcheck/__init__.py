"""Reads the log directories of a Kafka broker offline (their content, their defects, and the next start).

`import kcheck; kcheck.inspect(path)` calls a function of `kcheck.api`, which is imported when it is first used.

These are the packages, top down. Each imports only from packages below it, and its docstring is its map. A star marks a
plug package, where one new module is one new plug:

- `cli`: Which options does a command have, and how does it end?
- `api`: Which functions does `import kcheck` offer?
- `renderers`*: How does an answer look in each output format?
- `screen`: How is text laid out on a terminal?
- `fleet`: What is wrong on every broker at once?
- `plans`: Which edits repair a log dir, and which records does each edit discard?
- `replicas`: Where do followers truncate, who should lead, and which records are lost?
- `capture`: Which evidence goes into a bundle?
- `verbs`: What does a command about one broker answer?
- `survey`: What do the rules find in the paths of a command?
- `startup`: What does the broker do with its files when it starts?
- `dumps`: Which rows does `kcheck dump` show?
- `exports`: Which records does `kcheck export` write, and how?
- `views`: What is each path, and which files and metadata does it contain?
- `segments`: What do the segments of a partition contain?
- `jobs`: How do processes and threads share the work?
- `disk`: How are files and stores read, and how is a log dir changed?
- `rules`*: What can be wrong?
- `repairs`*: What can be done about a finding?
- `bundles`: Which bytes do readers get for the members of a bundle?
- `documents`: Which rows does an answer have?
- `handouts`: Which guides, scripts and files does an operator get with an answer?
- `simulation`: What happens in one partition of a cluster, event by event?
- `histories`: Which histories does kcheck ship? It contains text files only.
- `messages`: What do the lines of server.log mean?
- `core`: What does Kafka decide?
- `formats`*: What does each kind of file in a log dir contain?
- `zookeeper`: What do the files of ZooKeeper contain?
- `records`: How are batches and records laid out in bytes?
- `schemas`: What do the records of internal topics contain?
- `tables`*: Which columns do the published tables have?
- `arrow`: How do rows become Arrow columns?
- `words`: How do texts say counts, names, ranges of offsets, losses and releases?
- `model`: Which values do all packages share?
- `errors`: Which exceptions are there, and what is the exit code of each?
- `registry`: How are the modules of a plug package found?
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "PartitionFilter",
    "all_rules",
    "apply",
    "check",
    "cluster",
    "dump",
    "elect",
    "end_offset",
    "explain",
    "export",
    "fleet_diff",
    "fleet_report",
    "fleet_trend",
    "formats",
    "inspect",
    "overview",
    "predict",
    "preflight",
    "recover",
    "recover_metadata",
    "recover_quorum",
    "recover_topic",
    "recovery_progress",
    "release",
    "repair",
    "rescue_progress",
    "search",
    "simulate",
    "tiered",
    "truncation",
    "undo",
    "verify",
    "write_bundle",
]

if TYPE_CHECKING:
    from kcheck import formats
    from kcheck.api import (
        all_rules,
        apply,
        check,
        cluster,
        dump,
        elect,
        end_offset,
        explain,
        export,
        fleet_diff,
        fleet_report,
        fleet_trend,
        inspect,
        overview,
        predict,
        preflight,
        recover,
        recover_metadata,
        recover_quorum,
        recover_topic,
        recovery_progress,
        release,
        repair,
        rescue_progress,
        search,
        simulate,
        tiered,
        truncation,
        undo,
        verify,
        write_bundle,
    )
    from kcheck.model.report import PartitionFilter


def __getattr__(name: str) -> object:
    """Import what is asked for: `import kcheck` alone loads nothing."""
    from importlib import import_module

    if name == "formats":
        return import_module("kcheck.formats")
    if name == "PartitionFilter":
        return import_module("kcheck.model.report").PartitionFilter
    if name in __all__:
        wrapped = import_module("kcheck.api.argument_errors").of_arguments(getattr(import_module("kcheck.api"), name))
        return globals().setdefault(name, wrapped)
    raise AttributeError(f"module 'kcheck' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for TAB in a notebook."""
    return [*__all__]
