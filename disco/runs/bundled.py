"""The example: a finished run that comes with the program, as `datasets/example.zip`."""

from disco.errors import InputError
from disco.files import HOMES
from disco.runs import packing
from disco.runs.folder import Run
from disco.runs.listing import is_kept, open_run


def example() -> Run:
    """The example as a run like any other, in the folder of runs: put there when it is first opened, and after that
    found again, unless it was deleted.

    Its networks are left out: pages show all of its results, but no curvature and no order by another criterion.

    Raises:
        InputError: the file is not there, or the folder of runs cannot be written.
    """
    path = next((found for home in HOMES if (found := home / "datasets" / "example.zip").is_file()), None)
    if path is None:
        raise InputError("The example is not installed: load a sample instead.")
    run_id = packing.run_id(path)
    if is_kept(run_id):
        return open_run(run_id)
    with open(path, "rb") as file:
        return packing.unpack(file)
