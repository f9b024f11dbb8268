"""python -m disco.server.worker: the process that works on a run of a server's user, as `disco.subjects`."""

import sys

from disco.server import many_users
from disco.work import jobs

if __name__ == "__main__":
    many_users.work_for_one()
    sys.exit(jobs.main())
