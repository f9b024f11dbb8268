"""Files of cells and genes made to do harm, or damaged: each gives one sentence."""

import io
import zlib

import h5py
import numpy as np
import pytest
from cells_by_genes import counts, h5ad, parts, tarred, tenx, zipped
from refusals import fuzzed, parse, read, refused

from disco.errors import InputError
from disco.table.formats import limits, matrix
from disco.table.formats.plain import MATRIX, facts_of
from disco.table.formats.reading import Reading

COUNTS = counts()


def changed(change, data: bytes | None = None) -> bytes:
    """A 10x file, or another, after a change."""
    out = io.BytesIO(tenx(COUNTS) if data is None else data)
    with h5py.File(out, "a") as file:
        change(file)
    return out.getvalue()


def put(path: str, values: object, data: bytes | None = None, **how: object) -> bytes:
    """The same with another dataset at a path."""

    def change(file: h5py.File) -> None:
        del file[path]
        file.create_dataset(path, data=values, **how)

    return changed(change, data)


def edited(name: str, position: int, value: int) -> bytes:
    """A 10x file with one number of its sparse matrix changed."""
    with h5py.File(io.BytesIO(tenx(COUNTS)), "r") as file:
        values = file[f"matrix/{name}"][:].astype(np.int64)
    values[position] = value
    return put(f"matrix/{name}", values)


def linked(link: object, path: str = "matrix/data") -> bytes:
    def change(file: h5py.File) -> None:
        del file[path]
        file[path] = link

    return changed(change)


def virtual() -> bytes:
    def change(file: h5py.File) -> None:
        del file["matrix/data"]
        layout = h5py.VirtualLayout((10,), "i4")
        layout[:] = h5py.VirtualSource("/etc/passwd", "data", (10,))
        file.create_virtual_dataset("matrix/data", layout)

    return changed(change)


def elsewhere() -> bytes:
    """Values that lie in a plain file of the machine."""
    return put("matrix/data", None, shape=(10,), dtype="i1", external=[("/etc/passwd", 0, 10)])


def of_cells(change) -> bytes:
    """An h5ad file after a change."""
    return changed(change, h5ad(COUNTS))


def fact(path: str, name: str, value: object) -> bytes:
    return of_cells(lambda file: file[path].attrs.update({name: value}))


def bomb() -> bytes:
    """A chunk of 80 numbers that unpacks to 4 GB."""
    packer = zlib.compressobj(9)
    pieces = [packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)]
    packed = pieces[0] + 255 * pieces[1] + packer.flush()

    def change(file: h5py.File) -> None:
        del file["matrix/indices"]
        dset = file.create_dataset("matrix/indices", (COUNTS.astype(bool).sum(),), "i8", chunks=(80,), compression=9)
        dset.id.write_direct_chunk((0,), packed)

    return changed(change)


def twice() -> bytes:
    """Two entries for one cell and gene, in the first cell."""
    with h5py.File(io.BytesIO(tenx(COUNTS)), "r") as file:
        indices = file["matrix/indices"][:]
    indices[1] = indices[0]
    return put("matrix/indices", indices)


def filtered(code: int) -> bytes:
    """Values packed by a filter that is no standard one."""

    def change(file: h5py.File) -> None:
        del file["matrix/data"]
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((10,))
        creation.set_filter(code, h5py.h5z.FLAG_OPTIONAL, (1, 2))
        space = h5py.h5s.create_simple((10,))
        h5py.h5d.create(file["matrix"].id, b"data", h5py.h5t.NATIVE_INT32, space, creation)

    return changed(change)


def unstored(size: int, chunk: int) -> bytes:
    """Values that are declared, and not stored."""
    return put("matrix/data", None, shape=(size,), dtype="i4", chunks=(chunk,))


def market(text: str) -> bytes:
    return zipped({**parts(COUNTS, packed=False), "matrix.mtx": text.encode()})


