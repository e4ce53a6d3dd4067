"""What the segments of a partition hold: their batches, records, producers and transactions, and their indexes.

A partition is a log of records with ascending offsets. Kafka divides the log into segments. A segment is a `.log` file,
named by its first offset, with two indexes: `.index` maps offsets to positions, `.timeindex` maps timestamps
to offsets. A `.log` is a sequence of batches: a header of 61 bytes with a CRC, then records, which may be compressed.

Decides: where the valid data of a segment ends and why, which batches, records, index entries and producer snapshots
are wrong, and which transactions were aborted. It gives facts; `rules/` says which of them are findings.
Comes in: a `Source`, or the `Files` of a directory (`model.source`); no file is opened by path here.
Goes out: `model.segments.SegmentView` for a segment, `model.producers.ProducersView` for a partition.

Which module answers which question:

    Where does the valid data of a `.log` end: with an incomplete batch, a corrupt one, or intact?
        `batches` reads the headers one by one (`Walk`), `header_columns` many as columns (`HeaderReader`). For a window
        of many batches `batch_boundaries` finds where each begins; its `_walk` detects the incomplete batch
        (`End.TORN`).
    Where does the log end, if only its last index entries are read, and with which batch?
        `batches`: `tail_start`, `last_batch`
    Is a segment missing between two others?
        `gaps`, at their ends alone
    What do consumers and followers not get from a log: which batches are corrupt, which offsets are missing?
        `batch_faults`
    Does its time index date a segment before its records, or show that the broker closed it?
        `index_dates`
    Which records do reads through its offset index pass over?
        `index_lookups`
    Do valid batches follow the damage, or only zeros?
        `batches_after_damage`
    What does a segment contain from its first byte to its last?
        `segment` asks `plain_segment` (few batches without a fault, no numpy), else `columnar_segment`
        (everything), whose `_BatchChecks` finds wrong CRCs, offsets, epochs and record counts.
    Do the indexes agree with the batches?
        `indexes`
    Do the records inside of a batch agree with its header?
        `batch_records`, which decodes them with `record_columns`
    Which values do the records have, in a topic whose records have no keys?
        `record_values`
    Which transactions were aborted, which are open?
        `transactions`
    Do sequence numbers continue, and do producer snapshots agree with the batches?
        `producer_tracking` within a segment, `producers` across segments, `producer_snapshots` for the files
    What does a compaction that was interrupted leave for the next start?
        `swaps`
    Is a segment outside of the times that the user asked for?
        `time_span`
    Do two replicas hold the same batches?
        `replica_difference`

Segments are read one by one, so that processes can share the work. What one passes to the next (open transactions,
producers) is joined afterwards, in offset order: `transactions.continue_transactions`, `producers.join_ranges`.
"""
