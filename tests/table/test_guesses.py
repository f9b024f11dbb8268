"""Guesses at the roles of columns: from text, decimals and names, and none for counts."""

import numpy as np
import pandas as pd
import pytest

from disco import simulate
from disco.subjects.studies import lahman
from disco.table.artefacts import ignored, plain_artefacts
from disco.table.counts import describe
from disco.table.guesses import guesses
from disco.table.interventions import found_in
from disco.table.roles import Roles
from disco.table.rows import proposal

ROWS = 240
_RNG = np.random.default_rng(0)
COLUMNS = {
    "counts": (_RNG.poisson(3.0, ROWS), None),
    "flag": (_RNG.integers(0, 2, ROWS), None),
    "few blanks": ([None, None, *_RNG.poisson(3.0, ROWS - 2)], None),
    "a fault": (["low", *_RNG.poisson(3.0, ROWS - 1)], None),
    "marks": (["[c]"] * (ROWS // 3) + [str(n) for n in _RNG.poisson(30.0, ROWS - ROWS // 3)], None),
    "year": (_RNG.poisson(0.5, ROWS), None),
    "site_visits": (_RNG.integers(1, 9, ROWS), None),
    "Lab report 1": (_RNG.integers(1, 9, ROWS), None),
    "length": (_RNG.poisson(3.0, ROWS), None),
    "shell length": (1 + _RNG.poisson(30.0, ROWS), "covariate, continuous"),
    "Stint": (_RNG.poisson(3.0, ROWS), None),
    "stint": (1 + _RNG.poisson(0.3, ROWS), "ignore"),
    "education": (_RNG.integers(0, 5, ROWS), "covariate, continuous"),
    "treatment": ([0, 1, 5, 7] + [2, 3] * (ROWS // 2 - 2), None),
    "lab": ([0, 1, 5, 7] + [2, 3] * (ROWS // 2 - 2), None),
    "month": ([1, 5, 7, 8] + [2, 3] * (ROWS // 2 - 2), "covariate, continuous"),
    "depth (m)": (_RNG.poisson(50.0, ROWS), "covariate, continuous"),
    "days-since-start": (_RNG.poisson(50.0, ROWS), "covariate, continuous"),
    "day": (_RNG.integers(1, 28, ROWS), "covariate, continuous"),
    "day of it": (20240100 + _RNG.integers(1, 28, ROWS), "ignore"),
    "Datum": (220100 + _RNG.integers(1, 28, ROWS), "ignore"),
    "Rk": (np.arange(ROWS) // 2, "ignore"),
    "trials.thisRepN": (np.arange(ROWS) // 2, "ignore"),
    "price": (["9.5", *["10"] * (ROWS // 2), *["12"] * (ROWS // 2 - 1)], "covariate, continuous"),
    "distance (mi)": ([None] * 40 + [*_RNG.uniform(1, 9, ROWS - 40)], "ignore"),
    "nFeature_RNA": (_RNG.poisson(900.0, ROWS), "ignore"),
    "RNA_snn_res.0.5": (_RNG.integers(0, 9, ROWS), "ignore"),
    "species": (["adelie", "gentoo"] * (ROWS // 2), "covariate, categorical"),
    "with blanks": (["", "NA", "x", "y"] * (ROWS // 4), "ignore"),
    "a few unknown": (["", *"xyxyxyxyxyx"] * (ROWS // 12), "covariate, categorical"),
    "one and blanks": (["", "x"] * (ROWS // 2), "ignore"),
    "name": ([f"n{row}" for row in range(ROWS)], "ignore"),
    "who": ([f"n{row % 60}" for row in range(ROWS)], "group"),
    "constant": (["here"] * ROWS, "ignore"),
    "bill": (_RNG.normal(40, 3, ROWS).round(1), "covariate, continuous"),
    "change": (_RNG.integers(-5, 6, ROWS), "covariate, continuous"),
    "empty": ([None] * ROWS, "ignore"),
    "plot_id": (np.arange(ROWS) % 24 + 1, "group"),
    "mouse": (_RNG.poisson(1.0, ROWS), None),  # how many were caught
    "Animal": (np.arange(ROWS) % 24 + 1, "group"),
    "mouse_id": (np.arange(ROWS) % 24, "group"),
    "batchNumber": (np.arange(ROWS) % 4, "covariate, categorical"),
    "sample_id": (_RNG.permutation(ROWS), "ignore"),
    "age": (_RNG.integers(20, 80, ROWS), "covariate, continuous"),
    "when": (_RNG.integers(1977, 2021, ROWS), "covariate, continuous"),
    "library_size": (_RNG.integers(9_000, 90_000, ROWS), "exposure"),
    "effort": (_RNG.uniform(0.5, 8, ROWS), "exposure"),
    "area_m2": (_RNG.choice([25, 50, 100], ROWS), "exposure"),
    "depth": (np.arange(ROWS) % 9, None),  # an exposure of zero there is none
    "1 or 2": (pd.Categorical(["1", "2"] * (ROWS // 2)), None),
    "reed cover %": (_RNG.integers(0, 101, ROWS), "covariate, continuous"),
    "pct_open": (_RNG.poisson(40.0, ROWS), "covariate, continuous"),
    "water depth (cm)": (_RNG.negative_binomial(2, 0.1, ROWS), "covariate, continuous"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_alone(name):
    cells, wanted = COLUMNS[name]
    found = guesses(pd.DataFrame({"n": _RNG.poisson(2.0, ROWS), name: cells}))
    assert (str(found[1]) if 1 in found else None) == wanted


COUNTED = """hospital_days lab_tests sex_partners site_visits patients nurses_on_shift doctor_visits drug_tests falls
    seizures lesions infections age_group_events cohort_deaths mouse mouse_captures cluster number_of_sites birds eggs
    plot_seedlings larvae absences books_read library_visits late_arrivals class_absences school player_fouls
    goals shots season_goals home_runs page_views region_sales price_changes diet_changes type_errors hours total strain
    """.split()
LAWS = {
    "few": lambda rng: rng.poisson(1.5, 1000),
    "some": lambda rng: rng.poisson(4.0, 300),
    "many": lambda rng: rng.poisson(25.0, 300),
    "spread": lambda rng: rng.negative_binomial(1, 0.25, 300),
    "wide": lambda rng: rng.negative_binomial(2, 2 / 32, 120),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_name_does_not_outweigh_values_that_are_counts(law, rng):
    table = pd.DataFrame({name: LAWS[law](rng) for name in ["n", *COUNTED]})
    assert [table.columns[at] for at in guesses(table)] == []


def test_labels_and_measures_of_whole_numbers_are_no_counts(rng):
    shares = np.array([1, 1, 2, 3, 5, 8, 10, 9, 6, 4, 2, 1])
    labels = {
        "site_code": rng.choice([1, 2, 3, 5, 8], ROWS, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "hospital_id": rng.choice(30, ROWS, p=rng.dirichlet(np.ones(30))) + 1,
        "batch": np.arange(ROWS) // 40,
        "region": rng.choice(5, ROWS, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        "weathersit": rng.choice([1, 2, 3, 4], ROWS, p=[0.6, 0.25, 0.13, 0.02]),
        "plot": rng.integers(1, 13, ROWS),
        "month": rng.choice(12, ROWS, p=shares / shares.sum()) + 1,
        "age_at_diagnosis": rng.normal(60, 8, ROWS).clip(20, 95).round(),
        "age_years": rng.normal(45, 15, ROWS).clip(18, 95).round(),
        "birth_year": rng.normal(1980, 8, ROWS).round(),
        "year_of_birth": rng.integers(1930, 2000, ROWS),
        "treatment": rng.integers(0, 2, ROWS),
        "dose": rng.choice([0, 5, 10, 50], ROWS),
        "visited": rng.integers(20240101, 20240131, ROWS),
        "effort": rng.integers(1, 9, ROWS),
        "total_score": rng.normal(20, 3, ROWS).round(1),
    }
    assert len(guesses(pd.DataFrame({"n": rng.poisson(2.0, ROWS), **labels}))) == len(labels)


def test_one_group_and_one_exposure_at_most():
    table = pd.DataFrame({name: COLUMNS[name][0] for name in ("who", "plot_id", "library_size", "effort")})
    assert [str(guess) for guess in guesses(table).values()] == ["group", "ignore", "exposure", "covariate, continuous"]


def test_tables_of_counts_alone_have_none():
    assert not guesses(lahman.cohort(2012, 2018))
    assert not guesses(simulate.poisson_er(nodes=20, rows=300, k=3, seed=0)[0])


def test_names_may_be_missing_repeated_or_strange():
    table = pd.DataFrame([[1, "x", 2.5]] * 20 + [[2, "y", 3.5]] * 20, columns=[None, "b", "b"])
    assert [str(guess) for guess in guesses(table).values()] == ["covariate, categorical", "covariate, continuous"]


@pytest.mark.parametrize(
    ("label", "nodes"),
    [
        ("sgKLF1", ("KLF1",)),
        ("KLF1_KO", ("KLF1",)),
        ("klf1-ko + GATA1", ("KLF1", "GATA1")),
        ("sgGATA1_12", ("GATA1",)),
        ("GATA1;odd", ()),  # a part that nothing explains
        ("KLF10", ()),  # another gene
        ("", ()),
    ],
)
def test_names_of_nodes_are_found_in_labels(label, nodes):
    assert found_in(label, ["KLF1", "GATA1", "x"]) == nodes


def test_labels_with_names_of_columns_in_them_are_an_intervention_if_the_column_is_called_so():
    labels = np.repeat(["NT", "sga", "sgb"], 40)
    table = pd.DataFrame({"a": np.arange(120) % 7, "b": np.arange(120) % 5, "guide": labels})
    assert str(guesses(table)[2]) == "intervention, set"
    assert str(guesses(table.rename(columns={"guide": "place"}))[2]) == "covariate, categorical"


def test_marks_of_another_column_and_of_a_survey_are_ignored(rng):
    table = pd.DataFrame(
        {"KFZ": rng.poisson(9.0, 60), "K_KFZ": ["-", "a"] * 30, "Progress": 100 - rng.integers(0, 2, 60)}
    )
    assert str(guesses(table)[1]) == "ignore" and 2 not in guesses(table)
    assert str(guesses(table.assign(ResponseId=[f"R_{k}" for k in range(60)]))[2]) == "ignore"
    assert str(guesses(table.rename(columns={"K_KFZ": "K"}))[1]) == "covariate, categorical"


def test_marks_that_a_gradebook_computes_are_ignored_and_join_nothing(rng):
    table = pd.DataFrame(rng.binomial(20, 0.6, (60, 3)), columns=["Quiz 1", "Quiz 2", "Midterm (884388)"])
    table["Quizzes Current Score"] = table.iloc[:, :2].mean(axis=1) / 0.2
    table["Final Grade"] = np.where(table["Quiz 1"] + table["Quiz 2"] > 24, "A", "B")
    table["Course total (Real)"] = table.iloc[:, :3].sum(axis=1)
    found = guesses(table)
    assert {at: guess.role for at, guess in found.items()} == dict.fromkeys([3, 4, 5], "ignore")
    roles = Roles({table.columns[at]: guess.declaration for at, guess in found.items()})
    assert ignored(table, roles).empty and list(ignored(table, Roles({"Quiz 1": "ignore"}))) == ["Quiz 1"]


def test_among_words_some_are_called_like_measures(rng):
    words = pd.DataFrame(rng.negative_binomial(1, 0.2, (60, 60)), columns=[f"word{at}" for at in range(60)])
    words = words.rename(columns={"word3": "year", "word9": "taxes", "word12": "id"})
    assert guesses(words) == {} and {3, 9} <= {*guesses(words.iloc[:, :20])}
    assert [*guesses(words.rename(columns={"year": "days since start"}))] == [3]
    assert [*guesses(words.assign(year=words["year"] + 1))] == [3]


def test_classes_of_counts_and_labels_of_single_rows_are_no_covariates(rng):
    table = pd.DataFrame(rng.poisson(3.0, (20, 2)), columns=["a", "b"])
    classes = table.assign(c=rng.choice(["0", "1", "2-10", "11-100", ">100"], 20), d=["1997-2011", "2001-2007"] * 10)
    assert {at: guess.role for at, guess in guesses(classes).items()} == {3: "covariate"}
    labels = table.assign(Group=[f"F3D{at}" for at in range(20)], rare=[*"uvwxyz", *"a" * 14])
    assert {at: guess.role for at, guess in guesses(labels).items()} == {2: "ignore", 3: "ignore"}


def test_the_sexes_name_no_columns(rng):
    table = pd.DataFrame(rng.poisson(3.0, (60, 2)), columns=["F", "M"]).assign(sex=["F", "M"] * 30)
    assert str(guesses(table)[2]) == "covariate, categorical"


def test_a_percentage_that_is_mostly_0_is_a_rate_and_a_product_is_left_out(rng):
    table = pd.DataFrame(rng.poisson(3, (200, 2)), columns=["a", "b"])
    table["share"] = np.where(rng.random(200) < 0.1, rng.uniform(0, 100, 200), 0)
    table[["u", "v"]] = rng.normal(10, 1, (200, 2))
    guessed = guesses(table.assign(u_v=table["u"] * table["v"]))
    assert guessed[2].role == guessed[3].role == "covariate" and guessed[5].role == "ignore"
    advised = proposal(table[["a", "b", "share"]])
    assert [*advised.columns] == [2] and not len(advised.rows)
    described = describe(table)["type"][2]
    (related,) = plain_artefacts(
        table.assign(u=table[["a", "b", "v"]].sum(axis=1)), dict.fromkeys(["share", "u", "v"], "ignore")
    )
    assert described == "not counts" and related.roles is None and '"u" may be an effect' in related.remedy


def test_a_time_has_one_row_per_step_and_unit():
    rng, rows = np.random.default_rng(0), 240
    counts = pd.DataFrame(rng.poisson(4, (rows, 2)), columns=["a", "b"])
    week, month = pd.date_range("2020-01-06", periods=rows, freq="7D").astype(str), np.arange(rows)
    panel = {"unit": np.repeat([f"u{at}" for at in range(24)], 10), "week": month % 10}
    tables = [
        (counts.assign(date=week), ["date"]),
        (counts.assign(week=month), ["week"]),
        (counts.assign(**panel), ["week"]),
        (counts.assign(year=2000 + month // 12, month=month % 12 + 1), ["year", "month"]),
        (counts.assign(year=np.sort(rng.integers(1990, 2001, rows))), []),
        (counts.assign(week=rng.permutation(month)), []),
        (counts.assign(date=week)[:20], []),
    ]
    for table, expected in tables:
        assert [table.columns[at] for at, guess in guesses(table).items() if guess.role == "time"] == expected
