"""Data: a file of cells and genes, and the choice of the genes that become columns."""

import numpy as np
from app_world import booted, button, draft_of, press, texts, upload
from cells_by_genes import counts, h5ad, tenx

from disco.table.read import MATRIX

COUNTS = counts(90, 60)
NAMES = [f"g{place}" for place in range(60)]
READ = "Read these genes"


def key(at, part):
    return f"genes_{draft_of(at).key}_{part}"


def test_fifty_genes_come_first_and_others_can_be_read():
    at = upload(booted(), "t.h5", tenx(COUNTS, genes=NAMES))
    assert not at.exception and draft_of(at).table.shape == (90, 50)
    assert "Read 50 genes by Pearson residuals, of 90 cells × 60 genes" in [one.label for one in at.expander]
    assert not button(at, "Find the graph").disabled and not at.multiselect  # such a file has no obs
    at.number_input(key=key(at, "many")).set_value(4)
    at.button_group(key=key(at, "way")).set_value("variance").run()
    press(at, READ)
    most = sorted(COUNTS.var(0).argsort()[-4:])
    assert draft_of(at).table.columns.tolist() == [NAMES[place] for place in most]
    assert draft_of(at).description.endswith("Read 4 genes by variance.")
    press(at, "Undo the last step")
    assert draft_of(at).table.shape == (90, 50) and not at.exception


def test_genes_by_name_and_a_layer():
    at = upload(booted(), "t.h5ad", h5ad(COUNTS / 2, genes=NAMES, counts=COUNTS))
    assert 'so the layer "counts" was read' in texts(at)
    at.button_group(key=key(at, "way")).set_value("names").run()
    at.text_area(key=key(at, "names")).set_value("g5?\ng1").run()
    press(at, READ)
    table = draft_of(at).table
    assert table.columns.tolist() == ["g1", *NAMES[50:]] and (table.to_numpy() == COUNTS[:, [1, *range(50, 60)]]).all()
    assert table.attrs[MATRIX]["layer"] == "counts"


OBS = {"batch": {"codes": np.arange(90) % 3, "categories": ["1", "2", "3"]}, "age": np.arange(90) / 7}


def test_columns_of_obs_come_along_and_their_roles_are_guessed():
    at = upload(booted(), "t.h5ad", h5ad(COUNTS, genes=NAMES, obs=OBS))
    told = texts(at).replace("\\", "")
    assert "Columns of obs that were left out: age, batch." in told and "look like something else" not in told
    assert at.multiselect(key=key(at, "obs")).options == ["age", "batch"]
    at.multiselect(key=key(at, "obs")).set_value(["batch", "age"]).run()
    press(at, READ)
    table = draft_of(at).table
    assert not at.exception and table.columns.tolist()[-2:] == ["batch", "age"] and table.shape == (90, 52)
    assert draft_of(at).description.endswith("Read 50 genes by Pearson residuals with batch, age.")
    assert at.multiselect(key=key(at, "obs")).value == ["batch", "age"]
    assert "2 columns do not look like counts" in texts(at)
    press(at, "Accept all guesses")
    assert draft_of(at).roles.columns == {"batch": ("covariate", "categorical"), "age": ("covariate", "continuous")}
    assert len(draft_of(at).columns) == 50 and not button(at, "Find the graph").disabled
    at.number_input(key=key(at, "many")).set_value(6).run()
    press(at, READ)
    assert draft_of(at).roles.named("covariate") == ["batch", "age"] and len(draft_of(at).columns) == 6
    at.multiselect(key=key(at, "obs")).set_value([]).run()
    press(at, READ)
    assert not at.exception and draft_of(at).table.shape == (90, 6) and draft_of(at).roles.needed() is None


def test_a_choice_that_cannot_be_read_keeps_the_table():
    obs = {name: np.arange(90) for name in NAMES}
    at = upload(booted(), "t.h5ad", h5ad(COUNTS / 2, genes=NAMES, obs=obs, counts=COUNTS))
    before = draft_of(at)

    def refused(words):
        press(at, READ)
        assert draft_of(at) is before and not at.exception
        said = [found.value for found in at.error]
        assert any(words in one and "is unchanged" in one for one in said), said

    at.multiselect(key=key(at, "obs")).set_value([str(before.table.columns[3])]).run()
    refused("a gene and a column of obs called")
    at.multiselect(key=key(at, "obs")).set_value([]).run()
    at.button_group(key=key(at, "way")).set_value("names").run()
    at.text_area(key=key(at, "names")).set_value("nope")
    refused("has no gene")


def test_names_of_genes_and_layers_are_data():
    bad = ["<script>alert(1)</script>", "$x$", ":red[a]", "[l](javascript:alert(1))", *NAMES[4:]]
    obs = {":red[o]": np.arange(90) / 3, "<b>x": np.zeros(90)}
    at = upload(booted(), "t.h5ad", h5ad(COUNTS, genes=bad, obs=obs, **{":red[layer]": COUNTS}))
    assert not at.exception and "\\:red\\[" not in at.selectbox(key=key(at, "layer")).options[0]
    assert np.isin(bad[:4], draft_of(at).table.columns).any() and "<script>" not in texts(at).replace("\\<script", "")
