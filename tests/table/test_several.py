"""Several files as one table: of HTSeq and STAR beside each other, of equal columns below each other."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from cells_by_genes import tarred, zipped
from refusals import parse, read, refused

from disco.errors import InputError
from disco.table.formats import archive
from disco.table.formats.limits import NotATable
from disco.table.formats.plain import NOTES, facts_of
from disco.table.formats.reading import Reading
from disco.table.read import READING, read_table

pytestmark = pytest.mark.usefixtures("in_process")

GENES = [f"ENSG{position:05}" for position in range(40)]
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(0.5, 90, (4, 40)))  # samples × genes
FIRST = {0.02: "forward", 0.98: "reverse", 0.5: "unstranded", 0.28: "unstranded"}
SUMMARY = ("N_unmapped", "N_multimapping", "N_noFeature", "N_ambiguous")


def star(counts: np.ndarray, share: float = 0.5) -> bytes:
    """A sample's file of STAR, with this share of the reads on the reverse strand."""
    reverse = np.random.default_rng(1).binomial(counts, share)
    lines = [f"{name}\t90\t80\t70" for name in SUMMARY]
    lines += [f"{gene}\t{n}\t{n - back}\t{back}" for gene, n, back in zip(GENES, counts, reverse, strict=True)]
    return "\n".join(lines).encode() + b"\n"


def htseq(counts: np.ndarray, header: str = "") -> bytes:
    lines = [f"{gene}\t{count}" for gene, count in zip(GENES, counts, strict=True)]
    return "\n".join([*([header] if header else []), *lines, "__no_feature\t7", "__ambiguous\t3"]).encode() + b"\n"


def frame(data: bytes, suffix: str, **choices: object) -> tuple[pd.DataFrame, list[str]]:
    table = parse(data, suffix, Reading(**choices))
    return table.to_pandas().set_index("gene"), facts_of(table)[NOTES]


def test_the_files_of_htseq_are_the_columns_of_one_table(tmp_path):
    files = {f"GSM{position}_c{position}1.txt.gz": gzip.compress(htseq(row)) for position, row in enumerate(COUNTS)}
    result, notes = frame(tarred(files), ".tar")
    assert result.columns.tolist() == ["GSM0_c01", "GSM1_c11", "GSM2_c21", "GSM3_c31"]
    assert (result.loc[GENES].to_numpy() == COUNTS.T).all() and result.loc["__no_feature"].tolist() == [7] * 4
    assert len(notes) == 1 and notes[0].startswith("4 files such as GSM0_c01.txt.gz were put beside each other")
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "README.txt").write_text("counts of four samples")
    read = read_table(tmp_path)
    assert read.shape == (42, 5) and read["GSM3_c31"].tolist()[:40] == COUNTS[3].tolist()


def test_names_that_are_not_utf_8_are_written_out(tmp_path):
    files = {f"s{position}\udcff.txt": htseq(row) for position, row in enumerate(COUNTS[:2])}
    result, _ = frame(tarred(files), ".tar")
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    read = read_table(tmp_path)
    assert result.columns.tolist() == read.columns.tolist()[1:] == ["s0\\xff", "s1\\xff"]
    assert (read.iloc[:40, 1:].to_numpy() == COUNTS[:2].T).all()


def test_files_with_a_header_or_other_genes_are_matched_by_name():
    shuffled = htseq(COUNTS[1], "gene_id\tcount").decode().splitlines()
    second = "\n".join([shuffled[0], "ENSG99999\t5", *reversed(shuffled[1:])]).encode()
    result, notes = frame(zipped({"a/counts.tsv": htseq(COUNTS[0], "gene_id\tcount"), "b/counts.tsv": second}), ".zip")
    assert result.columns.tolist() == ["a", "b"]
    assert (result.loc[GENES].to_numpy() == COUNTS[:2].T).all() and len(result) == 42
    assert notes[1] == "Names that not every file has were left out, up to 1 of a file."


