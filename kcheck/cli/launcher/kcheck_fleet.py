"""What spark-submit starts: kcheck itself, from the zip that stands beside it."""

import sys

if __name__ == "__main__":
    from kcheck.cli.app import main

    sys.argv[0] = "kcheck"
    main()
