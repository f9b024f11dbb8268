"""What an exported graph says of itself."""

import numpy as np
import pandas as pd
from made_up import finished_run

import disco
from disco.runs.about import about, table_digest


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