OF_SAMPLES = {  # file of a sample, its names and where its counts stand among them
    "quant.sf": ("Name,Length,EffectiveLength,TPM,NumReads", 4),
    "abundance.tsv": ("target_id,length,eff_length,est_counts,tpm", 3),
    "x.genes.results": ("gene_id,transcript_id(s),length,effective_length,expected_count,TPM,FPKM", 4),
    "x.star_gene_counts.tsv": ("gene_id,gene_name,unstranded,stranded_first,stranded_second", 2),
    "counts.txt": ("Geneid,Chr,Start,End,Strand,Length,/data/x.bam", 6),
}


@pytest.mark.parametrize("name", OF_SAMPLES)
def test_the_counts_of_files_with_more_columns_are_known_by_name(name):
    header, at = OF_SAMPLES[name]
    files = {"s0/logs/aside.tsv": b"a\tb\n1\t2\n"} if name in archive._OF_SAMPLES else {}
    for sample, row in enumerate(COUNTS):
        cells = np.full((40, header.count(",") + 1), 7.25).astype(str)
        cells[:, 0], cells[:, at] = GENES, row
        lines = ["\t".join(header.split(",")), *("\t".join(line) for line in cells)]
        files[f"s{sample}/{name}"] = "\n".join(lines).encode()
    result, notes = frame(zipped(files), ".zip")
    assert result.columns.tolist() == ["s0", "s1", "s2", "s3"] and result.index.tolist() == GENES
    assert ("1 other file was not read: sample/s0/logs/aside.tsv." in notes) == (name in archive._OF_SAMPLES)
    assert (result.to_numpy() == COUNTS.T).all()
    if name not in ("counts.txt", "x.star_gene_counts.tsv"):
        with pytest.raises(NotATable, match="of one sample, and a graph needs many"):
            parse(files[f"s0/{name}"], f".{name.rpartition('.')[2]}")


@pytest.mark.parametrize("share", FIRST)
def test_the_strand_of_star_follows_the_totals_or_the_choice(share):
    files = {f"s{position}_ReadsPerGene.out.tab": star(row, share) for position, row in enumerate(COUNTS)}
    result, (message, _) = frame(zipped(files), ".zip")
    assert result.columns.tolist() == ["s0", "s1", "s2", "s3"] and result.index[:4].tolist() == [*SUMMARY]
    reverse = np.array([np.random.default_rng(1).binomial(row, share) for row in COUNTS])
    of = {"unstranded": COUNTS, "forward": COUNTS - reverse, "reverse": reverse}
    assert (result.loc[GENES].to_numpy().T == of[FIRST[share]]).all()
    assert f"The {FIRST[share]} ones were read, " in message
    assert all(f"{values.sum():,} ({name})" in message for name, values in of.items())
    for name, values in of.items():
        table = parse(zipped(files), ".zip", Reading(strand=name))
        assert (table.to_pandas().set_index("gene").loc[GENES].to_numpy().T == values).all()
        assert facts_of(table)[READING]["strand"] == name


def test_one_sample_of_star_is_no_table_and_its_totals_are_said():
    with pytest.raises(InputError) as error:
        read(star(COUNTS[0], 0.98), "s_ReadsPerGene.out.tab")
    reverse = np.random.default_rng(1).binomial(COUNTS[0], 0.98).sum()
    totals = f"{COUNTS[0].sum():,} (unstranded), {COUNTS[0].sum() - reverse:,} (forward), {reverse:,} (reverse)"
    assert totals in str(error.value) and "put the files of all samples in a ZIP or a tar" in str(error.value)


def test_damaged_files_of_star_are_a_sentence():
    damaged = star(COUNTS[0]).replace(b"ENSG00003\t", b"ENSG00003\tx")
    for data, suffix in ((damaged, ".tab"), (zipped({"a.tab": damaged, "b.tab": damaged}), ".zip")):
        with pytest.raises(NotATable, match="^ has lines that STAR would not write"):
            parse(data, suffix)


