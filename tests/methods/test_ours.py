"""Our own methods in the common form: the same results as by their own calls, with roles and knowledge."""

import numpy as np
import pandas as pd
import pytest

from disco import DISCO
from disco.errors import FitStopped, InputError
from disco.knowledge import Knowledge
from disco.methods import find, options_of
from disco.paper.stagewise import stagewise
from disco.refine import Choice, refine

SHORT = {"joint_epochs": 3, "joint_steps": 0, "projection_epochs": 3, "projection_steps": 0, "width": 16}
FIT = {"settings": SHORT, "device": "cpu", "seed": 3}


def table(rows: int = 300) -> pd.DataFrame:
    """a → b → c, and a batch that moves a and c."""
    rng = np.random.default_rng(1)
    site = np.arange(rows) % 2
    a = rng.poisson(3 + 3 * site)
    b = rng.poisson(1 + a)
    return pd.DataFrame({"c": rng.poisson(1 + b + 4 * site), "a": a, "b": b, "site": site})


TABLE = table()
COUNTS = TABLE.drop(columns="site")
ROLES = {"site": ("covariate", "categorical")}


VARIANTS = [("disco", {}), ("disco-norank", {"transform": "none"}), ("disco-constant", {"criterion": "constant"})]


@pytest.mark.parametrize(("name", "changes"), VARIANTS)
def test_a_fit_is_the_same_as_by_its_own_class(name, changes):
    found = find(name, COUNTS, FIT)
    model = DISCO("tuned", "cpu", seed=3, **SHORT, **changes).fit(COUNTS)
    assert found.order == model.order_ and found.adjacency(model.feature_names_in_).equals(model.adjacency_)
    means = model.ocs_.groupby(["parent", "child"])["z"].mean()
    assert found.scores.set_index(["parent", "child"])["score"].to_dict() == pytest.approx(means.to_dict())
    assert len(found.scores) == 3


@pytest.mark.parametrize("kind", ["direct", "recursive"])
def test_a_stagewise_projection_gives_its_own_order_and_the_fit_s_scores_along_it(kind):
    found = find(f"disco-{kind}", COUNTS, FIT)
    fitted = DISCO("tuned", "cpu", seed=3, projection="network", **SHORT).fit(COUNTS).fitted_
    assert found.order == stagewise(fitted, kind).order
    means = fitted.candidates(found.order, "clipped").groupby(["parent", "child"])["z"].mean()
    assert found.scores.set_index(["parent", "child"])["score"].to_dict() == pytest.approx(means.to_dict())
    assert all(found.order.index(parent) < found.order.index(child) for parent, child in found.directed)


def test_a_refinement_is_the_same_as_by_its_own_call_and_says_what_is_open():
    found = find("refined", TABLE, {"seed": 2, "starts": 2, "restarts": 0}, roles=ROLES)
    own = refine(TABLE, Choice(starts=2, restarts=0, seed=2, folds=0, bootstrap=0), roles=ROLES)
    assert found.order == own.order
    told = own.edges.set_index(["parent", "child"])["decided"]
    assert not told.all() and set(found.directed) == set(told.index[told])
    assert set(found.undirected) == set(told.index[~told])
    assert set(found.likelier) == set(told.index)
    assert found.scores["score"].tolist() == own.edges["gain_nats"].tolist()


@pytest.mark.parametrize(("name", "changes"), [("disco", FIT), ("refined", {"starts": 1, "restarts": 0})])
def test_roles_and_knowledge_reach_it(name, changes):
    backwards = Knowledge(tiers=(("c",), ("b",), ("a",)))
    found = find(name, TABLE, changes, roles=ROLES, knowledge=backwards)
    assert found.order == ["c", "b", "a"] and not any("cannot use" in note for note in found.notes)


def test_roles_change_the_scores():
    asked = {"starts": 1, "restarts": 0}
    alone, adjusted = (find("refined", TABLE, asked, roles=roles).scores for roles in ({"site": "ignore"}, ROLES))
    assert not alone.equals(adjusted)


def test_it_refuses_settings_that_do_not_exist_and_stops():
    with pytest.raises(InputError, match="unknown setting 'depth'"):
        find("disco", COUNTS, {"settings": {"depth": 2}})
    with pytest.raises(InputError, match="settings must map settings to values"):
        options_of("disco", {"settings": "depth"})
    for odd in ({"device": "cpu"}, {"preset": "paper"}, {1: 2}):
        with pytest.raises(InputError, match="settings must not contain"):
            find("disco", COUNTS, {"settings": odd})
    for name in ("disco", "refined"):
        with pytest.raises(FitStopped):
            find(name, COUNTS, FIT if name == "disco" else {}, callback=lambda event: False)
