"""The only package that touches a file."""
