"""Runs of a table are found among all runs."""

import numpy as np
import pandas as pd
from made_up import candidates, ordering

from disco.knowledge import Knowledge
from disco.paper.ocs import select
from disco.paper.settings import Settings
from disco.reports import matching
from disco.runs import create_run
from disco.subjects import FIT, REFINE
from disco.subjects.fit import results
from disco.table.roles import Roles

TABLE = pd.DataFrame(np.random.default_rng(1).poisson(3.0, (60, 3)), columns=["fish", "fly", "frog"]).assign(
    day=np.arange(60)
)
PLAIN = {"table": TABLE, "settings": Settings(), "name": "plain", "roles": Roles({"day": "ignore"})}
BY_DAY = {**PLAIN, "name": "by day", "roles": Roles({"day": "covariate"})}
BOTH = {"plain": PLAIN, "by day": BY_DAY}


def test_runs_are_found_by_table_roles_and_settings_whoever_made_them():
    plain, by_day = create_run(**PLAIN), create_run(**BY_DAY)
    create_run(**BY_DAY, knowledge=Knowledge(forbidden=[("fly", "fish")]))
    create_run(**{**PLAIN, "table": TABLE.iloc[::-1]})
    create_run(**{**PLAIN, "settings": Settings(seed=1)})
    create_run(**{**PLAIN, "table": TABLE.rename(columns={"fly": "flea"})})
    assert matching.find(BOTH, FIT) == {"plain": plain, "by day": by_day}
    free = {**PLAIN, "settings": Settings(seed=1, tau_z=9.0, pi_min=0.5, boundary="admissible")}
    assert matching.find({"free": free}, FIT)["free"].settings == Settings(seed=1)


def test_a_finished_run_comes_before_a_begun_one_and_that_before_a_newer_one():
    first, second, third = (create_run(**PLAIN) for _ in range(3))
    assert matching.find(BOTH, FIT) == {"plain": third} and matching.progress(third, FIT) == 0
    first.update(FIT, state="cancelled")
    assert matching.find(BOTH, FIT) == {"plain": first} and matching.progress(first, FIT) == 1
    ocs = candidates(second.nodes)
    results._frames(second.path, second.nodes, *ordering(second.nodes), ocs, select(ocs, 2.0, 1.0))
    second.update(FIT, state="done")
    assert matching.find(BOTH, FIT) == {"plain": second} and matching.progress(second, REFINE) == 0
