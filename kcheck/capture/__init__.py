"""Evidence bundles: the evidence in log dirs, without keys, values, headers, secrets or host names.

In: paths, and options for names and records. Out: one zip, with the same bytes for the same directories.

- `write`: In which order is a bundle written, and what is in its manifest?
- `tree`: Which files and directories are captured?
- `contents`: Which parts of a file go in, and why?
- `pseudonyms`: Which name does a topic or a group get instead of its own?
- `settings`: Which settings of server.properties go in?
- `logs`: Which messages of a broker's log go in?
- `metadata`: Which values in the metadata of the cluster are masked?
- `group_offsets`: Which parts of `__consumer_offsets` go in?
- `remote_segments`: Which parts of `__remote_log_metadata` go in?
- `batch_rows`: Which rows are kept of a `.log`?
- `hashed_source`: How does a capture get the digest of a file without a second read?
"""
