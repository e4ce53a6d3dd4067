"""Who leads each partition of a cluster, in which order brokers start, and what each choice costs.

- `election`: which replica does the controller elect?
- `plans`: what does each candidate cost?
- `scenarios`: what do the ways to continue cost the whole cluster?
- `start_order`: in which order should the brokers start?
- `early_elections`: which partitions need an unclean election while the brokers start?
- `broker_losses`: what is lost with a broker that never returns?
- `verdict`: what is the best remedy?
- `recovery_plan`: which steps does `elect` recommend, and what follows each of them?
- `verification`: does the cluster look as the plan expects?
"""
