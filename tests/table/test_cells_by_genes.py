"""Files of cells and genes: the same counts by every layout, and the genes that vary most."""

import io

import h5py
import numpy as np
import pandas as pd
import pytest
from cells_by_genes import GENES, barcodes, counts, h5ad, parts, tenx, zipped

from disco.errors import InputError
from disco.table.formats import matrix, single_cell
from disco.table.formats.limits import NotATable
from disco.table.formats.parsing import parse
from disco.table.formats.reading import Reading
from disco.table.guesses import guesses
from disco.table.prepared import prepare
from disco.table.read import MATRIX, NOTES, read_table

pytestmark = pytest.mark.usefixtures("in_process")

COUNTS = counts()
ALL = {"genes": "*"}


def read(data: bytes, name: str = "t.h5ad", **choices: object) -> pd.DataFrame:
    return read_table(io.BytesIO(data), name, **choices)


FILES = {
    "CSR": (".h5ad", lambda values: h5ad(values, "csr_matrix")),
    "CSC": (".h5ad", lambda values: h5ad(values, "csc_matrix")),
    "dense": (".h5ad", lambda values: h5ad(values, "array")),
    "floats": (".h5ad", lambda values: h5ad(values.astype("float32"), "csr_matrix")),
    "10x version 3": (".h5", lambda values: tenx(values, 3)),
    "10x version 2": (".h5", lambda values: tenx(values, 2)),
    "matrix.mtx": (".zip", lambda values: zipped(parts(values))),
    "matrix.mtx unpacked": (".zip", lambda values: zipped(parts(values, packed=False))),
}


@pytest.mark.parametrize("case", FILES)
def test_every_layout_gives_the_same_counts(case, monkeypatch):
    monkeypatch.setattr(matrix, "ENTRIES", 100)  # several blocks
    suffix, write = FILES[case]
    table = parse(write(COUNTS), suffix, Reading(**ALL))
    assert table.column_names == [*GENES, ""]
    assert (np.array([column.to_pylist() for column in table.columns[:-1]]).T == COUNTS).all()
    assert table.columns[-1].to_pylist() == barcodes(80)
    few = parse(write(COUNTS), suffix, Reading(genes="7"))
    requested = single_cell.residual_variances(stored(COUNTS)).argsort()[::-1][:7]
    assert few.column_names == [*[GENES[at] for at in sorted(requested)], ""]


