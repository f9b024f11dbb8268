"""Runs on disk, shared by long fits and the pages.

A run is a folder of plain files. Nothing in it is ever unpickled, and everything is checked on reading.

    settings.json          format version, id, name, source, time, requested device, rows, nodes, every setting
    name.txt               the name given later; settings.json never changes
    status.json            state, stage, progress 0–1, eta, error, versions, device, estimate and how far off it was
    lock, worker.log       who works on the run (`disco.runs.locks`), and what that process printed
    events.jsonl           one line per fold and epoch: epoch, stage, fold, train, validation (null: not measured)
    table.parquet          the counts as given; truth.csv (parent, child, direction) if the true edges are known
    artefacts.json         what in the table creates edges, and why some of it was dismissed (`disco.runs.artefacts`)
    roles.json             the roles of columns that are not counts; beside.parquet has those columns as given
    order.csv              position from 1, node; source first
    ccs.csv, criteria.csv  concrete scores of the recursive sink removal, and of the other criteria along it
    ocs.csv, edges.csv     every candidate in every fold, and the selected edges
    parents_NAME.csv       every candidate by the selector cam, pcm or evidence, from the fit or computed later
    training.json          best epochs of each stage
    digests.json           of the fit's files, so that no other ones are taken for them (`disco.runs.digests`)
    networks.safetensors   weights; checkpoint.safetensors while a fit is unfinished
    variants/NAME/         order, ccs, criteria, ocs, edges recovered later from the same networks
    compare*, comparing*   other methods on the same table (`disco.runs.compared`)
    refined*, refining*    a refinement (`disco.runs.refined`), and one that is not finished (`disco.work.refining`)
"""

from disco.runs import artefacts
from disco.runs.bundled import example
from disco.runs.folder import Run
from disco.runs.listing import Unreadable, find_examples, find_runs, is_kept, list_runs, open_run
from disco.runs.making import create_run
from disco.runs.status import COMPARE, FIT, REFINE, Status, Work
from disco.users.roots import runs_root

__all__ = [
    "COMPARE",
    "FIT",
    "REFINE",
    "Run",
    "Status",
    "Unreadable",
    "Work",
    "artefacts",
    "create_run",
    "example",
    "find_examples",
    "find_runs",
    "is_kept",
    "list_runs",
    "open_run",
    "runs_root",
]
