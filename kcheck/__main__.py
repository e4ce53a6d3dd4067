"""The `kcheck` command, also as `python -m kcheck`."""

import os
import sys

_WITHOUT_ASSERTIONS = "1"
"""The value of PYTHONOPTIMIZE that keeps docstrings."""
_TAKE_VALUES = ("-X", "-W", "--check-hash-based-pycs")
"""Options of Python whose value is the next word."""


def main() -> None:
    """Run the command line and exit; ^C while Python still loads it ends it as later.

    Help and pages are docstrings. An environment that strips them starts the command again, with them.
    """
    if sys.flags.optimize > 1:
        os.environ["PYTHONOPTIMIZE"] = _WITHOUT_ASSERTIONS
        os.execv(sys.executable, [sys.executable, *_with_docstrings(sys.orig_argv[1:])])  # noqa: S606 - this command
    try:
        from kcheck.cli.app import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(130)


def _with_docstrings(arguments: list[str]) -> list[str]:
    """Return the arguments of Python without -O, also in the form -OO or among other letters."""
    kept = list[str]()
    for place, word in enumerate(arguments):
        is_value = bool(kept) and kept[-1] in _TAKE_VALUES
        if not is_value and (not word.startswith("-") or word.startswith("-m")):
            return [*kept, *arguments[place:]]
        letters = word if is_value or word[1:2] in ("-", "X", "W") else word.replace("O", "")
        kept += [letters] if letters != "-" else []
        if letters.endswith("m") and not letters.startswith("--"):
            return [*kept, *arguments[place + 1 :]]
    return kept


if __name__ == "__main__":
    main()
