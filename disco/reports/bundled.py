"""The example: a finished run included in the program, as `datasets/example.zip`."""

from disco.errors import InputError
from disco.files import HOMES
from disco.reports import packing
from disco.runs.folder import Run
from disco.runs.listing import is_kept, open_run


def example() -> Run:
    """The example as an ordinary run in the folder of runs: copied there when first opened, and reused unless deleted.

    It lacks the networks: pages show all of its results, except curvature and orders by other criteria.
    """
    path = next((candidate for home in HOMES if (candidate := home / "datasets" / "example.zip").is_file()), None)
    if path is None:
        raise InputError("The example is not installed: load a sample instead.")
    run_id = packing.run_id(path)
    if is_kept(run_id):
        return open_run(run_id)
    with open(path, "rb") as file:
        return packing.unpack(file)
