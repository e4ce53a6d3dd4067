"""Brings a cluster back from its disks, by the facts in the copies of the metadata, in the gentlest way.

In: the copies of the metadata on the disks of all nodes. Out: a way back as edits of files, or refusals that say what
to bring. Each way was played on real clusters (`tests/oracle/clusters/test_lost_quorum.py`).

- `quorum_loss`: Which voters are lost, which copy is the newest, and are all committed records here?
- `lacking`: What does another copy lack, by name?
- `rifts`: Are two copies one history?
- `refusals`: Why is there no way back from these disks, and what has to be brought?
- `held`: What do the disks of brokers hold of a cluster without metadata?
- `answers`: What does only the user know?
- `rebuild`: Which metadata do disks and answers give?
- `rebuild_refusals`: Why do they give none, and what has to be brought?
- `made_ids`: Which id gets what has none?
- `old_directories`: Which directories of another time take the place of which?
- `progress`: How far is a cluster with the steps of a way back?
- `znodes`: Which znodes does a ZooKeeper need that has none?
- `broker_role`: With which settings does a node that was a controller too come back as a broker?
- `ways`: Which way is the gentlest, and which files does it change?
"""
