"""What people and other programs get beside an answer: guides, scripts, and the files of Kafka's own tools.

- `election_files`: which files does `elect --out` write?
- `election_guide`: what should the operator type, in order? This is plan.md.
- `group_resets`: which offsets of consumer groups have to be reset?
- `saved_plan`: what does the plan of an earlier `elect --out` expect?
- `reproduction`: how is a history of `simulate` replayed on a real cluster?
"""
