"""Incidents on real brokers, by a seed: what kcheck says before, and what Kafka then does.

`shapes` (which cluster), `client` (what produces, elects and reads), `running` (every acknowledged record is
known), `stories` (what happens last), `workload` (both, and what is kept),
`damages` (one row a kind), `asked` (what kcheck says), `truth` (what happened), `compare` (where the two differ),
`lab` (one incident from its seed), `kept` (those in `fixtures/incidents`), `__main__` (many of them, and a table);
`recovering` (the plan of `kcheck recover`, played, and many of those), `recoveries` (what it said beside what it lost);
`hunt` (green answers that the bytes of the leaders refute, without brokers: hundreds of damages in a minute or two).
"""
