"""The only package that touches a file. Only `output` writes, and never into what is looked at."""
