"""Kafka's decisions as pure functions; every one names the class and the releases it holds for."""
