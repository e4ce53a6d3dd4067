"""`kcheck version`: the versions of kcheck, Python and Kafka."""

import sys


def version() -> None:
    """Show the versions of kcheck and Python, and the Kafka releases that it knows."""
    from kcheck import __version__
    from kcheck.core.releases.releases import AS_OF, TABLE, TESTED

    print(f"kcheck {__version__}, Python {sys.version.split()[0]}, tested against Kafka {', '.join(TESTED)}")
    print(f"knows the releases {TABLE[0].first} to {TABLE[-1].last}, as of {AS_OF}")