WIDE = {"shape": (80,), "dtype": "S9000000", "chunks": (1,)}
HEAD = "%%MatrixMarket matrix coordinate integer general\n30 80 2\n"
HOSTILE = {
    "no HDF5": (".h5", lambda: b"x" * 1000, "cannot be read as HDF5"),
    "cut": (".h5", lambda: tenx(COUNTS)[:4000], "cannot be read as HDF5"),
    "another layout": (".h5", lambda: changed(lambda file: file.pop("matrix")), "but not of anndata 0.7 or later, 10x"),
    "external link": (".h5", lambda: linked(h5py.ExternalLink("/etc/passwd", "/x")), "matrix/data is a link"),
    "link of a group": (".h5", lambda: linked(h5py.ExternalLink("/dev/zero", "/x"), "matrix"), "/matrix is a link"),
    "soft link": (".h5", lambda: linked(h5py.SoftLink("/matrix/indices")), "matrix/data is a link"),
    "virtual": (".h5", virtual, "matrix/data lies in other files"),
    "outside": (".h5", elsewhere, "matrix/data lies in other files"),
    "odd filter": (".h5", lambda: filtered(32001), "save the file again with gzip compression"),
    "huge shape": (".h5", lambda: put("matrix/shape", [30, 2**40]), "1,099,511,627,776 cells; at most 2,000,000"),
    "negative shape": (".h5", lambda: put("matrix/shape", [-30, 80]), "has 80 cells and 0 genes"),
    "shape of one": (".h5", lambda: put("matrix/shape", [30]), "no shape of features and cells"),
    "declared, not stored": (".h5", lambda: unstored(10**12, 1000), "1,000,000,000,000 values; at most"),
    "huge chunks": (".h5", lambda: unstored(10**8, 10**8), "chunks of more than 100 MB"),
    "a position too far": (".h5", lambda: edited("indices", 3, 30), "lies outside the matrix"),
    "a position below 0": (".h5", lambda: edited("indices", 3, -1), "lies outside the matrix"),
    "pointer back": (".h5", lambda: edited("indptr", 5, 0), "pointers of its sparse matrix do not fit"),
    "pointer far": (".h5", lambda: edited("indptr", 5, 2**62), "pointers of its sparse matrix do not fit"),
    "first pointer": (".h5", lambda: edited("indptr", 0, 1), "pointers of its sparse matrix do not fit"),
    "last pointer": (".h5", lambda: edited("indptr", -1, 5), "pointers of its sparse matrix do not fit"),
    "few pointers": (".h5", lambda: put("matrix/indptr", [0]), "1 pointers for 80 lines"),
    "few places": (".h5", lambda: put("matrix/indices", [0, 1]), "pointers of its sparse matrix do not fit"),
    "places in fractions": (".h5", lambda: put("matrix/indptr", np.zeros(81)), "holds fractions"),
    "twice": (".h5", twice, "two values for one cell and gene"),
    "negative": (".h5", lambda: edited("data", 7, -4), "not counts, such as -4"),
    "text as values": (".h5", lambda: put("matrix/data", np.array([b"x"] * 9)), "matrix/data is not a list of numbers"),
    "a table as values": (".h5", lambda: put("matrix/data", np.zeros((3, 3))), "is not a list of numbers"),
    "few barcodes": (".h5", lambda: put("matrix/barcodes", np.array([b"x"])), "other numbers of names"),
    "numbers as names": (".h5", lambda: put("matrix/barcodes", np.zeros(80)), "is not a list of names"),
    "no UTF-8": (".h5", lambda: put("matrix/barcodes", np.array([b"\xff\xfe"] * 80)), "are not UTF-8 text"),
    "long name": (".h5", lambda: put("matrix/barcodes", np.array([b"x" * 1001] * 80)), "longer than 1000 characters"),
    "wide names": (".h5", lambda: put("matrix/barcodes", None, **WIDE), "take more than 200 MB"),
    "old anndata": (".h5ad", lambda: put("obs", np.zeros(3), h5ad(COUNTS)), "has no obs as anndata 0.7"),
    "no names": (".h5ad", lambda: of_cells(lambda file: file["var"].pop("names")), "/var/names is not a list of names"),
    "names elsewhere": (".h5ad", lambda: fact("var", "_index", "../obs/names"), "is not a list of names"),
    "another form": (".h5ad", lambda: fact("X", "encoding-type", "coo"), "is no dense, CSR or CSC matrix"),
    "another shape": (".h5ad", lambda: fact("X", "shape", [80, 31]), "a matrix of 80 × 31 for 80 cells and 30 genes"),
    "dense NaN": (".h5ad", lambda: h5ad(np.where(COUNTS > 9, np.nan, COUNTS), "array"), "such as nan"),
    "no ZIP": (".zip", lambda: b"PK" * 100, "the archive is damaged: download it or pack it again"),
    "a run": (".zip", lambda: zipped({"settings.json": b"{}"}), "holds no table: sample/settings.json. Give one table"),
    "no matrix": (".zip", lambda: market("1 2 3\n"), "does not begin with %%MatrixMarket"),
    "array": (".zip", lambda: market("%%MatrixMarket matrix array real general\n1 1\n1\n"), "does not begin with %%Ma"),
    "sizes": (".zip", lambda: market(HEAD.replace("80", "-80")), "does not say how many"),
    "other sizes": (".zip", lambda: market(HEAD.replace("80", "81")), "30 × 81 for 30 features and 80 barcodes"),
    "too few lines": (".zip", lambda: market(HEAD + "1 1 5\n"), "is cut off: it has 1 of 2 lines. Download"),
    "too many lines": (".zip", lambda: market(HEAD + "1 1 5\n2 1 5\n3 1 5\n"), "too many lines"),
    "outside of it": (".zip", lambda: market(HEAD + "1 1 5\n0 2 5\n"), "positions outside the matrix"),
    "no order": (".zip", lambda: market(HEAD + "1 2 5\n1 2 5\n"), "not in order"),
    "words": (".zip", lambda: market(HEAD + "1 2 x\n1 2 5\n"), "a line that is not a row, a column and a value"),
    "four words": (".zip", lambda: market(HEAD + "1 2 3 4\n"), "a line that is not a row, a column and a value"),
    "one endless line": (".zip", lambda: market(HEAD + "1" * 40_000_000), "a line that is not a row"),
    "comments": (".zip", lambda: market(HEAD[:49] + "%\n" * 2000), "does not say how many"),
    "no gzip": (".zip", lambda: zipped({**parts(COUNTS), "barcodes.tsv.gz": b"x"}), "the archive is damaged"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_matrix_costs_one_sentence(case):
    suffix, content, sentence = HOSTILE[case]
    refused(content(), suffix, sentence)


def of_obs(column: object, change=lambda file: None) -> bytes:
    return changed(change, h5ad(COUNTS, obs={"x": column}))


def categories(codes: object, levels: object) -> bytes:
    return of_obs({"codes": codes, "categories": levels})


def declared(**how: object) -> bytes:
    """A column of obs that is declared, and not stored."""
    return put("obs/x", None, of_obs(np.zeros(80)), **how)


def link_of_obs() -> bytes:
    def change(file: h5py.File) -> None:
        del file["obs/x/categories"]
        file["obs/x/categories"] = h5py.ExternalLink("/etc/passwd", "/x")

    return of_obs({"codes": CODES, "categories": ["a", "b"]}, change)


CODES = np.arange(80) % 2
HOSTILE_OBS = {
    "few": (lambda: of_obs(np.zeros(79)), "obs/x has 79 values for 80 cells"),
    "declared": (lambda: declared(shape=(10**12,), dtype="i4", chunks=(1000,)), "1,000,000,000,000 values; at most"),
    "huge chunks": (lambda: declared(shape=(80,), dtype="S3000000", chunks=(80,)), "chunks of more than 100 MB"),
    "wide texts": (lambda: declared(**WIDE), "take more than 200 MB"),
    "a table": (lambda: of_obs(np.zeros((80, 2))), "obs/x is not a list of values"),
    "one number": (lambda: of_obs(np.array(3)), "obs/x is not a list of values"),
    "records": (lambda: of_obs(np.zeros(80, "i4,f4")), "obs/x holds neither numbers nor texts"),
    "a group of nothing": (lambda: of_obs({"y": np.zeros(80)}), "no column of numbers, texts or categories"),
    "groups in it": (lambda: of_obs({"codes": {"y": CODES}, "categories": ["a"]}), "codes is not a list of values"),
    "code too large": (lambda: categories(CODES + 1, ["a", "b"]), "codes of obs/x do not fit its 2 categories"),
    "code below −1": (lambda: categories(CODES - 2, ["a", "b"]), "codes of obs/x do not fit its 2 categories"),
    "code of 2⁶³": (lambda: categories(CODES.astype("u8") + 2**63, ["a"]), "do not fit its 1 categories"),
    "codes in fractions": (lambda: categories(CODES / 2, ["a", "b"]), "codes of obs/x do not fit"),
    "codes of text": (lambda: categories(["a"] * 80, ["a", "b"]), "codes of obs/x do not fit"),
    "few codes": (lambda: categories(CODES[1:], ["a", "b"]), "codes has 79 values for 80 cells"),
    "long category": (lambda: categories(CODES, ["a", "b" * 1001]), "longer than 1000 characters"),
    "no UTF-8": (lambda: categories(CODES, np.array([b"\xff", b"\xfe"])), "are not UTF-8 text"),
    "few in a mask": (lambda: of_obs({"values": CODES, "mask": CODES[:9] > 0}), "mask has 9 values for 80 cells"),
    "a link": (link_of_obs, "obs/x/categories is a link"),
}


@pytest.mark.parametrize("case", HOSTILE_OBS)
def test_a_hostile_column_of_obs_costs_one_sentence(case):
    content, sentence = HOSTILE_OBS[case]
    data = content()
    refused(data, ".h5ad", sentence, obs=["x"])
    assert parse(data, ".h5ad").num_rows == 80  # what is not chosen is not read


def test_categories_that_unfold_to_too_much_text_are_refused(monkeypatch):
    monkeypatch.setattr("disco.table.formats.anndata.MOST_TEXT", 40 * 900 - 1)
    with pytest.raises(limits.NotATable, match="the texts of obs/x take more than"):
        parse(categories(CODES, ["", "b" * 900]), ".h5ad", Reading(obs=["x"]))
    monkeypatch.setattr("disco.table.formats.anndata.MOST_CELLS_OF_MATRIX", 80)
    with pytest.raises(limits.NotATable, match="has 81 categories; at most 80 are read"):
        parse(categories(CODES, [f"c{position}" for position in range(81)]), ".h5ad", Reading(obs=["x"]))


def test_names_of_obs_that_cannot_be_shown_are_not_offered():
    table = parse(h5ad(COUNTS, obs={"a\nb": CODES, "c": CODES}), ".h5ad")
    assert facts_of(table)[MATRIX]["columns"] == ["c"]


def test_a_chunk_that_unpacks_to_gigabytes_is_one_sentence():
    with pytest.raises(InputError, match=r"^t\.h5 .*\.$"):
        read(bomb(), "t.h5")


def test_positions_that_a_later_block_repeats_are_refused(monkeypatch):
    monkeypatch.setattr("disco.table.formats.market._BLOCK", 10)
    refused(market(HEAD.replace("80 2", "80 4") + "1 1 5\n2 1 5\n" * 2), ".zip", "not in order")


def test_indices_in_no_order_are_read_all_the_same():
    with h5py.File(io.BytesIO(tenx(COUNTS)), "r") as file:
        dset = {name: file[f"matrix/{name}"][:] for name in ("data", "indices", "indptr")}
    for name in ("data", "indices"):
        lines = np.split(dset[name], dset["indptr"][1:-1])
        dset[name] = np.concatenate([line[::-1] for line in lines])
    table = parse(put("matrix/indices", dset["indices"], put("matrix/data", dset["data"])), ".h5", Reading(genes="*"))
    assert (np.array([column.to_pylist() for column in table.columns[:-1]]).T == COUNTS).all()


@pytest.mark.parametrize(("name", "limit"), [("MOST_ENTRIES", 100), ("MOST_GENES", 29), ("MOST_CELLS_OF_MATRIX", 79)])
def test_a_matrix_too_large_is_refused_before_it_is_read(name, limit, monkeypatch):
    monkeypatch.setattr(matrix, name, limit)
    for data, suffix in ((tenx(COUNTS), ".h5"), (h5ad(COUNTS, "array"), ".h5ad"), (zipped(parts(COUNTS)), ".zip")):
        with pytest.raises(limits.NotATable, match=rf"; at most {limit} are read"):
            parse(data, suffix)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".h5ad", lambda: h5ad(COUNTS)),
        (".h5ad", lambda: h5ad(COUNTS, "array")),
        (".h5", lambda: tenx(COUNTS)),
        (".zip", lambda: zipped(parts(COUNTS, packed=False))),
        (".tar", lambda: tarred(parts(COUNTS))),
    ],
)
def test_any_bytes_end_with_a_table_or_a_sentence(suffix, write, tmp_path):
    fuzzed(write(), suffix, tmp_path)
