"""What several brokers do: elect, truncate, lose records, come back."""
