"""Archives with one table, or with the files of one or several matrices, under any of their usual names."""

import gzip
import io
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cells_by_genes import GENES, barcodes, counts, parts, tarred, zipped
from refusals import parse, read, refused

from disco.errors import InputError
from disco.table.formats import archive, limits, matrix_files
from disco.table.formats.limits import NotATable
from disco.table.formats.reading import Reading
from disco.table.guesses import guesses
from disco.table.read import NOTES, read_table

pytestmark = pytest.mark.usefixtures("in_process")

COUNTS = counts()
CSV = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(40))
ALL = {"genes": "*"}


def linked(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.tar", lambda: tarred({"GSM1_a.csv.gz": gzip.compress(CSV), "README.txt": b"x y", "._a.csv": b"\0"})),
        ("t.TGZ", lambda: tarred({"deep/er/a.csv": CSV, "deep/figure.pdf": b"%PDF"}, "w:gz")),
        ("t.tar.xz", lambda: tarred({"a.csv": CSV}, "w:xz", link=linked("b.csv", "/etc/passwd"))),
        ("t.zip", lambda: zipped({"a.csv": CSV, "A.csv.gz": gzip.compress(CSV), "../../up.md": b"x"})),
    ],
)
def test_the_one_table_of_an_archive_is_read(name, data):
    for choices in ({}, {"names": 0}):
        pd.testing.assert_frame_equal(read(data(), name, **choices), read(CSV, "a.csv", **choices))


def cut(data: bytes, share: float) -> bytes:
    return data[: int(len(data) * share)]


def encrypted() -> bytes:
    """A ZIP whose member says that it has a password."""
    data = bytearray(zipped({"a.csv": CSV}))
    data[data.find(b"PK\x03\x04") + 6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def sized(size: int) -> bytes:
    """A tar whose member is said to be of this size."""
    info = tarfile.TarInfo("a.csv")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT) + CSV + bytes(512 - len(CSV) % 512)


def damaged(data: bytes, name: bytes) -> bytes:
    """A tar with a wrong checksum in the header of a member."""
    at = data.index(name) + 148
    return data[:at] + b"9" + data[at + 1 :]


def doubled() -> bytes:
    """A ZIP with two files of one name."""
    return zipped({"a.csv": CSV, "b.csv": CSV[:99]}).replace(b"b.csv", b"a.csv")


def with_a_gap() -> bytes:
    """A ZIP in whose list the second file is taken for a comment on the first."""
    data = bytearray(zipped({"a.csv": CSV, "b.csv": CSV}))
    first = data.find(b"PK\x01\x02")
    second = data.find(b"PK\x01\x02", first + 1)
    data[first + 32] = data.find(b"PK\x05\x06") - second
    return bytes(data)


def in_unusual_form() -> bytes:
    """A ZIP that says that its member is packed by Deflate64."""
    data = bytearray(zipped({"a.csv": CSV}))
    data[data.find(b"PK\x03\x04") + 8] = data[data.find(b"PK\x01\x02") + 10] = 9
    return bytes(data)


