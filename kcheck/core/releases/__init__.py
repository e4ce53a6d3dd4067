"""Which facts belong to which release of Kafka.

- `releases`: which releases are there, and what can each do?
- `release_evidence`: which releases can have written these files?
"""
