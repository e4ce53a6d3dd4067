"""The files of a log directory: bytes in, values out, and what the broker's own reader makes of the bytes."""
