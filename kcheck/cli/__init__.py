"""The command line: one module per command, and the only package that imports typer."""
