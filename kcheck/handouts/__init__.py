"""Files for people and other programs (guides, scripts, and input of Kafka's own tools).

In: values of `core.election` and `simulation`. Out: text; `disk.new_files` writes it.

- `election_files`: Which files does `elect --output-dir` write?
- `step_words`: Which words and commands does each step of `recover` have?
- `runbook`: Which page has them all? This is recovery.md of `recover`, and plan.md of `elect`.
- `leader_table`: Which broker leads each partition by a plan?
- `plan_context`: Which facts do these words need?
- `final_losses`: Which records does a step of `recover` remove for good, or give up?
- `tool_commands`: How are Kafka's own tools called?
- `repair_steps`: Which commands repair brokers before any of them starts?
- `aside_copies`: Which moved directories have records that no replica has?
- `group_resets`: Which offsets of consumer groups have to be reset?
- `metadata_steps`: What to do with metadata made again?
- `quorum_steps`: Which steps bring controllers back that lost their majority?
- `saved_plan`: What does the plan of an earlier `elect --output-dir` expect?
- `saved_rescue`: What does the plan of an earlier `recover quorum`, `metadata` or `topic` expect?
- `markdown_words`: How does a name become text of a Markdown file?
- `reproduction`: Which script replays a history of `simulate` on a real cluster?
"""