def test_files_of_equal_columns_are_rows_of_one_table():
    table = parse(zipped({"2019.csv": b"a,b\n1,2\n3,4\n", "2020.csv": b"a,b\n5,6.5\n"}), ".zip")
    assert table.to_pydict() == {"a": [1, 3, 5], "b": [2, 4, 6.5], "file": ["2019", "2019", "2020"]}
    assert facts_of(table)[NOTES][0] == '2 files were put below each other; the column "file" has the one of each row.'
    named = parse(zipped({"x.csv": b"file,b\n1,2\n", "y.csv": b"file,b\n5,6\n"}), ".zip")
    assert named.column_names == ["file", "b", "file of the row"]
    dates = {"x.csv": b"day,n\nmon,2\ntue,3\n", "y.csv": b"day,n\nwed,4\nthu,5\n"}  # other names: other rows
    assert parse(zipped(dates), ".zip").column_names == ["day", "n", "file"]
    marks = {"x.csv": b"a;b\n1,5;2\n", "y.csv": b"a;b\n1,25;6\n"}
    assert parse(zipped(marks), ".zip", Reading(decimal=",")).column("a").to_pylist() == [1.5, 1.25]


@pytest.mark.parametrize(
    ("files", "choices", "sentence"),
    [
        ({"a.csv": b"a,b\n1,2\n", "b.csv": b"a,c\n1,2\n"}, {}, "holds 2 tables: sample/a.csv, sample/b.csv. Give one"),
        ({"a.csv": b"a,b\n1,2\n", "b.csv": b"a,b\n1,x\n"}, {}, "the same names and other kinds of cells"),
        ({"a.csv": b"a,b\n1,2\n", "b.csv": b"a,b\n5,6\n"}, {"strand": "reverse"}, "in files that STAR wrote only"),
        ({"a.csv": b"a,b\n1,2\n", "b.csv": b""}, {}, " is empty"),
        ({"a.csv": b"a,b\n1,2\n", "b.xlsx": b"x"}, {}, "holds 2 tables"),
        ({"a.csv": b"a,b\n1,2\n", "b.csv.gz": b"x"}, {}, "the archive is damaged"),
        ({"a.csv": b"a,b\n", "b.csv": b"a,b\n"}, {}, "has names but no rows"),
    ],
)
def test_files_that_do_not_fit_are_a_sentence(files, choices, sentence):
    refused(zipped(files), ".zip", sentence, **choices)


SYMBOLS = [f"SYM{position}" if position % 5 else "" for position in range(40)]
LENGTHS = RNG.choice(5000, 40, replace=False)
FORMS = {  # what stands before the count of a gene, the names, and what stands behind it
    "htseq --additional-attr": ((GENES, SYMBOLS), None, ()),
    "two attributes": ((GENES, SYMBOLS, ["protein_coding"] * 40), None, ()),
    "a heading": ((GENES, SYMBOLS), "gene_id\tgene_name\tcount", ()),
    "samples called by numbers": ((GENES,), "gene_id\t100{}", ()),
    "featureCounts --extraAttributes": (
        (GENES, ["1;1"] * 40, LENGTHS, LENGTHS, SYMBOLS),
        "# Program:featureCounts v2.0.1\nGeneid\tChr\tStart\tLength\tgene_name\t/x/s{}.bam",
        (),
    ),
    "Entrez": ((LENGTHS, SYMBOLS), "GeneID\tsymbol\tcount", ()),
    "ids behind symbols": ((SYMBOLS, GENES), "symbol\tensembl\tcount", ()),
    "numbered rows": ((range(40), GENES), "\tgene\tcount", ()),
    "other measures": ((GENES, LENGTHS), "gene\tlength\tcount\tTPM", (0.3,)),
}


def of_one(sample: int, form: str = "htseq --additional-attr") -> bytes:
    leading, names, behind = FORMS[form]
    columns = [*leading, COUNTS[sample], *(COUNTS[sample] * factor for factor in behind)]
    lines = ["\t".join(map(str, line)) for line in zip(*columns, strict=True)]
    return "\n".join([*([names.format(sample)] if names else []), *lines]).encode() + b"\n"


