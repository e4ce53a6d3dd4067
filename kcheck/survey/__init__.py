"""Reads the paths of a command and runs the rules over them, as deep as the command asks.

In: targets and their log dirs from `views`. Out: findings, and the views that they are about.

1. `survey`: Which log dirs, partitions and files does a command look at?
2. `selection`: Do `--topic` and `--partition` match anything?
3. `segment_scan`: What is in the segments, if the depth asks for more than their tails?
4. `rule_runner`: Which rules apply to a view?
5. `recheck`: Are findings in a log dir in use real, or was the broker writing?
6. `refused_paths`: Which refused paths are in no finding?
7. `coverage`: How much has been read?
8. `keyless_records`: Which records does the log cleaner delete at its first run?
"""
