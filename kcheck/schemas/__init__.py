"""The records of Kafka's internal topics (offsets, groups, transactions, cluster metadata, share groups).

In: the key and value of a record, as bytes. Out: their fields. Kafka defines these messages as versioned schemas
(KIP-482).

- `records`: Which schema do the key and value of a record have?
- `schema`: Which fields does a schema have in each version?
- `decode`: Which values do the bytes of a message have?
- `encode`: Which bytes does a message have?
- `metadata`, `offsets`, `transactions`, `share_state`, `remote_log`: Which schemas does each internal topic have?
- `protocol`: Which schemas do the members of a classic group use?
"""
