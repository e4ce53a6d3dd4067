"""The script that spark-submit starts. It runs kcheck from the zip next to it."""

import sys


def _run() -> None:
    try:
        from kcheck.cli.app import main
    except ModuleNotFoundError as error:
        said = f"kcheck: {sys.executable}, the Python of the driver, has no {error.name}: pip install 'kcheck[spark]'"
        print(said, file=sys.stderr)
        sys.exit(2)
    sys.argv[0] = "kcheck"
    main()


if __name__ == "__main__":
    _run()
