"""The metrics of a fleet run, for the textfile collector of Prometheus's node_exporter."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from kcheck import __version__
from kcheck.core.start.startup import NEXT_STARTS
from kcheck.model.report import Report
from kcheck.model.when import When
from kcheck.renderers._contract import Renderer
from kcheck.renderers._html.parts import VERDICTS
from kcheck.screen.options import Options
from kcheck.screen.printable import printable

_COVERAGE, _RANGE = ("expected", "reached"), ("kafka", "lowest", "highest")
Sample = tuple[Mapping[str, object], float]
"""Labels and value."""


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write every metric with its samples; leave out metrics without any."""
    del options
    body: Any = report.body
    brokers, clusters = body["brokers"], body["clusters"]
    about = {"run": body["run"], "kcheck": __version__, "kafka": report.kafka, "depth": body["depth"]}
    metrics: Sequence[tuple[str, str, Sequence[Sample]]] = (
        ("findings", "Number of findings by rule.", [(_labels(row), row["findings"]) for row in body["counts"]]),
        (
            "broker_verdict", "1 for the broker's worst severity, or for clean.",
            [({**_place(row), "verdict": name}, int(name == row["verdict"])) for row in brokers for name in VERDICTS],
        ),
        ("log_dirs", "Number of log dirs.", [(_place(row), row["log_dirs"]) for row in brokers]),
        ("partition_dirs", "Number of partition directories.", [(_place(row), row["partitions"]) for row in brokers]),
        (
            "partitions_at_risk", "Number of partitions with errors, or that can lose committed records.",
            [*_at_risk([(row["cluster"], row["owner"], row["partitions_at_risk"]) for row in body["owners"]],
                       [(row["cluster"], row["partitions_at_risk"]) for row in clusters])],
        ),
        *(
            (f"log_dirs_{name}", f"Number of log dirs that the scan has {name}.",
             [({}, body[f"log_dirs_{name}"])] if body[f"log_dirs_{name}"] is not None else [])
            for name in _COVERAGE
        ),
        *(
            (f"brokers_{name}", f"Number of brokers that the scan has {name}.",
             [({"cluster": row["cluster"]}, row[f"brokers_{name}"]) for row in clusters])
            for name in _COVERAGE
        ),
        (
            "brokers_by_release", "Number of brokers by modelled release and by the range of their files.",
            [({"cluster": row["cluster"], **{name: known[name] for name in _RANGE}}, known["brokers"])
             for row in clusters for known in row["releases"]],
        ),
        (
            "release_differences", "Number of answers that differ at the other end of the range of releases.",
            [({"cluster": row["cluster"], "answer": known["answer"], "kafka": known["kafka"]}, known["count"])
             for row in clusters for known in row["differences"]],
        ),
        (
            "cluster_committed_lost",
            "Committed records that starting everything now loses at most; no sample if unknown.",
            [({"cluster": row["cluster"]}, row["start_all_committed"])
             for row in clusters if row["start_all_committed"] is not None],
        ),
        (
            "cluster_committed_lost_best", "Committed records that the cluster loses under its best leaders, at most.",
            [({"cluster": row["cluster"]}, row["least_committed"]) for row in clusters],
        ),
        (
            "decision", "1 for the time by which a person has to act, 0 for the others.",
            [({"cluster": row["cluster"], "when": str(when)}, int(row["when"] == when))
             for row in body["decisions"] for when in When],
        ),
        *_starts(body["broker_starts"]),
        ("run_info", "Always 1; the labels describe the run.", [(about, 1)]),
        ("run_finished", "1 if the run read everything, 0 if it is incomplete.", [({}, int(body["finished"]))]),
        ("run_start_timestamp_seconds", "Start of the run, in seconds since 1970.", _seconds(body["started"])),
        ("run_end_timestamp_seconds", "End of the run, in seconds since 1970.", _seconds(body["ended"])),
    )  # fmt: skip
    for name, meaning, samples in metrics:
        _metric(f"kcheck_fleet_{name}", meaning, samples, stream)


def _at_risk(owned: Iterable[tuple[object, object, int]], clusters: Iterable[tuple[object, int]]) -> Iterator[Sample]:
    """Yield the partitions at risk of each cluster, by owner; topics without an owner have no such label."""
    of_owners = Counter[object]()
    for cluster, owner, count in owned:
        of_owners[cluster] += count
        yield {"cluster": cluster, "owner": owner}, count
    for cluster, count in clusters:
        yield {"cluster": cluster}, count - of_owners[cluster]


def _starts(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, list[Sample]]]:
    """Yield the metrics of the next start of each broker."""
    outcomes: list[Sample] = [
        ({**_place(row), "outcome": str(outcome)}, int(outcome == row["next_start"]))
        for row in rows
        for outcome in NEXT_STARTS
    ]
    yield "broker_next_start", "1 for the predicted outcome of a broker's next start.", outcomes
    for name, field, meaning in (
        (
            "broker_losing_partitions",
            "losing_partitions",
            "Number of partition directories that lose records by the next start.",
        ),
        (
            "broker_unserved_partitions",
            "unserved_partitions",
            "Number of partition directories that the broker stops serving when it starts.",
        ),
        (
            "broker_lost_records",
            "lost_records",
            "Number of records lost by the next start, if they can be counted.",
        ),
        ("broker_rescan_bytes", "scan_bytes", "Bytes of segments that log recovery reads when the broker starts."),
    ):
        yield name, meaning, [(_place(row), row[field]) for row in rows if row[field] is not None]


def _place(row: Mapping[str, object]) -> dict[str, object]:
    return {"cluster": row["cluster"], "broker": row["broker"]}


def _labels(row: Mapping[str, object]) -> dict[str, object]:
    return {**_place(row), "rule": row["id"], "severity": row["severity"]}


def _seconds(milliseconds: int | None) -> list[Sample]:
    return [] if milliseconds is None else [({}, milliseconds / 1000)]


def _metric(name: str, meaning: str, samples: Iterable[Sample], stream: TextIO) -> None:
    """Write a metric; join samples whose labels look alike, because Prometheus refuses a file with duplicates."""
    stream.write(f"# HELP {name} {meaning}\n# TYPE {name} gauge\n")
    merged: dict[str, float] = {}
    for labels, value in samples:
        said = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        merged[said] = merged.get(said, 0) + value
    for said, value in merged.items():
        stream.write(f"{name}{{{said}}} {value}\n" if said else f"{name} {value}\n")


def _escaped(value: object) -> str:
    """Return the value of a label; empty, which Prometheus treats as missing, if it is unknown."""
    return "" if value is None else printable(value).replace("\\", "\\\\").replace('"', '\\"')


RENDERER = Renderer(name="prometheus", render=render, verbs=("fleet-report",))
