"""The `kcheck` command, also as `python -m kcheck`."""

import os
import sys

_WITHOUT_ASSERTIONS = "1"
"""The value of PYTHONOPTIMIZE that keeps docstrings."""


def main() -> None:
    """Run the command line and exit; ^C while Python still loads it ends it as later.

    Help and pages are docstrings. An environment that strips them starts the command again, with them.
    """
    if sys.flags.optimize > 1 and os.environ.get("PYTHONOPTIMIZE", _WITHOUT_ASSERTIONS) != _WITHOUT_ASSERTIONS:
        os.environ["PYTHONOPTIMIZE"] = _WITHOUT_ASSERTIONS
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - this command
    try:
        from kcheck.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
