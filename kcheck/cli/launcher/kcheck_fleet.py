"""What spark-submit starts: kcheck itself, from the zip that stands beside it."""

import sys

if __name__ == "__main__":
    try:
        from kcheck.cli.app import main
    except ModuleNotFoundError as error:
        said = f"kcheck: the driver runs by {sys.executable}, which has no {error.name}: pip install 'kcheck[spark]'"
        print(said, file=sys.stderr)
        sys.exit(2)
    sys.argv[0] = "kcheck"
    main()
