"""Guesses at the roles of columns, from their cells and names. A guess is only shown and has no effect until accepted.

Text is a covariate, a group if it has many levels, or ignored if almost every row has its own. An experiment is never a
covariate: a column of names of other columns is an intervention, and one named like a treatment is a context. Numbers
with decimals or signs are covariates, or an exposure by their name. Whole numbers from 0 up are counts, unless their
name suggests otherwise, such as `plot_id`, `year` or `age`, or they are years. The name of a group, a category or an
experiment, or a measure within a longer name, does not outweigh values that are distributed as counts. What an h5ad
file stores as categories is like text.
"""

import re
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import betainc, gammaln, xlog1py

from disco.table.adjustment import CATEGORICAL, CONTINUOUS, ONLY_CAUSES
from disco.table.cells import YEARS, as_frame, columns_of, is_count, is_number, numbers_of, value_counts
from disco.table.formats.plain import MATRIX, PERCENTS
from disco.table.identifiers import computed_columns, identifier, phrase, words_of
from disco.table.interventions import SET, found_in, targets_named
from disco.table.reshape import described_by
from disco.table.rows import MOST_FAULTY, is_rate, kind_of_text, readable
from disco.table.time_guesses import time_of
from disco.words import how_many

_LOOKED_AT = 50  # cells
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = (
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|"
    rf"\d{{1,2}}[. -]+{_MONTH}[ -]+\d{{2,4}}|{_MONTH} +\d{{1,2}},? +\d{{4}})([ T]\d{{1,2}}:\d{{2}}.*)?$"
)
_FEW_MEDIAN, _LEAST_ZEROS = 3, 0.3  # of a column that counts what its name measures: median, share of zeros
_MANY_COUNTS, _SOME_ZEROS = 50, 0.05  # with so many counts, of words or genes, some are called like measures
_MOST_BLANK = 0.1  # of a covariate, which needs a value in every row
MANY = 20  # levels of a category; with more it is rather a group
_LEAST_LEVELS = 4  # of a distribution of counts
_LEAST_SPREAD, _NEARLY_POISSON = 0.6, 1.01  # variance by mean: the least of counts, and of a negative binomial
_LEAST_EVIDENCE, _MOST_BEYOND = 3.0, 6.0  # nats for counts against labels; rows expected outside their range
_FEW, _MOST_AT_END, _MOST_DISTANCE = 3, 0.02, 0.08  # rows and share at the maximum; distance of distributions
_GROUPS = {
    *("donor", "subject", "patient", "participant", "person", "individual", "animal", "mouse", "family", "household"),
    *("transect", "cluster", "litter", "player", "school", "hospital"),
}
_CATEGORIES = {
    *("batch", "site", "plot", "plate", "block", "lane", "sex", "gender", "region"),
    *("country", "replicate", "cage", "lab", "center", "centre", "strain", "genotype", "month", "weekday", "season"),
    *("habitat", "station", "cohort", "chip", "observer", "type", "class", "mnth", "holiday", "workingday", "weather"),
    *("weathersit", "shift", "geschlecht", "sexe", "sexo", "monat", "wochentag", "wotag", "schicht", "rep"),
}
_SIZE_UNITS = {"mm", "cm", "kg"}  # after another word: of a depth of water, which may be 0
_SIZES = _SIZE_UNITS | {  # never 0
    *("weight", "mass", "height", "length", "width", "bmi"),
    *("gewicht", "laenge", "breite", "hoehe", "poids", "taille", "peso", "talla"),
}
_NUMBERS = {
    *("year", "yr", "age", "km"),
    *("temperature", "temp", "elevation", "altitude", "latitude"),
    *("longitude", "lat", "lon", "income", "education", "duration", "observers", "hour", "jahr", "stunde", "woche"),
    *("time", "price", "subtotal", "taxes", "shipping", "revenue", "cost", "alter", "edad", "einkommen"),
} | _SIZES
_EXPERIMENTS = {
    *("treatment", "treated", "treat", "condition", "arm", "guide", "sgrna", "grna", "perturbation", "perturbed"),
    *("knockout", "knockdown", "ko", "dose", "drug", "compound", "stimulus", "stimulation", "inhibitor"),
    *("intervention", "exclosure", "fertiliser", "fertilizer", "irrigation", "vaccine", "diet"),
}
_DOSES = {"dose", "concentration"}
_EXPOSURES = {
    *("exposure", "effort", "depth", "hours", "offset", "volume", "trapnights", "lib_size", "total", "population")
}
_PHRASES = {"library size", "total counts", "sequencing depth", "n counts", "person years", "trap nights", "lib size"}
_PHRASES |= {"n count rna", "n umi", "total umis", "area m2", "area ha", "plot area"}
_PERCENTS = {"percent", "pct", "perc", "percentage", "prozent"}
_UNITS = {"min", "minutes", "h", "hrs", "days", "km", "m", "m2", "ha", "l", "ml"}
_LABELS = {"id", "no", "nr", "number", "num", "code", "name", "label", "index", "type", "key"}
_TIME_UNITS = {"years", "yrs", "months", "weeks", "days", "hours", "minutes", "seconds"}
_AMOUNTS = {"hours", "volume", "total", "population", "depth"}  # an exposure, or what is counted
_CYCLES = {"month", "mnth", "monat", "weekday", "wochentag", "wotag", "season", "hour", "stunde"}
_PREPOSITIONS = {"of", "at", "in", "per", "since", "on", "from", "for"}
_SPELLS = {"stint", "spell"}
_CAUSES = _GROUPS | _CATEGORIES | _NUMBERS | _EXPERIMENTS | _EXPOSURES | _TIME_UNITS
_CAUSES |= set("speaker author reader rater technician operator species date day lot run group".split())
_OF_SURVEY = {"progress", "finished", "duration in seconds"}  # what Qualtrics adds, besides ResponseId
_OF_GRADEBOOK = re.compile(r"(.+ )?((unposted )?(current|final) (score|grade|points)|course total.*)")
_SINCE = re.compile("(days|months|years).since", re.IGNORECASE)
_OF_TRIALS = re.compile(r".+\.this(repn|trialn|n|index)")  # of PsychoPy
_OF_CELL = re.compile(r"n_?(feature|gene)s?(_.+)?|\w+_snn_res[\d.]*|seurat_clusters|leiden|louvain")
_EXPERIMENT_PHRASES = {"plot type", "sg rna", "g rna"}


