"""The `kcheck` command, also as `python -m kcheck`."""

import sys


def main() -> None:
    """Run the command line and exit; ^C while Python still loads it ends it as later."""
    try:
        from kcheck.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
