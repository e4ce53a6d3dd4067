"""Reads the runs that `fleet.scan` wrote.

- `report`: what did a run find? `places`: where? `actions`: what should be done? `commands`: which command shows more?
- `broker_starts`: what do the brokers do at their next starts?
- `trend`, `diff`, `history`: how did the counts change, which findings are new, and when did a finding appear?
- `elect`, `elect_clusters`: who should lead, in one cluster or in all of them? `election_plan`: the files of that plan.
- `cluster`, `replicas`, `election_rows`: what do the tables contain about a cluster, a replica and a partition?
- `sql`, `iceberg`: how do other tools read the tables?
- `prune`: which runs can be removed?
"""
