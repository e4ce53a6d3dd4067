"""What a bundle lists, and what its members stand for: batch headers, and the bytes that readers get for records."""
