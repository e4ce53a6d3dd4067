"""The published tables: what their columns mean, for csv and Parquet."""
