"""The contents of remote storage, their readers, and the deletions by a leader (KIP-405, 3.6 to 4.3.1).

In: records of `__remote_log_metadata`, leader epochs and offsets of replicas. Out: segments and offsets.

- `manifests`: Where are the indexes of a segment of the Aiven plugin?
- `metadata_partition`: Which partition of `__remote_log_metadata` has the records of a partition?
- `segment_records`: Which remote segments do these records describe?
- `spans`: Which offsets do several ranges have together?
- `reading`: Which remote offsets can a leader read, and which does it delete?
- `copy_lag`: What waits to be copied, and what is in both places?
- `histories`: Which leader epochs does the store give back to a log?
- `listings`: Which objects does a listing of the common tools name?
- `stored_objects`: Which objects does each segment have?
- `store`: Which objects of the store are missing, and which belong to no segment?
- `rebuilt_records`: Which records do the manifests of a store give back?
- `regular_deletion`: Which segments does retention take next?
- `retention`: Which deleted segments may retention have deleted?
- `reports`: What is wrong with the remote part of a replica?
"""
