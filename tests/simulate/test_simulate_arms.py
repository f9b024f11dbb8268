"""Arms of a simulated experiment: exact distributions, unchanged controls, roles, and what an experiment shows."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from disco.__main__ import main
from disco.columns import BY_EXPERIMENT, KNOWN, UNKNOWN
from disco.errors import InputError
from disco.simulate import Design, ising, simulate
from disco.table.prepared import prepare

PAIR = Design(graph="chain", nodes=2, rows=500, family="poisson-log", seed=5)


@pytest.mark.parametrize("kind", ["set", "shift"])
@pytest.mark.parametrize("family", ["poisson-softplus", "ising"])
def test_arms_come_after_the_controls_and_change_none_of_them(kind, family):
    plain = Design(graph="complete", nodes=5, rows=300, family=family, seed=2)
    with_arms = simulate(plain.replace(interventions=["x4", "x2"], intervention_rows=50, intervention_kind=kind))
    pd.testing.assert_frame_equal(with_arms.table.iloc[:300], simulate(plain).table)
    assert with_arms.whole["intervention"].tolist() == ["control"] * 300 + ["x4"] * 50 + ["x2"] * 50


def test_a_node_that_is_set_has_one_value_and_only_its_descendants_change():
    drawn = simulate(
        Design(
            graph="own", edges=(("a", "b"), ("b", "c"), ("a", "d")), rows=20_000,
            interventions=("b",), intervention_rows=20_000, seed=1,
        )
    )  # fmt: skip
    controls, arm = drawn.table.iloc[:20_000], drawn.table.iloc[20_000:]
    assert arm["b"].nunique() == 1 and arm["b"].iloc[0] in np.quantile(controls["b"], [0.05, 0.95])
    ratio = arm.mean() / controls.mean()
    assert ratio[["a", "d"]].to_numpy() == pytest.approx(1, abs=0.03) and abs(ratio["c"] - 1) > 0.1


def test_a_shift_multiplies_the_mean_and_leaves_the_parents_in_place():
    """Given its parent's value, the mean of a shifted node is e^±0.4 times that of the controls."""
    drawn = simulate(
        PAIR.replace(rows=60_000, interventions=["x2"], intervention_rows=60_000, intervention_kind="shift",
                     intervention_effect=0.4)
    )  # fmt: skip
    means = drawn.table.groupby([drawn.table["x1"], drawn.beside["intervention"]])["x2"].mean().unstack().loc[:3]
    sign = 1 if drawn.arms.up[0] else -1
    assert (means["x2"] / means["control"]).to_numpy() == pytest.approx(np.full(4, np.exp(0.4 * sign)), rel=0.05)


@pytest.mark.parametrize("kind", ["set", "shift"])
def test_an_arm_of_an_ising_model_is_its_truncated_factorisation(kind):
    rows = 40_000
    drawn = simulate(
        Design(graph="complete", nodes=4, rows=rows, family="ising", interventions=["x2"], intervention_rows=rows,
               intervention_kind=kind, intervention_effect=1.5, seed=4)
    )  # fmt: skip
    plain = simulate(Design(graph="complete", nodes=4, rows=200_000, family="ising", seed=4))
    states = ising.states(4)
    joint = np.array([(plain.table.to_numpy() == state).all(1).mean() for state in states])
    order = [list(drawn.table.columns).index(name) for name in drawn.order]
    told = _from_joint(joint, order, 1, kind, bool(drawn.arms.up[0]))
    arm = drawn.table.iloc[rows:].to_numpy()
    seen = np.array([(arm == state).all(1).mean() for state in states])
    assert seen == pytest.approx(told, abs=0.012)


def _from_joint(joint: np.ndarray, order: list[int], target: int, kind: str, up: bool) -> np.ndarray:
    """The probability of every state in an arm, by the product of conditional probabilities along the order."""
    states = ising.states(len(order))
    found = np.ones(len(states))
    for number, node in enumerate(order):
        for at, state in enumerate(states):
            same = (states[:, order[:number]] == state[order[:number]]).all(1)
            one = joint[same & (states[:, node] == 1)].sum() / joint[same].sum()
            if node == target:
                one = float(up) if kind == "set" else expit(logit(one) + (1.5 if up else -1.5))
            found[at] *= one if state[node] else 1 - one
    return found


def test_the_truth_says_what_an_experiment_shows():
    """x1 → x2 → x3 → x4, none known: setting x2 tells x1 → x2 and x2 → x3, which it separates, and not x3 → x4."""
    chain = Design(graph="chain", nodes=4, family="poisson-log", rows=100)
    assert set(simulate(chain).truth["direction"]) == {UNKNOWN}
    shown = simulate(chain.replace(interventions=["x2"])).truth
    assert shown["direction"].tolist() == [BY_EXPERIMENT, BY_EXPERIMENT, UNKNOWN]
    known = simulate(chain.replace(family="poisson-softplus", interventions=["x2"])).truth
    assert set(known["direction"]) == {KNOWN}


def test_the_roles_fit_the_table():
    drawn = simulate(PAIR.replace(interventions=1, intervention_kind="shift", batches=2))
    done = prepare(drawn.whole, drawn.design.roles()).adjustment.interventions
    assert done.kind == "shift" and (np.bincount(done.arm) == [500, 250]).all()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"interventions": 3}, "interventions must be a whole number from 0 to 2"),
        ({"interventions": ["x9"]}, '"x9" is on no node'),
        ({"interventions": ["x1", "x1"]}, "two interventions"),
        ({"interventions": 1.5}, "a number or the names of nodes"),
        ({"interventions": ["a;b"], "names": ["a;b", "c"]}, "rename"),
        ({"interventions": 2, "intervention_rows": 40_000_000}, "fewer rows or nodes"),
        ({"interventions": 1, "names": ["intervention", "c"]}, "rename the node"),
        ({"interventions": 1, "family": "gaussian-gp"}, "families of counts"),
    ],
)
def test_impossible_interventions_are_refused(changes, why):
    with pytest.raises(InputError, match=why):
        PAIR.replace(**changes)


def test_the_command_line_draws_the_same_table_from_the_design_that_it_writes(tmp_path):
    options = "--graph chain --d 4 --n 60 --interventions x3,x1 --intervention-rows 20 --intervention-kind shift"
    main(["simulate", *options.split(), "--intervention-effect", "0.5", "--out", str(tmp_path / "a")])
    main(["simulate", "--design", str(tmp_path / "a" / "design.json"), "--out", str(tmp_path / "b")])
    assert (tmp_path / "a" / "counts.csv").read_bytes() == (tmp_path / "b" / "counts.csv").read_bytes()
    assert len(pd.read_csv(tmp_path / "a" / "counts.csv")) == 100
    roles = json.loads((tmp_path / "a" / "roles.json").read_text())
    assert roles["columns"] == {"intervention": {"role": "intervention", "kind": "shift"}}
