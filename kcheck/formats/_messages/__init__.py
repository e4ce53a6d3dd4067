"""Records that brokers write for themselves: offsets, groups, transactions, cluster metadata, share groups.

Kafka defines them as schemas with versions (KIP-482). The modules of tables hold those schemas; `decode` reads by them.
"""
