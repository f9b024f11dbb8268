"""Where the app sends its work: this machine, or a Dask cluster. The choice is kept in the folder of runs."""

import os

from disco import cluster
from disco.errors import printable
from disco.files import read_json, unwritten, write_json
from disco.space import common_root

_FILE, _MOST_BYTES, _LONGEST = ".cluster.json", 1 << 12, 200


def address() -> str:
    """The scheduler's address, empty for this machine; $DISCO_CLUSTER until something else is chosen."""
    try:
        stored = read_json(common_root() / _FILE, _MOST_BYTES)["address"]
    except (OSError, ValueError, TypeError, KeyError):
        return os.environ.get(cluster.VARIABLE, "")
    return printable(stored, _LONGEST) if isinstance(stored, str) else ""


def choose(address: str) -> int:
    """Send work that begins from now on to an address, or to this machine if it is empty; returns the number of
    workers.

    An `InputError` if the cluster cannot be used; the previous choice stays.
    """
    address = address.strip()
    workers = cluster.workers(address) if address else 0
    try:
        write_json(common_root() / _FILE, {"address": address})
    except OSError as error:
        raise unwritten(common_root(), error) from error
    return workers