@dataclass(frozen=True)
class Guess:
    """What a column may be."""

    role: str  # covariate, context, intervention, exposure, group, time or ignore
    kind: str  # of the first three; empty otherwise
    why: str  # the rest of a sentence that begins with the column's name
    caution: str = ""  # a sentence on a covariate that only its values suggest: it may be an effect of the counts

    @property
    def declaration(self) -> str | tuple[str, str]:
        """The guess as `Roles` takes it."""
        return (self.role, self.kind) if self.kind else self.role

    @property
    def is_by_name(self) -> bool:
        """Whether it rests on the column's name alone."""
        return self.why.startswith("has the name")

    def __str__(self) -> str:
        return f"{self.role}, {self.kind}" if self.kind else self.role


def guesses(table: pd.DataFrame) -> dict[int, Guess]:
    """The columns of a table that do not look like counts: position → guess.

    At most one column is guessed to be the exposure, one the group, and one the intervention.
    """
    guessed: dict[int, Guess] = {}
    table = as_frame(table)
    categories = table.attrs.get(MATRIX, {}).get("categories", ())
    once = {"exposure", "group", "intervention"}  # what no column was guessed to be so far
    names = {name for name, _ in columns_of(table)}
    numbers = {name for name, column in columns_of(table) if pd.api.types.is_numeric_dtype(column)}
    described = dict.fromkeys(described_by(table), "describes the rows")
    described |= dict.fromkeys(table.attrs.get(PERCENTS, ()), "has percentages")
    for position, (name, column) in enumerate(columns_of(table)):
        guess = _of_levels(column, "categories") if name in categories else _guess(column, name)
        guess = _of_experiment(column, name, names, guess) or guess
        of = name.removeprefix("K_").removesuffix("_flag").removesuffix("_qc")  # temp for temp_flag and K_temp
        if guess is not None and guess.kind == CATEGORICAL and of != name and of in numbers:
            guess = Guess("ignore", "", f'marks the cells of "{of}"')
        if _OF_GRADEBOOK.fullmatch(phrase(name)):
            guess = Guess("ignore", "", "is computed from the other marks")
        if guess is None and name in described and column.nunique() > 1:
            guess = Guess("covariate", CONTINUOUS, described[name])
        if "ResponseId" in names and " ".join(words_of(name)) in _OF_SURVEY:
            guess = Guess("ignore", "", "is written by the survey's program")
        if guess is not None and guess.role in ("exposure", "group", "intervention"):
            guess = guess if guess.role in once else _second(column, guess)
            once -= {guess.role}
        if guess is not None:
            guessed[position] = guess
    if table.shape[1] - len(guessed) >= _MANY_COUNTS:
        guessed = {at: guess for at, guess in guessed.items() if not (guess.is_by_name and _may_be_word(table, at))}
    covariates = [at for at, guess in guessed.items() if guess.role == "covariate"]
    guessed |= {at: _cautious(table.columns[at], guessed[at]) for at in covariates}
    dates = [at for at, guess in guessed.items() if guess.role == "ignore" and _are_dates(table.iloc[:, at])]
    times, step = time_of(table, dates, next((at for at, guess in guessed.items() if guess.role == "group"), None))
    guessed |= dict.fromkeys(times, Guess("time", "", f"tells when, {step}"))
    covariates = [at for at in covariates if at not in times]
    whys = computed_columns(table, covariates, [at for at in range(table.shape[1]) if at not in guessed])
    return guessed | {at: Guess("ignore", "", why) for at, why in whys.items()}


