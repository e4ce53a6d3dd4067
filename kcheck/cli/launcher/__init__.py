"""The directory that spark-submit puts first on the path. No module in it may hide another one.

- `kcheck_fleet`: How does kcheck start from the zip next to this script?
"""
