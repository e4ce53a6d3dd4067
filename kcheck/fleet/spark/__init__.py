"""The fleet scan on Apache Spark: the same steps as on one machine, run by executors.

In: the roots and options of a scan. Out: the same tables as from one machine. No other package imports pyspark.

- `submit`: which spark-submit command runs a scan on a cluster? `package` makes the zip of kcheck for it.
- `session`: which Spark runs the scan: spark-submit, this process, or Spark Connect? `java` finds a JVM.
- `engine`: the driver: which step runs when, and what is exchanged between steps.
- `executor_steps`: the steps of `fleet/scan/steps.py` as functions for `mapInArrow`.
- `transport`: rows as they travel between driver and executors.
- `table_writer`: how executors write the rows of all tables to files.
- `elections`: the elections of a run, decided by executors.
- `data_source`: `spark.read.format("kcheck")`, the tables of a scan or a run as DataFrames.
- `progress`: the progress line of the driver.

Each step writes its rows below `_staging`, so that a lost executor repeats only its own tasks.
"""
