"""A third case study in a few lines: its runs are found, made and started, and every section of its page draws."""

import dataclasses

import numpy as np
import pandas as pd
from app_world import button
from made_up import candidates, ordering, refine_by_hand
from streamlit.testing.v1 import AppTest

from disco.knowledge import Knowledge
from disco.parents.ocs import select
from disco.refine import QUICK
from disco.runs import FIT, REFINE, Run, create_run, results
from disco.settings import Settings
from disco.studies import group
from disco.studies.study import Study, Wanted
from disco.table.roles import Roles

# The study

STUDY = Study("ponds", "Ponds", "Count them.", "Nobody.", {"R": (("fish", "fly"),)}, "A guess.")
TABLE = pd.DataFrame(np.random.default_rng(1).poisson(3.0, (60, 3)), columns=["fish", "fly", "frog"]).assign(
    day=np.arange(60)
)
SEASON = Roles({"day": "covariate"})
WANTED = [
    Wanted("plain", "Ponds, plain", TABLE, Settings(), Roles({"day": "ignore"}), choice=QUICK),
    Wanted("by day", "Ponds, by day", TABLE, Settings(), SEASON, choice=QUICK),
]


def page() -> None:
    from test_pages_studies import STUDY, TABLE, WANTED

    from pages.shared.refined import refinement
    from pages.shared.studies import agreement, graphs, group

    group.head(STUDY)
    done = group.section("ponds", WANTED, "Search", "Seconds.")
    found = {label: refinement.of(run).refined.found for label, run in done.items()}
    if len(found) == len(WANTED):
        graphs.section(STUDY, done, list(found), {})
        agreement.section(STUDY, {"refined": found}, TABLE.drop(columns="day"))
        agreement.arrows(STUDY, {"refined": found})


# Its tests


def test_every_section_of_its_page(started):
    at = AppTest.from_function(page, default_timeout=60).run()
    assert at.title[0].value == "Ponds" and not at.info
    button(at, "Search: plain, by day").click().run()
    assert not at.exception and [one[1:] for one in started] == [(REFINE, QUICK)] * 2
    for run, *_ in started:
        refine_by_hand(run)
        run.update(REFINE, state="done", progress=1.0)
    at.run()
    assert not at.exception, at.exception
    assert at.info[0].value == "A guess."  # beside the references
    edges, scores = (one.value for one in at.dataframe)
    assert edges["change"].tolist() == ["In both"] * 2
    assert scores["R"].tolist() == [1.0] * 3 and scores["run"].tolist() == ["plain", "by day", "mean"]
    assert {one.key for one in at.button} >= {"ponds_open_plain", "ponds_open_by day"}


def made(wanted: Wanted, **more) -> Run:
    return create_run(wanted.table, wanted.settings, name="x", **{"roles": wanted.roles, **more})


def test_runs_are_found_by_table_roles_and_settings_whoever_made_them():
    plain, by_day = made(WANTED[0]), made(WANTED[1])
    made(WANTED[1], knowledge=Knowledge(forbidden=[("fly", "fish")]))
    made(dataclasses.replace(WANTED[0], table=TABLE.iloc[::-1]))
    made(dataclasses.replace(WANTED[0], settings=Settings(seed=1)))
    made(dataclasses.replace(WANTED[0], table=TABLE.rename(columns={"fly": "flea"})))
    assert group.find(WANTED) == {"plain": plain, "by day": by_day}
    assert group.missing(WANTED, group.find(WANTED)) == WANTED  # nobody has asked for their refinement
    free = dataclasses.replace(WANTED[0], settings=Settings(seed=1, tau_z=9.0), free=("tau_z",))
    assert group.find([free])["plain"].settings.seed == 1


def test_a_finished_run_comes_before_a_begun_one_and_that_before_a_newer_one():
    wanted = dataclasses.replace(WANTED[0], choice=None)
    first, second, third = (made(wanted) for _ in range(3))
    assert group.find([wanted])["plain"] == third and group.missing([wanted], {"plain": third})
    first.update(state="cancelled")
    assert group.find([wanted])["plain"] == first and not group.missing([wanted], {"plain": first})
    nodes = second.nodes
    ocs = candidates(nodes)
    results._frames(second.path, nodes, *ordering(nodes), ocs, select(ocs, 2.0, 1.0))
    second.update(state="done")
    assert group.find([wanted])["plain"] == second


def test_what_is_missing_is_made_and_started(started):
    run = group.start(WANTED[1])
    assert run.name == "Ponds, by day" and run.roles == SEASON
    fit = dataclasses.replace(WANTED[1], choice=None)
    assert group.start(fit, run) == run and started == [(run, REFINE, QUICK), (run, FIT)]
