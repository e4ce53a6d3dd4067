"""What Kafka reads in the same bytes as kcheck: files, batches, records, ZooKeeper."""
