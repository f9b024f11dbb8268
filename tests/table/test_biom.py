"""BIOM tables: the same counts from JSON, dense and sparse, from HDF5 and from text; hostile ones are a sentence."""

import io
import json

import h5py
import numpy as np
import pytest
import scipy.sparse as sparse
from refusals import read, refused

from disco.table.formats.limits import NotATable
from disco.table.formats.parsing import parse
from disco.table.formats.plain import MATRIX, NOTES, facts_of
from disco.table.formats.reading import Reading

COUNTS = np.random.default_rng(0).poisson(np.random.default_rng(1).gamma(0.5, 9, (12, 7)))  # samples × features
SAMPLES = [str(101 + index) for index in range(12)]  # numbers as names
FEATURES = [f"OTU{index}" for index in range(7)]
TAXA = [f"k__Bacteria; g__G{index}" for index in range(7)]


def as_json(**changes: object) -> bytes:
    """Version 1; its values are features × samples."""
    body = {
        "format": "Biological Observation Matrix 1.0.0",
        "matrix_type": "dense",
        "shape": [7, 12],
        "rows": [{"id": FEATURES[at], "metadata": {"taxonomy": TAXA[at].split("; ")}} for at in range(7)],
        "columns": [{"id": name, "metadata": None} for name in SAMPLES],
        "data": COUNTS.T.tolist(),
    }
    return json.dumps({**body, **changes}).encode()


def triples() -> list[list[int]]:
    features, samples = np.nonzero(COUNTS.T)
    return [[int(f), int(s), int(COUNTS[s, f])] for f, s in zip(features, samples, strict=True)][::-1]


def as_hdf5(change=lambda file: None) -> bytes:
    """Version 2."""
    out, body = io.BytesIO(), sparse.csr_matrix(COUNTS.astype(float))
    with h5py.File(out, "w") as file:
        for name, ids, matrix in (("sample", SAMPLES, body), ("observation", FEATURES, body.T.tocsr())):
            group = file.create_group(name)
            group.create_dataset("ids", data=np.array(ids, dtype=object), dtype=h5py.string_dtype())
            for field in ("data", "indices", "indptr"):
                group.create_dataset(f"matrix/{field}", data=getattr(matrix, field), compression="gzip")
        taxa = np.array([taxon.split("; ") for taxon in TAXA], dtype=object)
        file.create_dataset("observation/metadata/taxonomy", data=taxa, dtype=h5py.string_dtype())
        change(file)
    return out.getvalue()


def as_text(first: str = "# Constructed from biom file\n", last: str = "taxonomy", form: str = "{:.1f}") -> bytes:
    lines = ["\t".join(["#OTU ID", *SAMPLES, *([last] if last else [])])]
    for name, row, taxon in zip(FEATURES, COUNTS.T, TAXA, strict=True):
        lines.append("\t".join([name, *map(form.format, row), *([taxon] if last else [])]))
    return (first + "\n".join(lines) + "\n").encode()