PAIR = tarred({"a.csv": CSV, "b.csv": CSV})
HOSTILE = {
    "a damaged second header": (".tar", lambda: damaged(PAIR, b"b.csv"), "because the archive is damaged"),
    "cut between two files": (".tar", lambda: PAIR[: PAIR.index(b"b.csv")], "is cut off: a file in it has no end"),
    "a file lost from the list": (".zip", with_a_gap, "because the archive is damaged"),
    "two files of one name": (".zip", doubled, "because the archive is damaged"),
    "case alone": (".tar", lambda: tarred({"a.csv": CSV, "A.csv": CSV}), " holds A.csv and a.csv, names that differ"),
    "case of lists": (".zip", lambda: zipped({**parts(COUNTS), "GENES.tsv": b"", "genes.tsv": b""}), "in case alone"),
    "an endless name": (".zip", lambda: zipped(edited(barcodes="a" * 200_000)), "barcodes.tsv is longer than 1000 ch"),
    "a bad one of two": (".tar", lambda: tarred({"a.csv": CSV, "b.csv": CSV + b"1\n"}), ", b.csv, row 41: the row has"),
    "an unusual packing": (".zip", in_unusual_form, " is packed in an unusual way, which is not read"),
    "cut": (".tar", lambda: cut(tarred({"a.csv": CSV * 99}), 0.5), "is cut off: a file in it has no end"),
    "a packed member cut": (".tar", lambda: tarred({"a.csv.gz": gzip.compress(CSV)[:-9]}), "is cut off: a file in it"),
    "no tar": (".tar", lambda: b"x" * 2000, "the archive is damaged"),
    "a size that lies": (".tar", lambda: sized(10**11), "is cut off: a file in it has no end"),
    "a negative size": (".tar", lambda: sized(-512), "the archive is damaged"),
    "nothing": (".tar", lambda: tarred({}), "holds no files."),
    "a link alone": (".tar", lambda: tarred({}, a=linked("a.csv", "/etc/passwd")), "holds no files."),
    "a hard link alone": (".tar", lambda: tarred({}, a=linked("a.csv", "a.csv", tarfile.LNKTYPE)), "holds no files."),
    "two tables": (".zip", lambda: zipped({"a.csv": CSV, "b.dta": CSV}), "2 tables: sample/a.csv, sample/b.dta. G"),
    "an archive in it": (".zip", lambda: zipped({"a.zip": zipped({"a.csv": CSV})}), "holds no table: sample/a.zip. G"),
    "a password": (".zip", encrypted, ": sample/a.csv needs a password. Unpack it"),
    "odd letters": (".zip", lambda: zipped({"a\n\x1b[2J.pdf": b""}), "holds no table: sample/a??[2J.pdf. Give"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_archive_costs_one_sentence(case):
    suffix, content, sentence = HOSTILE[case]
    refused(content(), suffix, sentence)


def test_a_member_is_unpacked_up_to_the_limit(monkeypatch):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("a.csv", bytes(5_000_000))
    monkeypatch.setattr(limits, "MOST_BYTES_IN_PIECES", 4_500_000)
    for data, suffix in ((out.getvalue(), ".zip"), (tarred({"a.csv.gz": gzip.compress(bytes(5_000_000))}), ".tar")):
        with pytest.raises(NotATable, match="unpacks to more than 4 MB"):
            parse(data, suffix)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    with pytest.raises(NotATable, match="holds more than 2 files"):
        parse(tarred(dict.fromkeys("abc", b"")), ".tar")


def test_a_header_that_asks_for_gigabytes_gets_none(monkeypatch):
    """A long name of 3 GB, which tar would read into memory."""
    monkeypatch.undo()  # in a process with a limit
    name = tarfile.TarInfo("././@LongLink")
    name.type, name.size = tarfile.GNUTYPE_LONGNAME, 3 * 10**9
    with pytest.raises(InputError, match=r"^t\.tar (takes more than 1.5 GB|cannot be read|is cut off).*\.$"):
        read(name.tobuf(tarfile.GNU_FORMAT), "t.tar")


def renamed(change, values: np.ndarray = COUNTS, packed: bool = False) -> dict[str, bytes]:
    """The files of a matrix under other names."""
    return {change(name): data for name, data in parts(values, packed).items()}


def edited(**data: str) -> dict[str, bytes]:
    """The files of a matrix with other contents, by the beginning of their names."""
    files = parts(COUNTS, packed=False)
    return {name: data.get(name.split(".")[0], content.decode()).encode() for name, content in files.items()}


def matrix_text(
    values: np.ndarray = COUNTS, field: str = "integer", blank: str = " ", form: str = "d", by_gene: bool = False
) -> str:
    """A matrix as text, genes × cells; the lines in order of cells, or of genes."""
    cells, genes = np.nonzero(values)
    cells = sorted(zip(cells, genes, strict=True), key=lambda pair: pair[::-1] if by_gene else pair)
    lines = [blank.join([str(gene + 1), str(cell + 1), format(values[cell, gene], form)]) for cell, gene in cells]
    size = blank.join(map(str, (*values.shape[::-1], len(lines))))
    return f"%%MatrixMarket matrix coordinate {field} general\n%\n{size}\n" + "\n".join(lines) + "\n"


def features(*columns: object, header: str = "") -> str:
    """Lines of features: each column a constant, or "id" or "name"."""
    values = {"id": lambda at: f"ENSG{at}", "name": lambda at: f"g{at}", "row": lambda at: str(at + 1)}
    rows = [[values.get(column, lambda _, c=column: c)(at) for column in columns] for at in range(30)]
    lines = ["\t".join(row) for row in rows]
    return "\n".join([*([header] if header else []), *lines]) + "\n"


KB = {
    "cells_x_genes.mtx": matrix_text(COUNTS.T).encode(),
    "cells_x_genes.barcodes.txt": "\n".join(barcodes(80)).encode(),
    "cells_x_genes.genes.txt": features("name").encode(),
}
SPELLINGS = {
    "a prefix": lambda: renamed(lambda name: f"GSM900_lung_{name}", packed=True),
    "a folder": lambda: renamed(lambda name: f"run/outs/filtered_feature_bc_matrix/{name}"),
    "raw beside it": lambda: {
        **renamed(lambda name: f"raw_feature_bc_matrix/{name}", COUNTS[:70]),
        **renamed(lambda name: f"filtered_feature_bc_matrix/{name}"),
    },
    "raw in the name": lambda: {
        **renamed(lambda name: f"s_raw_{name}", COUNTS[:70]),
        **renamed(lambda name: f"s_filtered_{name}"),
    },
    "old names": lambda: renamed(lambda name: name.replace("features", "genes")),
    "another matrix name": lambda: renamed(lambda name: name.replace("matrix.mtx", "counts.mtx")),
    "packed by Zstandard": lambda: {
        f"{name}.zst": pa.compress(data, "zstd", asbytes=True) for name, data in parts(COUNTS, packed=False).items()
    },
    "packed twice": lambda: {**parts(COUNTS), **parts(COUNTS, packed=False)},
    "kb": lambda: KB,
    "cells in rows": lambda: edited(matrix=matrix_text(COUNTS.T)),
    "in order of genes": lambda: edited(matrix=matrix_text(by_gene=True)),
    "one column": lambda: edited(features=features("name")),
    "two columns": lambda: edited(features=features("id", "name")),
    "seven columns": lambda: edited(features=features("id", "name", "3", "0", "80", "+", "protein")),
    "a header": lambda: edited(features=features("id", "name", header="gene_id\tgene_symbol")),
    "a header with the names first": lambda: edited(features=features("name", "id", header="gene_name\tgene_id")),
    "written by R": lambda: edited(
        features=features("row", "id", "name", header='"gene_id"\t"symbol"'),
        barcodes='"x"\n' + "".join(f'"{row + 1}"\t"{name}"\n' for row, name in enumerate(barcodes(80))),
    ),
    "tabs": lambda: edited(matrix=matrix_text(blank="\t")),
    "many blanks": lambda: edited(matrix=matrix_text(blank="  \t ").replace("\n1 ", "\n  1 ").replace("\n", " \r\n")),
    "real numbers": lambda: edited(matrix=matrix_text(COUNTS.astype(float), "real", form=".1f")),
    "exponents": lambda: edited(matrix=matrix_text(COUNTS.astype(float), "real", form=".3e")),
}


@pytest.mark.parametrize("case", SPELLINGS)
def test_a_matrix_is_the_same_in_every_spelling(case, monkeypatch):
    monkeypatch.setattr("disco.table.formats.market._BLOCK", 1000)
    for data, suffix in ((zipped(SPELLINGS[case]()), ".zip"), (tarred(SPELLINGS[case]()), ".tar")):
        table = parse(data, suffix, Reading(**ALL))
        assert table.column_names == [*GENES, ""]
        assert (np.array([column.to_pylist() for column in table.columns[:-1]]).T == COUNTS).all()
        assert table.columns[-1].to_pylist() == barcodes(80)


def test_a_square_matrix_has_genes_in_rows_unless_kb_wrote_it():
    values = counts(30, 30)
    names = {"features": features("name"), "barcodes": "\n".join(barcodes(30))}
    files = {**edited(matrix=matrix_text(values), **names)}
    table = parse(zipped(files), ".zip", Reading(**ALL))
    assert (np.array([column.to_pylist() for column in table.columns[:-1]]).T == values).all()
    kb = dict(zip(KB, (files["matrix.mtx"], files["barcodes.tsv"], files["features.tsv"]), strict=True))
    table = parse(zipped(kb), ".zip", Reading(**ALL))
    assert (np.array([column.to_pylist() for column in table.columns[:-1]]) == values).all()


def test_lists_that_do_not_fit_are_refused():
    """A list that is longer by a name which is no header would shift every name."""
    for files in (
        edited(features="g99\n" + features("name")),
        edited(barcodes="CELL99-1x\n" + "\n".join(barcodes(80))),
        edited(features="gene\nname\n" + features("name")),
    ):
        with pytest.raises(NotATable, match="barcodes: the three files are not of one matrix.$"):
            parse(zipped(files), ".zip")


def test_a_missing_or_ambiguous_list_is_named():
    pair = {**renamed(lambda name: f"a_{name}"), **renamed(lambda name: f"b_{name}")}
    refused(zipped(pair | {"a_genes.tsv": b"x"}), ".zip", " has 2 features.tsv or genes.tsv beside ")
    refused(zipped({"matrix.mtx": b"", "barcodes.tsv": b""}), ".zip", " has no features.tsv or genes.tsv beside ")
    velocity = {**edited(), "spliced.mtx": b"", "un_matrix.mtx": b""}
    refused(zipped(velocity), ".zip", " has several matrices of the same cells, matrix.mtx, un_matrix.mtx: give one")


def test_several_matrices_are_one_table_with_their_file(tmp_path):
    """The second file has its genes in another order, and one that the first has not."""
    second = counts(50, 30, seed=1)
    second_features = features("id", "name").replace("g7\n", "only here\n")
    files = {
        **renamed(lambda name: f"GSM1_lung_{name}"),
        "GSM2_liver_matrix.mtx.gz": gzip.compress(matrix_text(second[:, ::-1]).encode()),
        "GSM2_liver_features.tsv": "".join(reversed(second_features.splitlines(keepends=True))).encode(),
        "GSM2_liver_barcodes.tsv": "\n".join(barcodes(50)).encode(),
    }
    table = read(tarred(files), "GSE_RAW.tar", **ALL)
    shared = [name for name in GENES if name != "g7"]
    assert table.columns.tolist() == [*shared, "file"] and len(table) == 130
    assert (table[shared].to_numpy() == np.vstack([COUNTS, second])[:, [int(name[1:]) for name in shared]]).all()
    assert table["file"].tolist() == ["GSM1_lung"] * 80 + ["GSM2_liver"] * 50
    assert table.index[[0, 80]].tolist() == ["GSM1_lung_CELL0-1", "GSM2_liver_CELL0-1"]
    assert str(guesses(table)[29]) == "covariate, categorical"
    assert table.attrs[NOTES][:3] == [
        "2 matrices were put below each other; the column file has the one of each cell.",
        "50 names of cells are in several of them: they are taken for different cells.",
        "Genes that not every file has were left out, up to 1 of a file.",
    ]
    for name in ("x/s1/matrix.mtx", "x/s2/matrix.mtx"):  # as a folder, with folders in it
        for file_name, data in parts(COUNTS, packed=False).items():
            path = tmp_path / name.replace("matrix.mtx", file_name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    assert read_table(tmp_path)["file"].unique().tolist() == ["s1", "s2"]


def test_matrices_without_a_common_gene_are_not_joined():
    files = {
        **renamed(lambda name: f"a/{name}"),
        **renamed(lambda name: f"b/{name}"),
        "b/features.tsv": features("name").replace("g", "h").encode(),
    }
    with pytest.raises(NotATable, match="holds matrices that have no gene in common: read each by itself.$"):
        parse(zipped(files), ".zip")


def test_very_many_tables_or_matrices_are_not_read(monkeypatch):
    monkeypatch.setattr(archive, "MOST_TABLES", 2)
    monkeypatch.setattr(matrix_files, "MOST_MATRICES", 1)
    with pytest.raises(NotATable, match="^ holds 3 tables; at most 2 become one. Give fewer.$"):
        parse(zipped({f"{name}.csv": CSV for name in "abc"}), ".zip")
    with pytest.raises(NotATable, match="^ has 2 matrices; at most 1 become one table. Give fewer.$"):
        parse(zipped({**renamed("a_{}".format), **renamed("b_{}".format)}), ".zip")


def test_a_folder_of_very_many_files_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix_files, "MOST_MEMBERS", 3)
    for name in "abcd":
        (tmp_path / name).touch()
    with pytest.raises(InputError, match="is a folder of more than 3 files"):
        read_table(tmp_path)


@pytest.mark.parametrize("extra", ["a/annotations.txt", "b - Metadata.csv", "codebook.csv", "rights.txt"])
def test_what_describes_a_table_is_left_aside(extra):
    assert len(read(zipped({"Data.csv": CSV, extra: b"x,y,z\n1,2,3\n"}), "t.zip")) == 40
    assert read(zipped({extra: CSV}), "t.zip").columns.tolist() == ["a", "b"]


def test_a_bag_of_words_has_documents_as_rows():
    counts = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 4], [0, 0, 5]])
    lines = [f"{doc + 1} {word + 1} {counts[doc, word]}" for doc, word in zip(*np.nonzero(counts), strict=True)]
    docword = "\n".join(["4", "3", str(len(lines)), *lines]) + "\n"
    files = {"docword.kos.txt.gz": gzip.compress(docword.encode()), "vocab.kos.txt": b"ant\nbee\ncow\n", "readme": b"x"}
    table = read(zipped(files), "t.zip", **ALL)
    assert table.columns.tolist() == ["ant", "bee", "cow"] and list(table.index) == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(table.to_numpy(), counts)
    with pytest.raises(InputError, match="cut off"):
        read(zipped({**files, "docword.kos.txt.gz": gzip.compress(docword[:-6].encode())}), "t.zip", **ALL)