def _cautious(name: object, guess: Guess) -> Guess:
    """A guess at a covariate, with a caution unless its name is that of a cause."""
    is_of_cause = guess.why.startswith(("has the name", "has years", "describes")) or {*words_of(str(name))} & _CAUSES
    return guess if is_of_cause else replace(guess, caution=ONLY_CAUSES)


def _may_be_word(table: pd.DataFrame, at: int) -> bool:
    ((name, cells),) = columns_of(table.iloc[:, [at]])
    return len(words_of(name)) == 1 and bool((readable(cells) == 0).mean() >= _SOME_ZEROS)


def is_computed(name: str) -> bool:
    """Whether a column has the name of a value that a program computes from others: a score, the genes of a cell."""
    return any(pattern.fullmatch(text) for pattern, text in ((_OF_GRADEBOOK, phrase(name)), (_OF_CELL, name.lower())))


def _of_experiment(column: pd.Series, name: str, names: set[str], guess: Guess | None) -> Guess | None:
    """The guess at a column that records what was done to a row; None for another column."""
    words = words_of(name)
    is_text = guess is not None and not pd.api.types.is_numeric_dtype(column) and not {*words} & _CATEGORIES
    labels = targets_named(column.dropna().astype(str).unique()) if is_text else set()
    labels = {label for label in labels if not label.isdecimal()}  # columns may be called 1, 2, 3
    within = sum(bool(found_in(label, names)) for label in labels) if {*words} & _EXPERIMENTS else 0
    if labels and max(len(labels & names), within) >= len(labels) / 2:
        return Guess("intervention", SET, "names columns of this table in its cells")
    if not {*words} & _EXPERIMENTS and " ".join(words[-2:]) not in _EXPERIMENT_PHRASES:
        return None
    levels = column.dropna().astype(str).nunique()
    if levels < 2 or (guess is not None and guess.role in ("group", "ignore")):
        return None
    values = readable(column)
    if is_count(values).all() and _is_counted(values):
        return None
    if {*words} & _DOSES and not np.isnan(values[column.notna()]).any():
        return Guess("context", CONTINUOUS, "has the name of a dose")
    why = f"has the name of an experiment, and {levels:,} values"
    return Guess("context", CATEGORICAL, why) if levels <= MANY else None


def _second(column: pd.Series, guess: Guess) -> Guess:
    if guess.role == "intervention":
        return Guess("context", CATEGORICAL, guess.why) if column.nunique() <= MANY else Guess("ignore", "", guess.why)
    if guess.role == "exposure":
        return Guess("covariate", CONTINUOUS, guess.why)
    is_few = column.nunique() <= MANY
    return Guess("covariate", CATEGORICAL, guess.why) if is_few else Guess("ignore", "", guess.why)


def _guess(column: pd.Series, name: str) -> Guess | None:
    rows, (numbers, invalid), values = len(column), numbers_of(column), readable(column)
    if (~is_count(values)).sum() <= MOST_FAULTY * rows and not is_rate(values):
        return _by_name(values, name)
    if (invalid & np.isnan(values)).sum() <= MOST_FAULTY * rows:
        return _of_numbers(values, name)
    if np.isfinite(values).sum() >= column.notna().sum() / 2:  # numbers and marks among them
        return None
    texts = column[~np.isnan(numbers) | invalid]
    if np.mean([is_number(cell) or kind_of_text(cell) != "text" for cell in texts.astype(str)]) > 1 - MOST_FAULTY:
        return None  # bounds and classes of counts
    return _of_levels(texts, "texts", rows)


