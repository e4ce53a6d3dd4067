"""kcheck.rules."""
