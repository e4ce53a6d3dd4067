"""Data frames of a scan, with functions to deal their rows to tasks, and to join and choose them."""

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kcheck.fleet.scan.replicas import KEY, OF_TOPIC
from kcheck.fleet.spark.transport import KEY_NAMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def dealt(frame: "DataFrame", slices: int, number: str) -> "DataFrame":
    """Return rows in a fixed number of slices, so that a repeated task gets the same rows."""
    from pyspark.sql import functions

    return frame.repartitionById(slices, functions.expr(f"cast({number} as int)"))


def in_order(frame: "DataFrame") -> list[dict[str, Any]]:
    """Return the few rows of a frame, by the number `at` of the question."""
    return sorted(frame.toArrow().to_pylist(), key=itemgetter("at"))


def with_topics(replicas: "DataFrame", scanned: "DataFrame") -> "DataFrame":
    """Return replicas with OF_TOPIC: so tasks can share a topic."""
    from pyspark.sql import functions

    of_partitions = keys_of(scanned).groupBy(*KEY).agg(functions.count_distinct("broker_id").alias("brokers"))
    of_topics = of_partitions.groupBy(*KEY[:2]).agg(functions.max("brokers").alias(OF_TOPIC))
    named = of_topics.select(functions.col("cluster").alias("of"), functions.col("topic").alias("named"), OF_TOPIC)
    is_of = functions.col("cluster").eqNullSafe(functions.col("of"))
    is_same = is_of & (functions.col("topic") == functions.col("named"))
    return replicas.join(named, is_same).drop("of", "named")


def keys_of(scanned: "DataFrame") -> "DataFrame":
    """Return the keys and brokers of the replicas. Spark reads no other staged columns for them."""
    from pyspark.sql import functions

    names = (*KEY, "broker_id")
    # Spark 4.1 reads all fields of what it explodes, unless each was chosen before.
    chosen = functions.arrays_zip(*(functions.col(f"compared.{name}").alias(name) for name in names))
    return scanned.select(functions.explode(chosen).alias("replica")).select("replica.*")


def tables_of(frame: "DataFrame", names: Sequence[str]) -> "DataFrame":
    """Return the keys and tables of the staged rows that have any table."""
    own = [name for name in names if name in frame.columns]
    return frame.where(" or ".join(f"{name} is not null" for name in own)).select(*KEY_NAMES, *own)
