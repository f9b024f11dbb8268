"""The process that works on a run of a server's user: `python -m disco.server.user_worker`."""

import sys

from disco.server import many_users
from disco.subjects.__main__ import main

if __name__ == "__main__":
    many_users.work_for_one()
    sys.exit(main())
