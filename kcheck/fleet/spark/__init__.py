"""The fleet scan on Apache Spark, with the same steps as on one machine, run by executors.

In: the roots and options of a scan. Out: the same tables as from one machine. No other package imports pyspark.

- `submit`: Which spark-submit command runs a scan on a cluster?
- `package`: How does kcheck come to the executors?
- `session`: Which Spark runs the scan (spark-submit, this process, or Spark Connect)?
- `java`: Which Java runs Spark?
- `engine`: Which step runs when, and which rows are exchanged between steps? This is the driver.
- `executor_options`: Which options does every step get?
- `executor_steps`: Which functions does `mapInArrow` run?
- `log_steps`: How do executors read the logs of brokers?
- `frames`: How are rows dealt to tasks, joined and chosen?
- `transport`: How do rows travel between driver and executors?
- `table_writer`: How do executors write the rows of all tables to files?
- `progress`: How far are the Spark jobs?
- `elect`: How do executors decide the elections of a run?
- `data_source`: How does `spark.read.format("kcheck")` give the tables as DataFrames?
- `source_options`: Which options does that format have?
- `pushed`: Which filters does a query hand to the data source?

Each step writes its rows below `_staging`, so that a lost executor repeats only its own tasks.
"""