FORMS = {
    "JSON, dense": (".biom", as_json),
    "JSON after a mark and a blank": (".biom", lambda: b"\xef\xbb\xbf\n" + as_json()),
    "JSON, sparse": (".biom", lambda: as_json(matrix_type="sparse", data=triples())),
    "HDF5": (".biom", as_hdf5),
    "HDF5 under another name": (".h5", as_hdf5),
    "text": (".txt", as_text),
    "text with a lineage": (".tsv", lambda: as_text("#Full OTU Counts\r\n", "Consensus Lineage", "{:d}")),
    "text alone": (".biom", lambda: as_text("", "")),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_biom_table_has_samples_as_rows_in_every_form(form):
    suffix, write = FORMS[form]
    table = parse(write(), suffix)
    assert table.column_names == [*FEATURES, ""] and table.columns[-1].to_pylist() == SAMPLES
    assert (np.array([column.to_pylist() for column in table.columns[:-1]]).T == COUNTS).all()
    facts = facts_of(table)
    assert facts[NOTES][0].endswith("metadata, such as a taxonomy, were left out.")
    assert facts[NOTES][1] == "All 7 features were read." and facts[MATRIX]["nouns"] == ["sample", "feature"]
    few = parse(write(), suffix, Reading(genes="OTU5,OTU1"))
    assert few.column_names == ["OTU1", "OTU5", ""] and few.column(1).to_pylist() == COUNTS[:, 5].tolist()


def test_a_text_is_read_as_a_table_if_it_is_said_how():
    table = read(as_text(), "t.txt", names=1, above=1)
    assert table.shape == (7, 14) and table.columns[0] == "#OTU ID"


def dropped(name: str):
    return lambda: as_hdf5(lambda file: file.pop(name))


HOSTILE = {
    "cut": (lambda: as_json()[:-30], "cannot be read as BIOM in JSON"),
    "deep": (lambda: b'{"rows": ' + b"[" * 100_000, "cannot be read as BIOM in JSON"),
    "no rows": (lambda: as_json(rows=3), "cannot be read as BIOM in JSON"),
    "names without ids": (lambda: as_json(rows=[{}] * 7), "cannot be read as BIOM in JSON"),
    "ragged": (lambda: as_json(data=[[1, 2], [3]]), "cannot be read as BIOM in JSON"),
    "words": (lambda: as_json(data=[["x"] * 12] * 7), "cannot be read as BIOM in JSON"),
    "huge": (lambda: as_json().replace(b'"data": [[', b'"data": [[1' + b"0" * 400 + b","), "cannot be read as BIOM"),
    "few values": (lambda: as_json(data=COUNTS[:5].T.tolist()), "a matrix of 7 × 5 for 7 features and 12 samples"),
    "one place twice": (lambda: as_json(matrix_type="sparse", data=[[0, 0, 1]] * 2), "two values for one"),
    "outside": (lambda: as_json(matrix_type="sparse", data=[[7, 0, 1]]), "lies outside of it"),
    "four in a list": (lambda: as_json(matrix_type="sparse", data=[[0, 0, 1, 1]] * 3), "cannot be read as BIOM in"),
    "names alone": (lambda: b"#OTU ID\ta\tb\n", " has 2 cells and 0 genes"),
    "between": (lambda: as_json(matrix_type="sparse", data=[[0.5, 0, 1]]), "lies outside of it"),
    "another shape": (lambda: as_json(shape=[12, 7]), " has names of 7 features and 12 samples, but another shape."),
    "two lists of values": (lambda: as_json()[:-1] + b', "data": []}', "cannot be read as BIOM in JSON"),
    "half a character": (lambda: as_json(rows=[{"id": "\ud800"}] * 7), "cannot be read as BIOM in JSON"),
    "below": (lambda: as_json(matrix_type="sparse", data=[[0, -1, 1]]), "lies outside of it"),
    "fractions": (lambda: as_json(data=(COUNTS.T / 2).tolist()), "not counts, such as"),
    "missing": (lambda: as_json(data=[[None] * 12] * 7), "not counts, such as nan of OTU0 in 101"),
    "a long name": (lambda: as_json(rows=[{"id": "x" * 1001}] * 7), "longer than 1000 characters"),
    "no BIOM": (lambda: b"a,b\n1,2\n", "is no BIOM table: neither HDF5, JSON nor text"),
    "nothing": (lambda: b"", "is no BIOM table"),
    "text in a sample": (lambda: as_text().replace(b"\t0.0\t", b"\tx\t"), "holds text where the counts of a sample"),
    "a short line": (lambda: as_text() + b"OTU9\t1\n", "row 8: the row has 2 cells"),
    "no matrix": (dropped("sample/matrix"), "has no group 'matrix' in /sample"),
    "no ids": (dropped("observation/ids"), "observation/ids is not a list of names"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_biom_table_costs_one_sentence(case):
    content, sentence = HOSTILE[case]
    refused(content(), ".biom", sentence)


@pytest.mark.parametrize("choices", [{"layer": "X"}, {"obs": ["batch"]}])
def test_a_biom_table_has_neither_layers_nor_obs(choices):
    for data in (as_json(), as_hdf5()):
        with pytest.raises(NotATable, match="has no layers to choose from|has no columns of obs"):
            parse(data, ".biom", Reading(**choices))
