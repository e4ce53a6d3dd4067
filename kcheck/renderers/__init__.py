"""How a report leaves, onto a stream."""
