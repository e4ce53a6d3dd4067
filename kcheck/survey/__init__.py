"""Reads what a command names and runs the rules over it, at the depth that the command asks for.

In: targets and their log dirs from `views`. Out: findings, and the views that they are about.

1. `survey`: which log dirs, partitions and files does a command look at?
2. `selection`: do `--topic` and `--partition` match anything?
3. `segment_scan`: what is in the segments, if the depth asks for more than their tails?
4. `rule_runner`: which rules apply to a view?
5. `recheck`: are findings in a log dir in use real, or was the broker writing?
6. `refused_paths`: which refused paths does no finding name?
7. `coverage`: how much has been read?
"""
