"""The example that comes with the program: opened once, found again, shown by every result page."""

import io
import zipfile

from app_world import booted, texts
from streamlit.testing.v1 import AppTest

from disco import runs
from disco.files import HOMES
from disco.reports.bundled import example
from disco.reports.packing import pack
from disco.subjects import FIT, REFINE


def test_the_example_is_put_among_the_runs_once():
    run = example()
    assert runs.list_runs() == [run] and run.path.parent == runs.runs_root()
    assert run.status(FIT).state == run.status(REFINE).state == "done" and len(run.truth()) == 55
    assert run.settings.preset == "tuned" and run.settings.seed == 0
    run.rename("mine")
    assert example() == run and example().name == "mine" and len(runs.list_runs()) == 1
    run.delete()
    assert example().id == run.id and example().name != "mine"


def contents(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_example_is_what_packing_its_run_gives():
    """So the file holds nothing that a run of today would not write, such as the name of a machine."""
    run = example()
    stored = HOMES[0] / "datasets" / "example.zip"
    assert contents(pack(run)) == contents(stored.read_bytes()) and stored.stat().st_size < 150_000
    assert run.status(FIT).host == run.status(REFINE).host == ""


def test_every_page_shows_the_example():
    run = example()
    for page in ("train", "ordering", "parents", "graph"):
        at = booted(page, run=run.id)
        assert not at.error, texts(at)


def test_without_networks_no_order_can_be_found_again():
    def section() -> None:
        from disco.reports.bundled import example
        from pages.shared.result import fit

        fit.variants_section(example())

    at = AppTest.from_function(section).run()
    assert not at.exception and "needs the run's fitted networks" in texts(at)
    again = [found for found in at.button if found.label == "Order again"]
    assert len(again) == 3 and all(found.disabled for found in again)
