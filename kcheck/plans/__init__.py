"""Repair plans with safe edits in their order, and the records that each discards. The recovery of a cluster.

In: log dirs, the findings about them, and the repairs of `repairs`. Out: a plan, which is a list of file operations
with digests and proofs, or the reason why a finding has no repair. Nothing is written. Edited log dirs exist only in
memory, and `disk/apply.py` applies a plan. A recovery joins repair plans with the starts and elections of
`replicas.elect`.

- `diagnosis`: What is wrong with a log dir, as the input of repairs?
- `repair`: Which steps does the plan have, and which are refused because they lose records?
- `edited_log_dir`, `edited_partition`: How do the files look after the steps so far?
- `losses`: Which records does a step remove?
- `safe_replica`: Does another broker have every committed record of a replica, so that this one can be moved aside?
- `remote_history`: Which evidence about remote storage do other replicas and the store add to a repair?
- `before_and_after`: What does the broker do without a step, and with it, when it starts?
- `premised_starts`: Which premises of these starts are refuted, without the plan and with it?
- `least_steps`: Which steps does the next start need, and which findings does the broker heal itself?
- `operations`: Which operation does each path get, with which digests?
- `past_elections`: Which unclean elections have disks not followed?
- `first_repairs`: Which repairs come before an election, and what does it cost after them?
- `recover`: What to do, step by step, with a cluster that has a problem?
- `recovery_cases`: Which other plans are there, if something unseen differs from the assumptions?
- `plan_context`: Which paths and settings do the steps of a recovery name?
- `recovery_output`: Which files does a recovery write?
- `rescue_answer`: What do the answers of the next three share?
- `recover_metadata`: How does lost metadata come back from the disks of brokers?
- `held_disks`: What do these disks hold?
- `rebuild_files`: Which files does a rebuild write?
- `recover_topic`: How do old directories of a topic serve again?
- `recover_quorum`: How do controllers come back that lost their majority?
- `rescue_progress`: How far is a cluster with the plan of one of these three, and what comes next?
- `rescue_files`: Which files does that change on each node?
- `agreed_advice`: What do findings advise if a recovery decides about their replica?
- `progress`: How far is a cluster with the steps of a recovery, and what comes next?
- `plan_report`: Which rows does a plan have, or the result of apply and undo?
"""
