"""The releases of Kafka, their facts, and the evidence for them.

- `release_evidence`: Which releases can have written these files?
- `setting_rules`: What does each release accept of a setting?
- `releases`: Which releases are there, and what can each do?
"""
