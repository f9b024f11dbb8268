"""The process of long work on a run, started by `disco.work.jobs`."""

import sys

from disco.work.jobs import main

if __name__ == "__main__":
    sys.exit(main())
