"""The folder that spark-submit puts before all others: nothing stands in it that could hide another module."""
