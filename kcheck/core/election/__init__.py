"""Leaders of each partition of a cluster, the order of starts, and the cost of each choice.

In: the replicas of each partition as their brokers start with them, and the metadata of the cluster. Out: candidates
with their losses, start orders, and the recovery plan; `documents.election_verdict` says them.

- `election`: Which replica does the controller elect?
- `fencing`: In which order does a new controller fence the brokers that the metadata show as running?
- `course`: Who leads in the end, when nothing changes any more?
- `balance`: Which preferred elections come, where ZooKeeper keeps the controller's state?
- `plans`: What does each candidate cost?
- `scenarios`: What does each way to continue cost the cluster?
- `start_order`: Which order of brokers costs least?
- `choice`: Which order and which leaders do all partitions decide together?
- `phases`: In which order should the brokers start, stop and elect?
- `early_elections`: What needs an unclean election, or has to be moved aside, while the brokers start?
- `first_repairs`: Which brokers are to be repaired before any of them starts, and what is lost without that?
- `first_rescue`: Which rescue of the metadata comes before any start?
- `progress`: How far is a cluster with the steps of a plan?
- `leaving`: Which partitions have no leader when a broker leaves their ELR?
- `broker_losses`: Which records are lost with a broker that never returns?
- `at_risk`: Which partitions may have their newest records on one broker's disk alone?
- `misplaced`: Which directories have a wrong name, or are on a wrong broker?
- `recovery_plan`: What does `elect` recommend, and how should the cluster look afterwards?
- `start_losses`: Which records do brokers remove for good when they start?
- `steps`: What is done one after the other, and what can each step no longer undo?
"""
