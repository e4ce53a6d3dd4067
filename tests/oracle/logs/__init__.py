"""What brokers write into their own logs, and what the catalogue of messages knows."""
