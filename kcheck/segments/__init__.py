"""The contents of a partition's segments (batches, records, producers, transactions, and indexes).

A partition is a log of records with ascending offsets. Kafka divides the log into segments. A segment is a `.log` file,
named by its first offset, with two indexes. `.index` maps offsets to positions, `.timeindex` maps timestamps to
offsets. A `.log` is a sequence of batches. A batch has a header of 61 bytes with a CRC, then records, which may be
compressed.

Decides: where the valid data of a segment ends and why. It finds wrong batches, records, index entries and producer
snapshots, and aborted transactions. It gives facts; `rules/` decides which of them are findings. Comes in: a `Source`,
or the `Files` of a directory (`model.source`). No file is opened by path here. Goes out: `model.segments.SegmentView`
for a segment, `model.producers.ProducersView` for a partition.

- Where does the valid data of a `.log` end, and is the next batch incomplete or corrupt?
  `batches` reads the headers one by one (`Walk`), `header_columns` many as columns (`HeaderReader`).
  For a window of many batches `batch_boundaries` finds the beginning of each.
  Its `_walk` detects the incomplete batch (`End.TORN`).
- Where does the log end, if only its last index entries are read, and with which batch?
  `batches`: `tail_start`, `last_batch`
- Is a segment missing between two others?
  `gaps` looks at their ends alone.
- Which batches are corrupt, and which offsets are missing, for consumers and followers?
  `batch_faults`
- Does its time index date a segment before its records, or show that the broker closed it?
  `index_dates`
- Which records do reads through its offset index skip?
  `index_lookups`
- Which aborted transactions do reads not find in its transaction index?
  `aborted_lookups`
- Do valid batches follow the corruption, or only zeros?
  `batches_after_damage`
- What does a segment contain from its first byte to its last?
  `segment` asks `plain_segment` (few batches without a fault, no numpy), or else `columnar_segment` (everything).
  Its `_BatchChecks` finds wrong CRCs, offsets, epochs and record counts.
- Do the indexes agree with the batches?
  `indexes`
- Do the records inside of a batch agree with its header?
  `batch_records` decodes them with `record_columns`.
- Which values do the records have, in a topic without keys?
  `record_values`
- Which keys do its newest records have?
  `record_keys`
- Which transactions were aborted, which are open?
  `transactions`
- Do sequence numbers continue, and do producer snapshots agree with the batches?
  `producer_tracking` looks within a segment, `producers` across segments, `producer_snapshots` at the files.
- What does an interrupted compaction leave for the next start?
  `swaps`
- Is a segment outside of the times that the user asked for?
  `time_span`
- Do two replicas have the same batches?
  `replica_difference`

Segments are read one by one, so that processes can share the work. Open transactions and producers pass from one
segment to the next. They are joined afterwards in offset order (`transactions.continue_transactions`,
`producers.join_ranges`).
"""
