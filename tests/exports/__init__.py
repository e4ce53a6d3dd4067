"""The records of logs for producers."""
