"""Runs tasks: in this process, in worker processes or in threads, with limits on time and memory.

In: groups of `Task`s, each a function with the place it reads and its size. Out: the answers, in the order of the
groups, so the number of workers never changes a report.

- `workers`: tasks in processes, for local disks. The largest task runs first; a process that dies or takes too long
  costs one task, whose answer is finding KC000. ^C ends all processes.
- `threads`: tasks in threads, for object stores, which are slow to answer.
- `guard`: turns an exception in one place into finding KC000, so that the other places are still checked.

Which tasks there are is decided by the callers: `survey/segment_scan.py` and `fleet/scan/local_engine.py`.
"""
