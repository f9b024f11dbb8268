"""What a table holds besides counts: recognised by names and arithmetic, changed by edits that can be made again."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from disco.table.edits import Columns, LeaveOut, Pivot, applied
from disco.table.guesses import guesses
from disco.table.kinds import (
    ANNOTATION,
    CERTAIN,
    COPIES,
    GENES,
    LABELS,
    NAMES,
    POINTS,
    SIGHTINGS,
    SUMMARIES,
    TOTALS,
    VARIABLES,
)
from disco.table.layout import suggestion, tidied

MIXED = [f"{'QWERTYUIOP'[k % 10]}{'ASDF'[k // 10]}X{k}" for k in range(40)]  # like symbols of genes
SAMPLES = [f"s{k}" for k in range(8)]


def counts_of_genes(rng, genes=40, names=None):
    """Genes in rows, whose means differ by orders of magnitude."""
    values = rng.poisson(rng.lognormal(3.0, 1.5, genes)[:, None], (genes, len(SAMPLES)))
    table = pd.DataFrame(values, columns=SAMPLES)
    table.insert(0, "Geneid", [f"ENSG{k:011d}" for k in range(genes)] if names is None else names)
    return table


def kinds_of(table):
    return [found.kind for found, _ in tidied(table)]


def after(table):
    *_, (_, changed) = tidied(table)
    return changed


def test_feature_counts_become_samples_in_rows_without_what_describes_the_genes(rng):
    table = counts_of_genes(rng)
    described = table.assign(Chr="chr1", Start=range(40), Length=rng.integers(300, 9000, 40))
    described = described[["Geneid", "Chr", "Start", "Length", *SAMPLES]]
    assert kinds_of(described) == [ANNOTATION, GENES]
    changed = after(described)
    assert list(changed.index) == SAMPLES and list(changed.columns) == list(table["Geneid"])
    np.testing.assert_array_equal(changed.to_numpy(), table[SAMPLES].to_numpy().T)


def test_genes_need_a_name_and_arithmetic_or_identifiers(rng):
    symbols = [f"ABC{k}" for k in range(40)]
    named = counts_of_genes(rng, names=symbols).rename(columns={"Geneid": "symbol"})
    assert suggestion(named).kind == GENES
    assert GENES not in kinds_of(named.rename(columns={"symbol": "pupil"}))
    alike = named.assign(**{name: rng.poisson(4.0, 40) for name in SAMPLES})  # sites by species, say
    assert GENES not in kinds_of(alike)


@pytest.mark.parametrize(
    "lines",
    [
        ["__no_feature", "__ambiguous", "__not_aligned"],
        ["_ambiguous", "_empty", "_lowaqual", "_notaligned"],
        ["N_unmapped", "N_multimapping", "N_noFeature", "N_ambiguous"],
    ],
)
def test_lines_of_the_counting_program_are_no_genes(rng, lines):
    table = counts_of_genes(rng)
    more = pd.DataFrame([[line, *rng.poisson(5000, 8)] for line in lines], columns=table.columns)
    found, changed = next(tidied(pd.concat([table, more], ignore_index=True)))
    assert found.kind == SUMMARIES
    pd.testing.assert_frame_equal(changed, table)
    assert suggestion(table.assign(Geneid=[f"empty{k}" for k in range(40)]), {GENES, NAMES}) is None


def test_totals_need_their_name_and_their_sum(rng):
    table = pd.DataFrame(rng.poisson(5.0, (12, 4)), columns=list("abcd"))
    table.insert(0, "site", [f"S{k}" for k in range(12)])
    whole = table.assign(**{"Grand Total": table[list("abcd")].sum(axis=1)})
    whole.loc[12] = ["Grand Total", *whole.drop(columns="site").sum()]
    found, changed = next(tidied(whole))
    assert found.kind == TOTALS and len(found.edits) == 2 and found.message.startswith("Column ")  # what weighs more
    pd.testing.assert_frame_equal(changed, table)
    assert suggestion(whole, spared=["Grand Total"]).edits == found.edits[:1]
    marked = whole.drop(columns="Grand Total").astype(object)
    for at, name in enumerate("abcd"):
        marked.loc[[at, 12], name] = ["n.d.", table[name].drop(at).sum()]
    assert next(tidied(marked))[0].edits == (LeaveOut(((13, 13),)),)
    marked.loc[12, "d"] += 3  # of the cell that is not known
    assert next(tidied(marked))[0].message == 'Row "Grand Total" sums up others.'
    marked.loc[12, "d"] = 0
    assert TOTALS not in kinds_of(marked)
    assert TOTALS not in kinds_of(whole.assign(a=whole["a"] + 1)) and TOTALS not in kinds_of(whole.iloc[:12])
    assert TOTALS not in kinds_of(whole[["site", "a", "b"]].replace("Grand Total", "Bay"))


def test_texts_that_stand_once_for_a_block_of_rows_fill_it(rng):
    table = pd.DataFrame({"site": np.repeat(MIXED[:6], 12), "year": np.tile(np.repeat(["y1", "y2", "y3"], 4), 6)})
    counts, row = pd.DataFrame({"note": "", "a": rng.poisson(3, 72), "b": rng.poisson(3, 72)}), np.arange(72)
    counts.loc[[0, 7], "note"] = ["windy", "late"]
    blank = pd.concat([table["site"].where(row % 12 == 0), table["year"].where(row % 4 == 0), counts], axis=1)
    found = suggestion(blank)
    assert found.kind == LABELS and found.columns == ("site", "year")
    pd.testing.assert_frame_equal(applied(blank, found.edits)[["site", "year"]], table, check_dtype=False)
    assert suggestion(blank, spared=["site"]).columns == ("year",) and suggestion(blank, spared=[*table]) is None
    random = blank.assign(site=pd.Series(MIXED * 2)[:72].where((rng.random(72) < 0.4) | (row == 0)))
    for other in (random, blank.assign(site=blank["site"].mask(row == 24, MIXED[0])), blank.iloc[1:]):
        assert LABELS not in kinds_of(other.reset_index(drop=True))


def test_what_was_found_in_a_table_is_not_looked_for_again(rng, monkeypatch):
    table, looked = counts_of_genes(rng).assign(empty=None), {}

    def found(**more):
        return [[found for found, _ in tidied(table, spared=spared, **more)] for spared in ((), ["empty"])]

    expected = found()
    assert found(looked=looked) == expected
    monkeypatch.setattr("disco.table.layout.guesses", None)
    monkeypatch.setattr("disco.table.totals.numeric", None)
    assert found(looked=looked) == expected


def test_stretches_have_totals_and_all_rows_a_mean(rng):
    counts = pd.DataFrame(rng.poisson(5.0, (20, 5)), columns=["oak", "ash", "fox", "hare", "deer"])
    table = counts.assign(site=[f"S{k}" for k in range(20)], rate=rng.normal(3, 1, 20))[["site", *counts, "rate"]]
    whole = table.copy()
    whole.insert(3, "Trees total", counts["oak"] + counts["ash"])
    parts = []
    for name, part in (("North", whole.iloc[:9]), ("South", whole.iloc[9:])):
        parts += [part, pd.DataFrame([[f"{name} total", *part.iloc[:, 1:-1].sum(), 1.5]], columns=whole.columns)]
    statistics = {"Mean": "mean", "SD": "std", "median": "median"}
    ends = [[name, *whole.iloc[:, 1:].agg(of).round(2)] for name, of in statistics.items()]
    whole = pd.concat([*parts, pd.DataFrame(ends, columns=whole.columns)], ignore_index=True)
    found, changed = next(tidied(whole))
    assert found.kind == TOTALS and found.edits[0].rows == ((10, 10), (22, 25))
    pd.testing.assert_frame_equal(changed, table, check_dtype=False)
    whole.iloc[22, 1] += 2
    assert next(tidied(whole))[0].edits[0].rows == ((10, 10), (22, 22), (24, 25))
    assert TOTALS not in kinds_of(table.assign(total=counts.sum(axis=1)))  # a relation, or an exposure


def regions(rng, columns=4):
    """Counts of places in three regions."""
    return [pd.DataFrame(rng.poisson(6.0, (rows, columns)), columns=list("abcdefgh")[:columns]) for rows in (6, 4, 7)]


@pytest.mark.parametrize("is_first", [True, False])
def test_rows_that_add_up_are_totals_whatever_they_are_called(rng, is_first):
    parts = regions(rng)
    table = pd.concat(parts, ignore_index=True)
    blocks = [[part.sum().to_frame().T, part][:: 1 if is_first else -1] for part in parts]
    whole = [table.sum().to_frame().T, *(one for block in blocks for one in block)]
    whole = pd.concat(whole if is_first else [*whole[1:], whole[0]], ignore_index=True)
    found, changed = next(tidied(whole.assign(year=2020)))
    rows = ((1, 2), (9, 9), (14, 14)) if is_first else ((7, 7), (12, 12), (20, 21))
    assert found.kind == TOTALS and found.edits[0].rows == rows
    pd.testing.assert_frame_equal(changed[table.columns], table)
    off = whole.copy()
    off.iloc[[1, 6], 0] += 1  # a region that does not add up, whether it comes first or last
    assert suggestion(off) is None or found.edits != suggestion(off).edits


def test_few_random_tables_have_rows_that_seem_to_add_up(rng):
    shapes = [(rng.integers(10, 300), rng.integers(3, 12), rng.choice([0.3, 1, 3, 10])) for _ in range(60)]
    tables = [pd.DataFrame(rng.poisson(mean * rng.gamma(1, 1, d), (n, d))) for n, d, mean in shapes]
    assert sum(TOTALS in kinds_of(table.set_axis([f"c{k}" for k in table], axis=1)) for table in tables) <= 1


def test_lines_without_a_count_are_counted_and_marks_are_no_counts(rng):
    true = pd.DataFrame(rng.poisson(2.0, (30, 3)) + [1, 0, 0], columns=["fox", "deer", "boar"])
    lines = [(f"trap {at}", kind) for at, row in true.iterrows() for kind, n in row.items() for _ in range(n)]
    table = pd.DataFrame(lines, columns=["station", "species"]).assign(hour=rng.uniform(0, 24, len(lines)))
    found = suggestion(table)
    assert found.kind == SIGHTINGS and found.edits == (Pivot(("station",), "species"),)
    np.testing.assert_array_equal(applied(table, found.edits)[true.columns].to_numpy(), true.to_numpy())
    assert suggestion(table.assign(eggs=rng.poisson(9.0, len(lines)))) is None  # each line is an observation
    lines = [(f"S{at}", kind, n) for at, row in true.iterrows() for kind, n in row.items() if n]
    table = pd.DataFrame(lines, columns=["checklist", "common name", "observation count"]).astype(object)
    table.iloc[[0, 5], 2] = "X"
    found = suggestion(table)
    wanted = true.astype(float)
    for name, kind in table.iloc[[0, 5], :2].itertuples(index=False):
        wanted.loc[int(name[1:]), kind] = np.nan
    np.testing.assert_array_equal(applied(table, found.edits)[true.columns].to_numpy(), wanted.to_numpy())
    totals = table.assign(**{"common name": np.where(np.arange(len(table)) % 9, table["common name"], "")})
    whole = table.iloc[np.arange(len(table)) % 9 > 0]
    pd.testing.assert_frame_equal(applied(totals, suggestion(totals).edits), applied(whole, suggestion(whole).edits))
    table.iloc[::2, 2] = "X"
    assert suggestion(table, {NAMES, COPIES}) is None


def test_sightings_become_events_with_zeros(rng):
    true = pd.DataFrame(rng.poisson(1.0, (30, 5)), columns=[f"Avis {k}" for k in "abcde"])
    true.iloc[:, 0] += 1  # every event has a line
    lines = [
        (f"E{event}", f"2021-05-{event + 1:02d}", species, count, 10 * (event % 3 + 1))
        for event, row in true.iterrows()
        for species, count in row.items()
        if count
    ]
    table = pd.DataFrame(lines, columns=["eventID", "eventDate", "species", "individualCount", "effort_min"])
    found = suggestion(table)
    assert found.kind == SIGHTINGS
    assert found.edits == (Pivot(("eventID", "eventDate", "effort_min"), "species", "individualCount"),)
    changed = applied(table, found.edits)
    assert list(changed.index) == [f"E{event}" for event in range(30)]
    np.testing.assert_array_equal(changed[true.columns].to_numpy(), true.to_numpy())
    assert changed["effort_min"].tolist() == [10 * (event % 3 + 1) for event in range(30)]
    assert suggestion(table.rename(columns={"species": "what"}), {NAMES, COPIES}) is None
    days = table.rename(columns={"eventID": "site", "eventDate": "date"})
    days["site"], days["date"] = table["eventID"].str[-1], table["eventID"].str[:-1]  # neither tells events apart
    found = suggestion(days)
    assert found.edits[0].rows[:2] == ("site", "date") and found.edits[0].key == 2
    both = applied(days, found.edits)
    assert len(both) == 30 and both.index[0] == "0 · E" and both["site"].iloc[0] == "0"
    order = both["date"].str.cat(both["site"]).str[1:].astype(int)
    np.testing.assert_array_equal(both[true.columns].to_numpy(), true.loc[order].to_numpy())
    finer = table.assign(genus="Avis")
    assert suggestion(finer[["genus", *table]]).edits[0].names == "species"


def test_lines_for_each_sex_are_added_up_and_places_go_before_times(rng):
    true = pd.DataFrame(rng.poisson(3.0, (30, 5)), columns=[f"Avis {k}" for k in "abcde"])
    females = pd.DataFrame(rng.binomial(true, 0.5), columns=true.columns)
    lines = [
        (f"site {at:02d}", f"2021-05-{at // 3 + 1:02d}", species, part)
        for at, row in true.iterrows()
        for species, count in row.items()
        for part in (females.loc[at, species], count - females.loc[at, species])
    ]
    table = pd.DataFrame(lines, columns=["locality", "eventDate", "species", "individualCount"])
    german = suggestion(table.set_axis(["Transekt", "Datum", "Art", "Anzahl"], axis=1))
    assert german.edits[0].rows[0] == "Transekt"
    found = suggestion(table)
    assert found.kind == SIGHTINGS and found.edits[0].rows[0] == "locality" and "150 lines" in found.remedy
    np.testing.assert_array_equal(applied(table, found.edits)[true.columns].to_numpy(), true.to_numpy())
    seen = table.loc[table.index.repeat(table["individualCount"])].drop(columns="individualCount")
    days = [f"2021-{at % 12 + 1:02d}-{at % 28 + 1:02d}" for at in range(len(seen))]  # more than places
    seen["eventDate"] = days
    assert suggestion(seen.reset_index(drop=True)).edits[0].rows[0] == "locality"


def test_counts_beside_categories_are_no_sightings(rng):
    for rows in (30, 45, 60, 75, 90, 120):
        table = pd.DataFrame({"region": rng.choice([*"abcde"], rows), "category": rng.choice([*"KLMNOP"], rows)})
        table = table.assign(amount=rng.negative_binomial(2, 0.1, rows), visits=rng.poisson(4.0, rows))
        assert kinds_of(table) == []
        assert kinds_of(table.assign(year=rng.integers(2015, 2020, rows))) == []


def test_events_are_known_by_arithmetic_where_their_columns_have_other_names(rng):
    true = rng.poisson(2.0, (4, 3, 4, 6))
    places = [np.repeat(at.ravel(), 6) for at in np.indices(true.shape[:3])]
    kinds = np.tile([f"Carabus {k}" for k in "abcdef"], 48)
    table = pd.DataFrame({"Standort": places[0], "Falle": places[1] + 1, "Leerung": [f"{k}. Mai" for k in places[2]]})
    table = table.assign(Fangtage=14 + places[2], Art=kinds, Anzahl=true.ravel())
    found = suggestion(table)
    assert found.kind == SIGHTINGS and found.edits[0].key == 3
    after = applied(table, found.edits)
    np.testing.assert_array_equal(after[[f"Carabus {k}" for k in "abcdef"]].to_numpy(), true.reshape(48, 6))
    assert {str(guesses(after)[at]) for at in (1, 3)} == {"covariate, continuous"}
    shuffled = table.assign(Art=rng.permutation(kinds))
    assert suggestion(shuffled) is None and suggestion(table.drop(columns="Falle")) is None


def test_rows_and_columns_without_a_cell_are_left_out(rng):
    table = pd.DataFrame(rng.poisson(4.0, (9, 3)), columns=["a", "b", "c"])
    gaps = table.reindex([0, 1, 2, -1, 3, 4, 5, -2, 6, 7, 8]).reset_index(drop=True).astype("Int64")
    gaps.insert(1, "", None)
    found, changed = next(tidied(gaps))
    assert found.kind == "blank" and found.edits == (LeaveOut(((4, 4), (8, 8))), Columns(without=("",)))
    pd.testing.assert_frame_equal(changed.astype("int64"), table)


def test_lines_that_stand_twice_are_copies_only_if_names_tell_lines_apart(rng):
    table = pd.DataFrame(rng.poisson(40.0, (200, 3)), columns=list("abc"))
    table.insert(0, "player", [f"p{k}" for k in range(200)])
    twice = pd.concat([table, table.iloc[:7]], ignore_index=True)
    found, changed = next(tidied(twice))
    assert found.kind == COPIES and found.edits[0].rows == ((201, 207),)
    pd.testing.assert_frame_equal(changed, table)
    coarse = pd.DataFrame({"sex": rng.choice(["f", "m"], 200), "x": rng.poisson(1.0, 200), "y": rng.poisson(1.0, 200)})
    assert coarse.duplicated().any() and kinds_of(coarse) == []


def test_an_ordinary_table_has_no_suggestion(rng):
    table = pd.DataFrame(rng.poisson(4.0, (100, 6)), columns=["count", "species", "gene", "total", "sum", "site"])
    assert suggestion(table) is None


def test_tables_that_only_look_alike_have_no_certain_suggestion(rng):
    """How many species there were, labels of wells, cities whose counts differ by orders of magnitude."""
    species = pd.DataFrame({"site": np.repeat(range(25), 4), "species": rng.poisson(30, 100), "abundance": range(100)})
    labels = ["empty", "ambiguous", *(f"w{k}" for k in range(20))]
    wells = pd.DataFrame(rng.poisson(5.0, (22, 4)), columns=list("abcd"))
    wells.insert(0, "label", labels)
    cities = counts_of_genes(rng, names=[f"City {k}" for k in range(40)]).rename(columns={"Geneid": "name"})
    codes = cities.rename(columns={"name": ""}).assign(**{"": ["".join(pair) for pair in product("ABCDE", "KLMNPQRS")]})
    numbered = cities.rename(columns={"name": ""}).assign(**{"": [f"Site{k}" for k in range(40)]})
    for table in (species, wells, cities, codes, numbered):
        assert not {*kinds_of(table)} & {*CERTAIN}


def test_points_possible_are_not_exceeded_by_most_cells(rng):
    marks = pd.DataFrame(rng.binomial(10, 0.7, (30, 4)), columns=["quiz 1", "quiz 2", "quiz 3", "exam"])
    marks.insert(0, "Student", [f"p{k}" for k in range(30)])
    whole = pd.concat([pd.DataFrame([["  Points Possible", 10, 10, 10, 10]], columns=marks.columns), marks])
    whole = whole.reset_index(drop=True)
    found, changed = next(tidied(whole))
    assert found.kind == POINTS
    pd.testing.assert_frame_equal(changed, marks)
    assert POINTS not in kinds_of(whole.replace(10, 2).replace({"quiz 1": {2: 0}}))


def test_a_first_column_with_a_role_does_not_name_the_rows(rng):
    table = pd.DataFrame({"day": [f"day {k}" for k in range(30)], "a": rng.poisson(3.0, 30), "b": rng.poisson(3.0, 30)})
    assert suggestion(table).kind == NAMES and suggestion(table, spared=["day"]) is None


@pytest.mark.parametrize("names", ["Entrez numbers", "symbols"])
def test_numbers_of_rows_before_genes_are_left_out(names, rng):
    ids = rng.choice(np.arange(100_000), 40, replace=False) if names == "Entrez numbers" else MIXED
    table = counts_of_genes(rng, names=ids).rename(columns={"Geneid": {"symbols": "Row.names"}.get(names, "GeneID")})
    table.insert(0, "", rng.permutation(40))
    table.insert(2, "Length" if names == "Entrez numbers" else "padj", rng.integers(200, 9000, 40))
    assert kinds_of(table) == [ANNOTATION, GENES] and after(table).shape == (8, 40)
    assert list(after(table).columns) == [str(name) for name in ids]


def test_species_in_rows_and_days_in_columns_are_exchanged(rng):
    table = counts_of_genes(rng, names=[f"Avis {k}" for k in range(40)]).rename(columns={"Geneid": "Species"})
    table = table.rename(columns={f"s{k}": f"2021-0{k + 1}-17" for k in range(8)})
    table["Peak"] = table.iloc[:, 1:].max(axis=1)
    assert kinds_of(table) == [TOTALS, GENES] and after(table).shape == (8, 40)
    places = table.rename(columns={f"2021-0{k + 1}-17": f"place {'abcdefgh'[k]}" for k in range(8)})
    assert GENES not in kinds_of(places)


@pytest.mark.parametrize(("share", "usual"), [(0.01, "reverse"), (0.99, "forward"), (0.5, "unstranded")])
def test_of_the_strands_of_star_the_one_of_the_totals_stays(share, usual, rng):
    whole = counts_of_genes(rng, names=[f"ENSG{k:011d}" for k in range(40)]).set_index("Geneid")
    forward = pd.DataFrame(rng.binomial(whole, share), whole.index, whole.columns)
    strands = {"unstranded": whole, "forward": forward, "reverse": whole - forward}
    table = pd.concat([part.add_suffix(f"_{strand}") for strand, part in strands.items()], axis=1).reset_index()
    np.testing.assert_array_equal(after(table).to_numpy(), strands[usual].T.to_numpy())


def test_a_last_row_alone_without_a_name_holds_sums_of_nearly_all(rng):
    table = pd.DataFrame(rng.poisson(40.0, (20, 5)), columns=list("abcde"))
    table.insert(0, "Source", [f"site {k}" for k in range(20)])
    last = table.iloc[:, 1:].sum().rename(20).to_frame().T.assign(Source="", a=700)  # who came twice counts once
    whole = pd.concat([table, last], ignore_index=True)[table.columns]
    assert kinds_of(whole)[0] == TOTALS and after(whole).shape == (20, 5)
    assert TOTALS not in kinds_of(whole.assign(b=1, c=2))


def test_texts_beside_genes_describe_them(rng):
    table = pd.DataFrame(rng.poisson(rng.lognormal(3, 1.5, 40)[:, None], (40, 12))).add_prefix("s")
    table.insert(0, "symbol", [f"G{at}" for at in range(40)])
    table.insert(1, "what", [f"a protein of kind {at}" for at in range(40)])
    (first, _), (second, after) = tidied(table)
    assert (first.kind, first.edits) == ("annotation", (Columns(without=("what",)),)) and second.kind == "genes"
    assert after.shape == (12, 40)


def test_genes_are_known_by_symbols_ranks_of_taxa_and_names_of_parts(rng):
    table = counts_of_genes(rng, names=[f"{'QWERTYUIOP'[k % 10]}{'ASDF'[k // 10]}X{k}" for k in range(40)])
    table.iloc[3, 1:] = 0
    found, after = next(tidied(table.rename(columns={"Geneid": ""})))
    assert found.kind == GENES and after.shape == (8, 39) and "QAX0" in after and "RAX3" not in after
    mice = [name if k % 2 else f"Gm{k}123" for k, name in enumerate(table["Geneid"])]
    assert next(tidied(table.assign(Geneid=mice).rename(columns={"Geneid": ""})))[0].kind == GENES
    flat = pd.DataFrame(rng.poisson(5.0, (30, 6)), columns=list("abcdef"))
    ranks = {rank: rng.choice(["x", "y"], 30) for rank in ("Kingdom", "Phylum", "Genus")}
    taxa = pd.DataFrame({**ranks, "id": [f"t{k}" for k in range(30)]}).join(flat)
    found, after = next(tidied(taxa))
    assert found.kind == GENES and after.shape == (6, 30) and after.columns[3] == "t3"
    species = counts_of_genes(rng, names=[f"Carex {k}" for k in range(40)]).rename(columns={"Geneid": "Species"})
    assert next(tidied(species))[0].kind == GENES
    assert GENES not in kinds_of(species.rename(columns={"s3": "eggs"}))  # columns of other kinds: traits
    cells = flat.set_axis([letter * 16 + "-1" for letter in "ACGTAC"], axis=1)
    cells.columns = [f"{at}_{name}" for at, name in enumerate(cells)]
    cells.insert(0, "", [f"G{k}" for k in range(30)])
    assert next(tidied(cells))[0].kind == GENES
    numbers = counts_of_genes(rng, names=rng.permutation(10**6)[:40])
    found, after = next(tidied(numbers))
    assert found.kind == GENES and after.columns[0] == str(numbers.iloc[0, 0]) and after.shape == (8, 40)
    guides = pd.DataFrame({"sgRNA": [f"AC{k}" for k in range(30)]}).join(flat)
    assert next(tidied(guides))[0].kind == GENES


def test_ids_with_symbols_behind_are_ids_of_genes(rng):
    flat = pd.DataFrame(rng.poisson(30.0, (40, 8)), columns=[f"rsem/{name}.genes.results" for name in SAMPLES])
    for mark in "_|":
        flat.insert(0, "", [f"ENSG{k:011d}{mark}GEN{k}" for k in range(40)])
        assert kinds_of(flat) == [GENES]
        flat = flat.drop(columns="")


def test_what_is_measured_beside_counts_of_genes_is_left_out(rng):
    table = counts_of_genes(rng)
    statistics = table.assign(logFC=rng.normal(0, 1, 40), PValue=rng.uniform(0, 1, 40), mass=rng.uniform(1, 9, 40))
    assert kinds_of(statistics) == [ANNOTATION, GENES] and after(statistics).shape == (8, 40)
    both = [table.set_index("Geneid").add_prefix(prefix) for prefix in ("counts.", "length.")]
    both = pd.concat(both, axis=1).reset_index()
    assert list(after(both).index) == [f"counts.{name}" for name in SAMPLES]
    normed = table.join(table[SAMPLES].add_suffix("(norm)"))
    assert list(after(normed).index) == SAMPLES
    rsem = table.set_index("Geneid").add_suffix("_expected_count")
    rsem = rsem.join(table.set_index("Geneid").add_suffix("_TPM") * 0.5).reset_index()
    assert list(after(rsem).index) == [f"{name}_expected_count" for name in SAMPLES]
    assert kinds_of(table.rename(columns={"s0": "length"})) == [ANNOTATION, GENES]


def test_places_on_chromosomes_and_mirnas_are_genes(rng):
    table = counts_of_genes(rng)
    places = table.assign(Geneid="chr1", start=range(40), end=range(9, 49)).rename(columns={"Geneid": "#chr"})
    changed = after(places[["#chr", "start", "end", *SAMPLES]])
    assert changed.shape == (8, 40) and changed.columns[3] == "chr1 · 3 · 12"
    peaks = table.assign(Geneid=[f"chr2:{k}00-{k}90" for k in range(40)]).rename(columns={"Geneid": "x"})
    mirnas = table.assign(Geneid=[f"hsa-miR-{k}-5p" for k in range(40)]).rename(columns={"Geneid": "x"})
    dates = table.assign(Geneid=[f"2020-01-{k}" for k in range(40)]).rename(columns={"Geneid": "x"})
    assert [GENES in kinds_of(one) for one in (peaks, mirnas, dates)] == [True, True, False]


def test_totals_come_again_once_rows_and_columns_are_exchanged(rng):
    table = counts_of_genes(rng)
    assert kinds_of(table.assign(**{"reads total": table[SAMPLES].sum(axis=1)})) in ([TOTALS, GENES], [GENES, TOTALS])


def test_richness_and_indices_are_no_rows(rng):
    table = pd.DataFrame(rng.poisson(1.0, (20, 4)), columns=list("abcd"))
    table.insert(0, "taxon", [f"t{k}" for k in range(20)])
    counts = table[list("abcd")]
    ends = [["Richness", *(counts > 0).sum()], ["Shannon H", 1.2, 0.9, 1.4, 1.1]]
    found, changed = next(tidied(pd.concat([table, pd.DataFrame(ends, columns=table.columns)], ignore_index=True)))
    assert found.kind == TOTALS and found.edits[0].rows == ((21, 22),)
    pd.testing.assert_frame_equal(changed, table, check_dtype=False)


def test_numbers_of_species_are_left_out_if_they_are_right(rng):
    counts = pd.DataFrame(rng.poisson(1.0, (20, 4)), columns=list("abcd"))
    right = (counts > 0).sum(axis=1)
    for name in ("No. taxa", "n taxa", "# species", "Number of species", "No spp"):
        found = suggestion(counts.assign(**{name: right}))
        assert found.kind == TOTALS and found.edits[0].without == (name,)
        assert suggestion(counts.assign(**{name: right.mask(right.index == 3, right + 2)})) is None


def test_variables_of_several_kinds_in_rows_are_exchanged(rng):
    hauls = [str(k + 1) for k in range(20)]
    rows = [["date", *[f"2{k // 9}.01.2019" for k in range(20)]], ["depth (m)", *rng.integers(20, 90, 20)]]
    rows += [[f"Piscis {letter}", *rng.poisson(5.0, 20)] for letter in "abcdef"]
    table = pd.DataFrame(rows, columns=["haul", *hauls])
    (found, turned), *_ = tidied(table)
    assert found.kind == VARIABLES and turned.shape == (20, 8) and turned["Piscis c"].tolist() == rows[4][1:]
    lost = table.copy()
    lost.iloc[0, 1:] = "lost"
    assert VARIABLES not in kinds_of(lost) and VARIABLES not in kinds_of(table.iloc[[1, 0, *range(2, 8)]])


def test_protein_groups_are_read_by_their_spectra(rng):
    samples = [f"Ctrl_{k:02d}" for k in range(6)]
    counts = pd.DataFrame(rng.poisson(rng.lognormal(2, 1.5, 40)[:, None], (40, 6)), columns=samples)
    parts = {"Peptides": counts // 2, "LFQ intensity": counts * 1000, "MS/MS count": counts}
    table = pd.concat([part.add_prefix(f"{name} ") for name, part in parts.items()], axis=1)
    table.insert(0, "Protein IDs", [f"{'CON__' if k == 7 else ''}P{k:05d};Q{k}" for k in range(40)])
    table = table.assign(**{"Number of proteins": 1, "Sequence length": rng.integers(90, 900, 40), "MS/MS count": 9})
    changed = after(table)
    assert kinds_of(table) == [SUMMARIES, ANNOTATION, ANNOTATION, GENES]
    assert list(changed.index) == [f"MS/MS count {name}" for name in samples] and changed.shape == (6, 39)
    np.testing.assert_array_equal(changed.to_numpy(), counts.drop(index=7).to_numpy().T)


def test_results_of_tests_are_no_samples(rng):
    table = pd.DataFrame(rng.normal(0, 2, (40, 5)), columns=["baseMean", "log2FoldChange", "stat", "pvalue", "padj"])
    table.insert(0, "", [f"ENSG{k:011d}" for k in range(40)])
    assert kinds_of(table) == [NAMES]


def test_the_lines_of_a_player_in_all_teams_are_totals(rng):
    table = pd.DataFrame(rng.poisson(20.0, (60, 6)), columns=["G", "FG", "AST", "STL", "BLK", "PF"])
    teams = pd.Series([f"T{k % 9}" for k in range(60)])
    rows, team, rank = [], [], []
    for player, part in enumerate(np.split(np.arange(60), range(3, 60, 3))):
        one = player % 2 == 0
        rows += [table.iloc[part].sum().tolist()] * one + table.iloc[part].to_numpy().tolist()
        team, rank = team + ["TOT"] * one + teams[part].tolist(), rank + [player + 1] * (len(part) + one)
    whole = pd.DataFrame(rows, columns=table.columns).assign(Tm=team, Rk=rank)
    found, changed = next(tidied(whole))
    assert found.kind == TOTALS and "TOT" not in {*changed["Tm"]}
    pd.testing.assert_frame_equal(changed[table.columns], table)
