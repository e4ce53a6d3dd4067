"""Decodes the records of Kafka's internal topics: offsets, groups, transactions, cluster metadata, share groups.

Kafka defines these messages as versioned schemas (KIP-482). `records` finds the schema of a record's key and value,
`schema` parses the tables of schemas in the other modules, and `decode` reads bytes by a schema.
"""
