"""What an exported graph says of itself."""

import numpy as np
import pandas as pd
from made_up import finished_run, refine_by_hand

import disco
from disco.runs import artefacts
from disco.runs.artefacts import Artefacts
from disco.subjects.graph.provenance import about, table_digest
from disco.subjects.refinement.refined import read_refined
from disco.table.finding import Finding
from disco.verdicts import of_refinement


def test_the_digest_is_of_names_and_counts_whatever_the_order_of_columns():
    table = pd.DataFrame({"b": [1, 2], "a": [3, 4]})
    assert table_digest(table) == table_digest(table[["a", "b"]]) == table_digest(table.astype(np.int16))
    others = [table.rename(columns={"a": "c"}), table.iloc[::-1], table + 1, table.rename(columns={"a": "b", "b": "a"})]
    assert len({table_digest(other) for other in [table, *others]}) == 5


def test_every_fact_is_one_value():
    run = finished_run(3, name="mine")
    assert about(run, "DISCO", tau_z=2.0, pi_min=1.0) == {
        **{"program": "DISCO", "version": disco.__version__, "run": "mine", "run_id": run.id, "method": "DISCO"},
        **{"tau_z": 2.0, "pi_min": 1.0, "seed": run.settings.seed, "rows": 60, "columns": 3},
        "table_sha256": table_digest(run.table()),
    }
    assert about(run, "likelihood refinement", seed=7)["seed"] == 7


def test_what_was_dismissed_stands_with_what_was_found():
    run = finished_run(3)
    found = Finding("depth", "Totals explain 97 % of it.", "Adjust for it.")
    artefacts.write(run.path, Artefacts((found,)))
    assert about(run, "DISCO")["artefacts"] == "Totals explain 97 % of it. Adjust for it."
    artefacts.dismiss(run, {"depth": "All plots are equal."})
    told = about(run, "DISCO")
    assert told["dismissed"] == "Totals explain 97 % of it. Dismissed: All plots are equal." and "artefacts" not in told


def test_a_refinement_says_how_sure_its_directions_are():
    run = finished_run(6)
    refine_by_hand(run)
    found = of_refinement(read_refined(run), 10.0)
    assert about(run, "likelihood refinement")["verdict"] == f"{found.text} {found.advice}"
    assert "verdict" not in about(run, "DISCO")
