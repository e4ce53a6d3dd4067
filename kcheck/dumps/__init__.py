"""What `kcheck dump` shows of a file, row by row."""
