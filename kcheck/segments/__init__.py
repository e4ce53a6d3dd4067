"""Segments read from their start: batches as columns, indexes, records, producers and transactions against them."""
