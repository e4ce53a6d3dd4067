"""Repair plans: which edits are safe, in which order, and what each one loses.

In: log dirs, the findings about them, and the repairs of `repairs`. Out: a plan, a list of file operations with digests
and proofs, or the reason why a finding has no repair. Nothing is written: edited log dirs exist only in memory, and
`disk/apply.py` applies a plan.

- `diagnosis`: what is wrong with a log dir, as the input of repairs?
- `repair`: which steps does the plan have, and which are refused because they lose records?
- `edited_log_dir`, `edited_partition`: how do the files look after the steps so far?
- `least_steps`: which steps does the next start need, and which findings does the broker heal itself?
- `losses`: which records does a step remove?
- `before_and_after`: what does the next start do without a step, and with it?
- `safe_replica`: does another broker have every committed record of a replica, so that this one can be moved aside?
- `operations`: one operation per path, with the digests that `apply` checks.
- `plan_report`: a plan, or the result of apply and undo, as a report.
"""
