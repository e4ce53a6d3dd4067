"""Runs tasks in this process, in worker processes or in threads, with limits on time and memory.

In: groups of `Task`s, each a function with the place it reads and its size. Out: the answers, in the order of the
groups, so the number of workers never changes a report.

- `workers`: How do processes share tasks, for local disks? The largest task runs first. A process that dies or takes
  too long costs one task, whose answer is finding KC000. ^C ends all processes. Its `SharedWork` keeps an object in
  each process between calls.
- `threads`: How do threads share tasks, for object stores that are slow to answer?
- `guard`: How does an exception in one place become finding KC000, so that the other places are still checked?

Which tasks there are is decided by the callers, `survey/segment_scan.py` and `fleet/scan/local_engine.py`.
"""
