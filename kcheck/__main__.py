"""`python -m kcheck`."""

from kcheck.cli.app import main

main()