def _of_levels(column: pd.Series, what: str, rows: int | None = None) -> Guess:
    """The guess at a column of text or categories with this number of rows, including missing cells."""
    rows, levels = rows or len(column), column.dropna().astype(str).nunique()
    what = "dates" if (are_dates := _are_dates(column)) else what
    if levels == 1:
        return Guess("ignore", "", "never changes")
    if levels > MANY and are_dates:
        return Guess("ignore", "", "looks like dates")
    if levels == rows > 1:
        return Guess("ignore", "", "has a different text in every row")
    if levels <= MANY and (column.astype(str).value_counts() == 1).sum() > MOST_FAULTY * rows:
        return Guess("ignore", "", f"has {levels:,} {what}, many in one row only")
    if levels > max(MANY, rows / 2):
        return Guess("ignore", "", f"has {levels:,} {what} in {rows:,} rows")
    if levels > MANY:
        return Guess("group", "", f"has {levels:,} {what} that repeat")
    if (blank := rows - len(column.dropna())) > _MOST_BLANK * rows:
        return Guess("ignore", "", f"is blank in {how_many(blank, 'row')}")
    return Guess("covariate", CATEGORICAL, f"has {levels:,} {what}")


def _are_dates(column: pd.Series) -> bool:
    """Whether the first cells of a column of text are dates or times, such as 2021-03-01, 3/14/2021 or 1 March 2021."""
    texts = column.dropna().astype(str).str.strip().head(_LOOKED_AT)
    return bool(texts.str.match(_DATE, case=False).all())


def are_rising_dates(column: pd.Series) -> bool:
    """Whether the cells of a column are dates, none before the cell above it, with the day or the month first."""
    if column.isna().any() or column.nunique() < 2 or not _are_dates(column):
        return False
    read = partial(pd.to_datetime, column.astype(str), format="mixed", errors="coerce")
    dates = (read(dayfirst=is_first) for is_first in (True, False))
    return any(bool(days.notna().all() and days.is_monotonic_increasing) for days in dates)


def _of_numbers(values: np.ndarray, name: str) -> Guess | None:
    missing = np.isnan(values)
    if missing.mean() > 0.5:
        return Guess("ignore", "", "is blank in most rows")
    filled = values[~missing]
    if (filled == filled[0]).all():
        return Guess("ignore", "", "never changes")
    if is_count(filled).all():
        return _by_name(filled, name)
    if _is_exposure(name) and (filled > 0).all():
        return Guess("exposure", "", "has numbers above 0, and the name of an exposure")
    if "total" in words_of(name):
        return Guess("ignore", "", "has the name of a total")
    if missing.mean() > _MOST_BLANK:
        return Guess("ignore", "", f"is blank in {how_many(int(missing.sum()), 'row')}")
    return Guess(
        "covariate", CONTINUOUS, "has decimals" if (filled != np.floor(filled)).any() else "has negative numbers"
    )


def _by_name(values: np.ndarray, name: str) -> Guess | None:
    """The guess at a column of counts, by its name; None if it may well hold counts."""
    filled = values[~np.isnan(values)]
    levels, words = len(value_counts(filled)[0]), set(words_of(name))
    if levels < 2:
        return None
    if _are_days(filled) or words == {"datum"}:
        return Guess("ignore", "", "looks like dates")
    if _OF_TRIALS.fullmatch(name.lower()):
        return Guess("ignore", "", "numbers the trials")
    has_single, head = _has_single(filled), _head(name)
    suggests = head in _GROUPS | _CATEGORIES or bool(words & (_NUMBERS | _AMOUNTS))
    is_counted = suggests and not (words & _CYCLES and filled.min() > 0) and _is_counted(filled)
    is_counted |= bool(filled.min() == 0 and name.lower() in _GROUPS)  # how many mice, not which
    if head in _GROUPS | _CATEGORIES and levels <= len(values) / 2 and not is_counted:
        is_group = levels > MANY or head in _GROUPS
        why = f"has the name of a {'group' if is_group else 'category'}, and {levels:,} values"
        if is_group:
            return Guess("group", "", why)
        return Guess("covariate", CONTINUOUS if has_single else CATEGORICAL, why)
    if index_like := identifier(filled, name):
        return Guess("ignore", "", index_like)
    if _OF_CELL.fullmatch(name.lower()):
        return Guess("ignore", "", "is computed from the counts of a cell")
    if words in ({"rk"}, {"rank"}):
        return Guess("ignore", "", "ranks the rows")
    if words & _SPELLS and filled.min() > 0:
        return Guess("ignore", "", "numbers the spells of somebody")
    if _is_exposure(name) and (filled > 0).all() and not (words & _AMOUNTS and is_counted):
        return Guess("exposure", "", "has the name of an exposure")
    if ("%" in name or words & _PERCENTS) and 0 <= filled.min() and filled.max() <= 100:
        return Guess("covariate", CONTINUOUS, "has the name of a percentage")
    words -= _SIZES if filled.min() == 0 and not {*words_of(name)[1:][-1:]} & _SIZE_UNITS else set()
    is_few = np.mean(filled == 0) >= _LEAST_ZEROS and np.median(filled) <= _FEW_MEDIAN  # how many years, not which
    is_measure = words & _NUMBERS and not is_few and not (is_counted and _measured(name) not in _NUMBERS)
    if is_measure or words in ({"depth", "m"}, {"day"}) or _SINCE.match(name):
        return Guess("covariate", CONTINUOUS, "has the name of a measure or a time")
    if YEARS[0] <= filled.min() and filled.max() <= YEARS[1] and np.ptp(filled) <= 200:
        return Guess("covariate", CONTINUOUS, f"has years, {filled.min():.0f} to {filled.max():.0f}")
    return None