class InChunks:
    """A dense matrix in chunks that counts how often each is unpacked."""

    def __init__(self, values: np.ndarray, chunks: tuple[int, int]) -> None:
        self.values, self.shape, self.chunks = values, values.shape, chunks
        self.unpacked = np.zeros([-(-size // step) for size, step in zip(self.shape, chunks, strict=True)], int)

    def __getitem__(self, at: tuple[slice, slice]) -> np.ndarray:
        stops = [min(span.stop, size) for span, size in zip(at, self.shape, strict=True)]
        spans = zip(at, stops, self.chunks, strict=True)
        self.unpacked[tuple(slice(span.start // step, -(-end // step)) for span, end, step in spans)] += 1
        return self.values[at]


@pytest.mark.parametrize("chunks", [(80, 3), (7, 30), (1, 1), (9, 11), (80, 30)])
def test_a_chunk_of_a_dense_matrix_is_unpacked_once(chunks, monkeypatch):
    monkeypatch.setattr(matrix, "ENTRIES", 100)
    stored, result = InChunks(COUNTS, chunks), np.zeros_like(COUNTS)
    for cells, positions, values in matrix.dense_blocks(stored):
        assert len(values) <= 100
        result[cells, positions] += values
    assert (result == COUNTS).all() and (stored.unpacked == 1).all()


def stored(values: np.ndarray, step: int = 7) -> matrix.Matrix:
    def blocks():
        for start in range(0, len(values), step):
            cells, positions = np.nonzero(values[start : start + step])
            yield cells + start, positions, values[cells + start, positions]

    return matrix.Matrix(blocks, barcodes(len(values)), GENES[: values.shape[1]])


@pytest.mark.parametrize("cells", [80, 4])
def test_variances_of_pearson_residuals_are_those_of_the_dense_formula(cells):
    values = COUNTS[:cells] * (1 if cells == 80 else 9)
    values[1] = 0  # an empty cell
    values[:, 3] = 0  # and an empty gene
    mean = np.outer(values.sum(1), values.sum(0)) / values.sum()
    with np.errstate(invalid="ignore"):
        z = np.nan_to_num((values - mean) / np.sqrt(mean + mean**2 / 100))
    assert (abs(z) > np.sqrt(cells)).any()  # so that clipping matters
    expected = z.clip(-np.sqrt(cells), np.sqrt(cells)).var(0)
    np.testing.assert_allclose(single_cell.residual_variances(stored(values)), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(single_cell.variances(stored(values)), values.var(0), rtol=1e-10, atol=1e-12)


def test_a_file_is_read_apart_with_the_names_of_cells_as_index():
    table = read(h5ad(COUNTS), genes="g2?, g3,g0")
    assert table.columns.tolist() == ["g0", "g3", *[f"g2{at}" for at in range(10)]]
    assert table.index.tolist() == barcodes(80) and (table["g3"].to_numpy() == COUNTS[:, 3]).all()
    facts = {"cells": 80, "genes": "g2?, g3,g0", "layers": ["X"], "layer": "X", "by": "residuals", "there": 30}
    facts |= {"columns": ["batch"], "obs": [], "categories": [], "nouns": ["cell", "gene"]}
    assert table.attrs[MATRIX] == facts
    assert table.attrs[NOTES] == ["Columns of obs that were left out: batch.", "12 of 30 genes were chosen by name."]


def test_genes_are_chosen_by_variance_too():
    table = read(h5ad(COUNTS), genes="4", by="variance")
    assert table.columns.tolist() == [GENES[at] for at in sorted(COUNTS.var(0).argsort()[-4:])]
    assert table.attrs[NOTES][-1] == "4 of 30 genes were chosen by their variance. Choose others (--genes)."
    constant = COUNTS.copy()
    constant[:, 3:] = 2
    assert read(h5ad(constant), genes="4", by="variance").columns.tolist() == ["g0", "g1", "g2"]


def test_normalised_values_give_way_to_a_layer_of_counts_and_say_so():
    scaled = COUNTS / 3 + 0.1
    table = read(h5ad(scaled, counts=COUNTS, other=scaled), **ALL)
    assert (table.to_numpy() == COUNTS).all() and table.attrs[MATRIX]["layer"] == "counts"
    assert table.attrs[NOTES][0].endswith('such as 0.1 of g0 in CELL0-1, so the layer "counts" was read.')
    with pytest.raises(InputError, match='layer "X", holds values that .* read the layer "counts", which holds c'):
        read(h5ad(scaled, counts=COUNTS), layer="X")
    with pytest.raises(InputError, match="no other layer holds counts. Values of X are .*; of other are partly below"):
        read(h5ad(scaled, other=-COUNTS))
    assert read(h5ad(COUNTS, other=2 * COUNTS), layer="other", **ALL)["g1"].tolist() == (2 * COUNTS[:, 1]).tolist()
    with pytest.raises(InputError, match='has no layer "more"; it has X, other.'):
        read(h5ad(COUNTS, other=COUNTS), layer="more")


def test_normalised_values_are_restored_without_a_layer_of_counts():
    true_counts = COUNTS + np.arange(COUNTS.size).reshape(COUNTS.shape) % 7
    true_counts[5] = 0
    true_counts[5, :2] = [2, 4]  # too few to know whether they were 1 and 2
    logs = np.log1p(1e4 * true_counts / true_counts.sum(axis=1, keepdims=True)).astype("float32")
    remaining = np.delete(np.arange(80), 5)
    for data in (h5ad(logs), h5ad(-logs, lognorm=logs)):
        table = read(data, obs=["batch"], **ALL)
        assert (table[GENES].to_numpy() == true_counts[remaining]).all() and len(table) == 79
        assert table["batch"].tolist() == read(h5ad(COUNTS), obs=["batch"], **ALL)["batch"].iloc[remaining].tolist()
        note, *_ = table.attrs[NOTES]
        assert "log(1 + x) of counts per 10,000 in each row" in note and "1 cell with too few values" in note
    with pytest.raises(InputError, match="were rounded, smoothed, corrected or divided"):
        read(h5ad(np.round(logs, 3)), **ALL)


def test_a_fraction_far_down_is_found_too(monkeypatch):
    monkeypatch.setattr(matrix, "ENTRIES", 100)
    late = COUNTS.astype(float)
    late[-1, 2] = 0.5
    sentence = r"^, layer X, holds values that are not counts, such as 0\.5 of g2 in CELL79-1: save the raw counts\.$"
    for choice in ({}, {"by": "variance"}, {"genes": "g2,g3"}):
        with pytest.raises(NotATable, match=sentence):
            parse(h5ad(late), ".h5ad", Reading(**choice))
    assert len(parse(h5ad(late), ".h5ad", Reading(genes="g3,g4"))) == 80  # what is not read is not checked


def test_of_several_layers_of_counts_the_usual_or_largest_one_is_read():
    third = COUNTS // 3
    table = read(h5ad(COUNTS / 10, ambiguous=third, matrix=COUNTS, spliced=COUNTS - third), **ALL)
    assert table.attrs[MATRIX]["layer"] == "matrix" and (table.to_numpy() == COUNTS).all()
    assert table.attrs[NOTES][0].endswith('"matrix" was read. Others hold counts too: ambiguous, spliced.')
    assert read(h5ad(COUNTS / 10, a=third, b=COUNTS - third), **ALL).attrs[MATRIX]["layer"] == "b"


def test_raw_counts_have_genes_of_their_own():
    data = io.BytesIO(h5ad(COUNTS[:, :10] / 3))
    with h5py.File(data, "a") as file, h5py.File(io.BytesIO(h5ad(COUNTS))) as source:
        source.copy("X", file.create_group("raw"))
        source.copy("var", file["raw"])
    table = read(data.getvalue(), **ALL)
    assert table.shape == (80, 30) and table.attrs[MATRIX]["layer"] == "raw.X"
    layer = read(h5ad(COUNTS / 2, raw=COUNTS), layer="raw", **ALL)
    assert (layer.to_numpy() == COUNTS).all()


def test_features_of_another_kind_and_repeated_names():
    kinds = ["Gene Expression"] * 28 + ["Antibody Capture"] * 2
    names = ["same", "same", *GENES[2:]]
    table = read(tenx(COUNTS, genes=names, kinds=kinds), "t.h5", **ALL)
    assert table.columns.tolist() == ["same (ENSG0)", "same (ENSG1)", *GENES[2:28]]
    assert (table.to_numpy() == COUNTS[:, :28]).all()
    assert table.attrs[NOTES][0] == "2 features that are not genes were left out: Antibody Capture."
    twice = read(h5ad(COUNTS, genes=names), **ALL)
    assert twice.columns.tolist()[:3] == ["same (1)", "same (2)", "g2"]


def test_a_folder_of_matrix_market_is_read(tmp_path):
    for name, data in parts(COUNTS).items():
        (tmp_path / name).write_bytes(data)
    assert (read_table(tmp_path, **ALL).to_numpy() == COUNTS).all()
    (tmp_path / "barcodes.tsv.gz").unlink()
    with pytest.raises(InputError, match=rf"^{tmp_path.name} has no barcodes.tsv beside matrix.mtx.gz"):
        read_table(tmp_path)


def test_a_path_is_read_like_an_upload(tmp_path):
    (tmp_path / "a.h5ad").write_bytes(h5ad(COUNTS))
    pd.testing.assert_frame_equal(read_table(tmp_path / "a.h5ad"), read(h5ad(COUNTS)))
    few = read(h5ad(COUNTS))
    assert few.shape == (80, 29) and few.attrs[NOTES][-1].endswith("residuals. The other genes are constant.")
    assert read(h5ad(counts(80, 60), genes=[f"h{at}" for at in range(60)])).shape == (80, 50)


CODES = np.arange(80) % 4 - 1  # −1: missing
OBS = {
    "batch": {"codes": CODES.astype("i1"), "categories": ["b1", "b2", "käfig"]},
    "cluster": {"codes": CODES.astype("i2"), "categories": [3, 1, 20]}, "age": np.linspace(20, 60, 80).astype("f4"),
    "donor": [f"d{at % 5}" for at in range(80)], "is_dead": np.arange(80) % 3 == 0,
    "seen": {"values": np.arange(80), "mask": np.arange(80) < 2},
    "word": {"values": ["x"] * 80, "mask": np.arange(80) == 7}, "wide": np.zeros((80, 2)),
}  # fmt: skip # a table


def test_columns_of_obs_follow_the_genes():
    requested = ["word", "batch", "cluster", "age", "donor", "is_dead", "seen", "batch"]
    table = read(h5ad(COUNTS, obs=OBS), genes="g3,g0", obs=requested)
    assert table.columns.tolist() == ["g0", "g3", *requested[:-1]] and table.index.tolist() == barcodes(80)
    assert (table["g3"].to_numpy() == COUNTS[:, 3]).all()
    assert table["batch"].tolist()[1:4] == ["b1", "b2", "käfig"] and table["batch"].isna().tolist() == [*(CODES < 0)]
    assert table["cluster"].tolist()[1:4] == ["3", "1", "20"]  # labels, whatever they look like
    np.testing.assert_array_equal(table["age"].to_numpy(), OBS["age"])
    assert table["donor"].tolist() == OBS["donor"] and table["is_dead"].tolist() == OBS["is_dead"].tolist()
    assert table["seen"].tolist()[2:] == [*range(2, 80)] and table["seen"].isna().sum() == 2
    assert table["word"].isna().to_numpy().nonzero()[0].tolist() == [7] and set(table["word"].dropna()) == {"x"}
    facts = table.attrs[MATRIX]
    assert facts["categories"] == ["batch", "cluster"] and facts["obs"] == requested[:-1]
    assert sorted(facts["columns"]) == sorted(OBS)
    assert table.attrs[NOTES][0] == "Columns of obs that were left out: wide."
    checked_table = prepare(table.iloc[8:].drop(columns=["batch", "cluster", "seen", "word"]), ROLES)
    counts, adjustment = checked_table.counts, checked_table.adjustment
    assert list(counts) == ["g0", "g3"] and len(adjustment.covariates[0].levels) == 5


def test_categories_are_guessed_as_such_whatever_their_labels_look_like():
    obs = {"leiden": {"codes": np.arange(80) % 4, "categories": ["0", "1", "2", "3"]}, "score": np.arange(80) % 4}
    obs["sample"] = {"codes": np.arange(80) // 2 % 30, "categories": np.arange(30)}
    table = read(h5ad(COUNTS, obs=obs), genes="g1", obs=list(obs))
    result = guesses(table)
    assert {at: str(guess) for at, guess in result.items()} == {1: "covariate, categorical", 3: "group"}
    assert result[1].why == "has 4 categories" and result[3].why == "has 30 categories that repeat"


ROLES = {"donor": "covariate", "age": "covariate", "is_dead": "ignore"}


def test_categories_of_older_files_lie_elsewhere():
    older = {"batch": CODES.astype("i1"), "__categories": {"batch": ["b1", "b2", "b3"]}}
    table = read(h5ad(COUNTS, obs=older), obs=["batch"], **ALL)
    assert table["batch"].tolist()[1:4] == ["b1", "b2", "b3"] and pd.isna(table["batch"].iloc[0])
    assert table.attrs[MATRIX]["columns"] == ["batch"]


def test_a_gene_and_a_column_of_obs_of_one_name_are_one_sentence():
    data = h5ad(COUNTS, obs={"g3": np.zeros(80)})
    with pytest.raises(InputError, match='^t.h5ad has a gene and a column of obs called "g3": leave one out.$'):
        read(data, obs=["g3"], **ALL)
    assert read(data, obs=["g3"], genes="g1,g2").columns.tolist() == ["g1", "g2", "g3"]


@pytest.mark.parametrize(
    ("name", "choices", "sentence"),
    [
        ("t.h5ad", {"genes": "nope"}, 'has no gene "nope"; its first genes are g0, g1'),
        ("t.h5ad", {"genes": "1"}, "1 genes cannot be chosen; give 2 to 10,000."),
        ("t.h5ad", {"genes": "9" * 30}, "genes cannot be chosen; give 2 to 10,000."),
        ("t.h5ad", {"genes": " , "}, "give the genes as a number, or as names"),
        ("t.h5ad", {"by": "size"}, "cannot be read with the by 'size'"),
        ("t.csv", {"genes": "5"}, "are chosen in files of cells and genes only"),
        ("t.csv", {"obs": ["batch"]}, "columns of obs are chosen in files of cells and genes only"),
        ("t.h5ad", {"sheet": "one"}, "t.h5ad has no sheets to choose from: only workbooks have, .xlsx, .xls, .ods."),
        ("t.h5ad", {"hidden": "skip"}, "t.h5ad has no hidden rows or columns: only workbooks have, .xlsx, .xls, .ods."),
        ("t.h5ad", {"strand": "reverse"}, "t.h5ad: strands are chosen in files that STAR wrote only, one per sample."),
        ("t.csv", {"sheet": "one"}, "t.csv has no sheets to choose from: only workbooks have, .xlsx, .xls, .ods."),
        ("t.parquet", {"separator": ";"}, "t.parquet: Parquet and Stata files say how they are read"),
        ("t.zip", {"obs": ["batch"]}, "has no columns of obs: only h5ad files have them."),
        ("t.h5", {"obs": ["batch"]}, "has no columns of obs: only h5ad files have them."),
        ("t.h5ad", {"obs": ["sex", "batch"]}, 'has no column "sex" in obs; it has batch.'),
        ("t.h5ad", {"obs": ["names"]}, 'has no column "names" in obs; it has batch.'),
        ("t.h5ad", {"obs": "batch"}, "give the columns of obs as a list of names."),
        ("t.zip", {"layer": "X"}, "has no layers to choose from: only h5ad and 10x files have."),
    ],
)
def test_a_choice_that_cannot_be_is_one_sentence(name, choices, sentence):
    files = {"t.h5ad": h5ad(COUNTS), "t.csv": b"a,b\n1,2\n", "t.zip": zipped(parts(COUNTS)), "t.h5": tenx(COUNTS)}
    data = files.get(name, b"PAR1")
    with pytest.raises(InputError) as error:
        read(data, name, **choices)
    assert str(error.value).startswith(name) and sentence in str(error.value)