@pytest.mark.parametrize("form", FORMS)
def test_the_column_that_differs_between_samples_holds_the_counts(form):
    files = {f"100{sample}.txt": of_one(sample, form) for sample in range(4)}
    files["1003.txt.gz"] = gzip.compress(files.pop("1003.txt"))
    result, _ = frame(zipped(files), ".zip")
    assert result.columns.tolist() == ["1000", "1001", "1002", "1003"]
    assert result.index.tolist() == (list(LENGTHS) if form == "Entrez" else GENES)
    assert (result.to_numpy() == COUNTS.T).all()


def test_tables_of_several_counts_or_of_sightings_stay_below_each_other():
    plots = {
        f"{year}.csv": b"plot,a,b\n" + b"".join(b"p%d,%d,%d\n" % (k, k * year % 7, k * year % 5) for k in range(9))
        for year in (2019, 2020, 2023)
    }
    sightings = {  # every species at every plot: the plots differ too
        f"{plot}.csv": b"plot,species,count\n" + b"".join(b"p%d,s%d,%d\n" % (plot, k, k * plot % 7) for k in range(9))
        for plot in (3, 4, 5)
    }
    numbered = {f"{day}.csv": b"n,x\n" + b"".join(b"%d,%d\n" % (k, k * day % 7) for k in range(9)) for day in (3, 4, 5)}
    rare = plots | {"2021.csv": plots["2019.csv"].replace(b",0\n", b",1\n")}
    rare |= {f"{year}.csv": re.sub(rb",\d\n", b",0\n", plots[f"{year}.csv"]) for year in (2019, 2020, 2023)}
    for files in (plots, sightings, numbered, rare):
        table = parse(zipped(files), ".zip")
        assert table.column_names[-1] == "file" and len(table) == 9 * len(files)


def test_a_sheet_of_samples_beside_their_files_is_left_aside():
    sheet = b"run,sample,age\n" + b"".join(b"r%d,s%d,%d\n" % (k, k, 30 + k) for k in range(4))
    files = {f"s{sample}.txt": of_one(sample) for sample in range(4)} | {"design.csv": sheet}
    result, notes = frame(zipped(files), ".zip")
    assert (result.to_numpy() == COUNTS.T).all() and result.columns.tolist() == ["s0", "s1", "s2", "s3"]
    assert any(note.startswith("sample/design.csv looks like a sheet of samples") for note in notes)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("all.csv", of_one(0, "other measures"), "all.csv is not: it has 4 columns, and they have 3. Leave it out"),
        ("s1.txt", of_one(1).replace(b"ENSG", b"ENSM"), "s1.txt is not: its names are others, repeated or"),
        ("s1.txt", of_one(1) + b"ENSG00003\t\t7\n", "s1.txt is not: its names are others, repeated or"),
        ("s1.txt", of_one(1).replace(b"SYM", b"SIM"), "s1.txt is not: its names are others, repeated or"),
        ("notes.txt", b"At nine, by me\nwarm, dry, calm\nend\n", "sample/notes.txt, row 1: the row has 3 cells"),
        ("design.xlsx", b"x", " holds 4 files of text, and sample/design.xlsx, which is none. Leave it out"),
    ],
)
def test_the_file_that_differs_from_those_of_samples_is_named(name, data, reason):
    with pytest.raises(NotATable) as error:
        parse(zipped({f"s{sample}.txt": of_one(sample) for sample in range(4)} | {name: data}), ".zip")
    assert reason in str(error.value) and "leave it out" in str(error.value).lower()


def test_files_of_stringtie_hold_no_counts():
    names = "Gene ID\tGene Name\tReference\tStrand\tStart\tEnd\tCoverage\tFPKM\tTPM\n"
    data = (names + "\n".join(f"{gene}\t\t1\t+\t3\t9\t1.5\t2.5\t3.5" for gene in GENES)).encode()
    for content, suffix in ((data, ".tsv"), (zipped({"a.tsv": data, "b.tsv": data}), ".zip")):
        with pytest.raises(NotATable, match=r"which are not counts: its script prepDE\.py writes counts\."):
            parse(content, suffix)
