"""What the members of a bundle stand for: rows of batch headers, and the bytes that readers get instead of records."""
