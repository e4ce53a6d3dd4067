"""Rules: one module each, named `kcNNN_<what_is_wrong>`.

Input: a view (`model.views`) and a `Release`. Output: findings. KC1xx is about one file or segment, KC2xx about one
partition directory, and KC3xx about log dirs. KC4xx is about the replicas of a partition, KC5xx about cluster metadata.
KC6xx is about group and transaction coordinators. A module sets `RULE`, and `registry.discover` finds it. To add one,
see docs/contributing.md.

Modules that rules share:

- `_contract`: What must a rule provide?
- `_checkpoints`: What does a broker do if it cannot read a checkpoint?
- `_entries`: Which entries does a checkpoint have, and on which lines?
- `_epochs`: Which leader epochs does the broker load?
- `_segments`: Which batches and index entries are corrupt, and what does the broker do with them when it starts?
- `_records`: What is wrong inside a batch whose CRC matches?
- `_sequences`: Where do the sequence numbers of a producer not continue?
- `_remote`: What becomes of the remote part of a log if this replica leads?
- `_partition`: Does the broker load a partition directory, and does the directory contain data?
- `_lag`: Which replicas end below the high watermark of another one?
- `_cluster`: What does the metadata of the cluster contain about a replica?
- `_words`: Which phrases do all rules share?
"""

from kcheck.rules._contract import SERIES, Check, Precondition, Rule, Scope, id_and_name

__all__ = ["SERIES", "Check", "Precondition", "Rule", "Scope", "id_and_name"]
