"""What can be wrong: one module each, named `kcNNN_<what_is_wrong>`.

KC1xx is about one file or segment, KC2xx about one partition directory, KC3xx about log dirs, KC4xx about the replicas
of a partition, KC5xx about the metadata of a cluster. How to add one: docs/contributing.md.
"""

from kcheck.rules._contract import SERIES, Check, Precondition, Rule, Scope

__all__ = ["SERIES", "Check", "Precondition", "Rule", "Scope"]
