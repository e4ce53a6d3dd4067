"""Data frames of a scan: how their rows are dealt to tasks, joined, and chosen."""

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kcheck.fleet.scan.replicas import KEY, OF_TOPIC
from kcheck.fleet.spark.transport import KEY_NAMES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def dealt(frame: "DataFrame", slices: int, number: str) -> "DataFrame":
    """Return rows in a fixed number of slices: a task that runs again gets the same rows."""
    from pyspark.sql import functions

    return frame.repartitionById(slices, functions.expr(f"cast({number} as int)"))


def in_order(frame: "DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a frame, which are few, by the number `at` of what was asked."""
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
    """Return the keys and brokers of the replicas, for which Spark reads nothing else of what was staged."""
    from pyspark.sql import functions

    names = (*KEY, "broker_id")
    # Spark 4.1 reads all fields of what it explodes, unless each was chosen before.
    chosen = functions.arrays_zip(*(functions.col(f"compared.{name}").alias(name) for name in names))
    return scanned.select(functions.explode(chosen).alias("replica")).select("replica.*")


def tables_of(frame: "DataFrame", names: Sequence[str]) -> "DataFrame":
    """Return the key and the tables of what was left, where there is anything of a table."""
    own = [name for name in names if name in frame.columns]
    return frame.where(" or ".join(f"{name} is not null" for name in own)).select(*KEY_NAMES, *own)
