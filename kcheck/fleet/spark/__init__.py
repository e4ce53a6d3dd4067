"""The scan of a fleet by Spark: the same steps as on one machine, run by executors; the only package with pyspark."""
