"""kcheck: checks a Kafka broker's log directories offline."""

__version__ = "0.1.0"
