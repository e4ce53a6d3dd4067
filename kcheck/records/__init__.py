"""How batches and records are laid out in bytes, and how they are compressed.

- `layout`: how is a binary structure described?
- `batch`: what does a batch header say, and where does the next batch begin?
- `record`: which records does a batch have?
- `message_set`: is the inside of a message of magic 0 or 1 valid?
- `control_record`, `control_batch`: what does a marker or a KRaft control record say, and does recovery accept it?
- `compression`, `lz4_frame`, `zstd_frame`, `decompressed`: what do Kafka's decompressors return?
- `new_entries`: which bytes does a broker store for new records?
- `entry_file`: which entries does an index file have?
- `metadata_features`: which metadata.version do bytes of a KRaft log mention?
- `json_reader`: what does Kafka's JSON parser read?
"""
