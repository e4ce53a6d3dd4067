"""The layout of batches and records in bytes, and their compression.

In: bytes. Out: headers, records and entries as values, up to the first unreadable one.

- `layout`: How is a binary structure described?
- `batch`: Which fields does a batch header have, and where does the next batch begin?
- `compression`: Which bytes does Kafka's decompressor return?
- `lz4_frame`, `zstd_frame`: Which bytes do frames of lz4 and zstd contain?
- `decompressed`: Which result do all codecs give?
- `record`: Which records does a batch have?
- `message_set`: Is the inside of a message of magic 0 or 1 valid?
- `control_record`: Which values does a transaction marker or a KRaft control record have?
- `control_batch`: Does recovery accept a control batch?
- `entry_file`: Which entries does an index file have?
- `metadata_features`: Which metadata.version is in the bytes of a KRaft log?
- `json_reader`: What does Kafka's JSON parser read?
- `new_entries`: Which bytes does a broker store for new records?
- `raft_batch`: Which bytes does a KRaft node write to its log, and to a snapshot?
"""
