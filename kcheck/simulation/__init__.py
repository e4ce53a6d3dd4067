"""One partition of a cluster, replayed event by event: brokers, controller, network, producers and consumers.

Nothing here has a clock, a file or chance: the same events lead to the same states. Kafka's decisions are those of
`kcheck.core`, which the other verbs ask too.
"""