def _head(name: str) -> str:
    """The last word of a name, except words for labels: plot of plot_id, number of number_of_sites."""
    words = words_of(name)
    words = words[: next((at for at, word in enumerate(words) if at and word in _PREPOSITIONS), None)]
    while len(words) > 1 and (words[-1] in _LABELS or words[-1].isdecimal()):
        words = words[:-1]
    return words[-1] if words else ""


def _measured(name: str) -> str:
    """What a measure with a unit measures: age of age_years."""
    words = words_of(name)
    return _head(" ".join(words[:-1] if len(words) > 1 and words[-1] in _UNITS | _TIME_UNITS else words))


def _are_days(values: np.ndarray) -> bool:
    """Whether whole numbers are days, such as 20240131."""
    if values.min() < YEARS[0] * 10_000 or values.max() >= (YEARS[1] + 1) * 10_000:
        return False
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _is_counted(values: np.ndarray) -> bool:
    """Whether whole numbers are distributed as counts, so that they say how many, not which.

    Their frequencies are those of a negative binomial distribution rather than equal between minimum and maximum, as
    those of labels, and that distribution expects few rows below the minimum or above the maximum.
    """
    (levels, times), rows = value_counts(values), len(values)
    if levels[0] == 0 and times.min() == 1:
        return True
    mean, spread = values.mean(), values.var() / max(values.mean(), 1e-9)
    if len(levels) < _LEAST_LEVELS or spread < _LEAST_SPREAD:
        return False
    spread = max(spread, _NEARLY_POISSON)
    size, p = mean / (spread - 1), 1 / spread
    log_pmf = gammaln(levels + size) - gammaln(levels + 1) - gammaln(size) + size * np.log(p) + xlog1py(levels, -p)
    cdf = betainc(size, levels + 1, p)
    evidence = times @ log_pmf + rows * np.log(np.ptp(levels) + 1)
    distance = abs(np.cumsum(times) / rows - cdf).max() - 1 / np.sqrt(rows)
    beyond = rows * max(levels[0] and betainc(size, levels[0], p), 1 - cdf[-1])
    is_tail_thin = times[-1] <= max(_FEW, _MOST_AT_END * rows)
    return bool(is_tail_thin and evidence > _LEAST_EVIDENCE and distance < _MOST_DISTANCE and beyond < _MOST_BEYOND)


def _has_single(values: np.ndarray) -> bool:
    """Whether a value occurs in one row only, so that no effect of a category can be estimated from it."""
    return bool((value_counts(values)[1] == 1).any())


def is_measure(name: str) -> bool:
    """Whether a column has the name of a measure, a time or an exposure: not a count, whatever its cells are."""
    return bool({*words_of(name)} & _NUMBERS) or _is_exposure(name)


def _is_exposure(name: str) -> bool:
    whole = words_of(name)
    has_unit = len(whole) > 1 and whole[-1] in _UNITS and whole != ["depth", "m"]  # which is that of water
    words = whole[:-1] if has_unit else whole  # effort_min
    return words[-1:] != [] and (words[-1] in _EXPOSURES or not _PHRASES.isdisjoint({" ".join(whole), " ".join(words)}))
