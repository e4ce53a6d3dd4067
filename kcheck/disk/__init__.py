"""The only package that touches a file. Nothing here writes."""
