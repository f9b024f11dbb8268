"""Designs with closed totals, with filters, and with the cures that are advised for them."""

import numpy as np
from numpy.random import Generator

from benchmarks.misled.design import BROKEN, SHARED, Design, Drawn, named, small
from disco.table.roles import TOTAL, Roles

ROWS = 2000
_DIRICHLET = "Dirichlet-multinomial rows"
_BY_TOTAL = Roles(exposure=TOTAL)


def _shares(random: Generator, parts: int, spread: float = 0.7) -> np.ndarray:
    shares = random.lognormal(0.0, spread, parts)
    return shares / shares.sum()


def multinomial(random: Generator, parts: int = 8, total: int = 60, out: int = 0, varying: bool = False) -> Drawn:
    """Parts of a total, constant or varying; some may be left out. Right: no edge; or the closure is said."""
    totals = random.poisson(total, ROWS) if varying else np.full(ROWS, total)
    values = random.multinomial(totals, _shares(random, parts))
    return Drawn(named(values[:, : parts - out]))


def partly_closed(random: Generator) -> Drawn:
    """Six columns are parts of a total of 40; four are independent. Right: no edge; or the closure is said."""
    parts = random.multinomial(np.full(ROWS, 40), _shares(random, 6))
    return Drawn(named(np.column_stack([parts, random.poisson(4.0, (ROWS, 4))])))


def dirichlet(random: Generator, parts: int = 8, total: int = 80, roles: Roles | None = None) -> Drawn:
    """Dirichlet-multinomial rows: shares that vary between rows, of a total that varies. Right: no edge; or it is
    said."""
    gammas = random.gamma(6.0 * parts * _shares(random, parts), 1.0, (ROWS, parts))
    totals = random.poisson(total * random.gamma(10.0, 0.1, ROWS)) + 1
    return Drawn(named(random.multinomial(totals, gammas / gammas.sum(axis=1, keepdims=True))), roles=roles)


def rarefied(random: Generator, taxa: int, shown: int, rows: int = 200) -> Drawn:
    """Taxa of samples that were rarefied to 1,000 reads, of which the commonest are shown. Right: no edge; or the
    closure is said."""
    rates = random.lognormal(0.0, 1.2, taxa) * random.lognormal(0.0, 0.7, (rows, taxa))
    values = random.multinomial(1000, rates / rates.sum(axis=1, keepdims=True))
    return Drawn(named(values[:, np.argsort(-values.sum(axis=0))[:shown]]))


def filtered(random: Generator, least: int = 3, roles: Roles | None = None) -> Drawn:
    """Independent rare counts; rows with a small total were dropped. Right: no edge; or the filter is said."""
    values = random.poisson(random.uniform(0.3, 0.9, 8), (2 * ROWS, 8))
    return Drawn(named(values[values.sum(axis=1) >= least][:ROWS]), roles=roles)


def selected(random: Generator, columns: int = 8) -> Drawn:
    """A table of the class of which the rows with a large sum were kept, of all columns or of two. Right: true
    directions, or none."""
    drawn = small(random, rows=3000)
    sums = drawn.table.iloc[:, :columns].sum(axis=1)
    return drawn._replace(table=drawn.table[sums >= sums.quantile(0.6)].reset_index(drop=True))


def genes_in_rows(random: Generator, roles: Roles | None = None) -> Drawn:
    """Genes in rows, samples in columns: genes differ in all samples alike. Right: no edge; or it is said."""
    rates = random.lognormal(1.0, 1.3, (500, 1)) * random.lognormal(0.0, 0.3, 12)
    counts = random.poisson(rates * random.gamma(5.0, 0.2, (500, 12)))
    return Drawn(named(counts[counts.sum(axis=1) > 0]), roles=roles)


def dominated(random: Generator) -> Drawn:
    """Independent columns of which one holds a third of all counts, with the total declared as exposure. Right: no
    edge; or it is said."""
    means = random.uniform(2.0, 6.0, 9)
    means[0] = means[1:].sum() / 2
    factors = np.ones((ROWS, 9))
    factors[:, 0] = random.gamma(4.0, 0.25, ROWS)
    return Drawn(named(random.poisson(means * factors) + (np.arange(9) == 0)), roles=_BY_TOTAL)


DESIGNS = (
    Design("multinomial of a constant total", SHARED, multinomial),
    Design("constant total without its last part", SHARED, multinomial, {"out": 1}),
    Design("constant total without two parts", SHARED, multinomial, {"out": 2}),
    Design("multinomial of a varying total", SHARED, multinomial, {"varying": True}),
    Design("partial closure", SHARED, partly_closed),
    Design(_DIRICHLET, SHARED, dirichlet),
    Design("rarefied taxa, 20 of 200", SHARED, rarefied, {"taxa": 200, "shown": 20}),
    Design("rarefied taxa, 60", SHARED, rarefied, {"taxa": 60, "shown": 60}),
    Design("rows kept by a total", SHARED, filtered),
    Design(
        "rows kept by a total, cured by total", SHARED, filtered, {"roles": _BY_TOTAL}, stream="rows kept by a total"
    ),
    Design("Dirichlet-multinomial, cured by total", SHARED, dirichlet, {"roles": _BY_TOTAL}, stream=_DIRICHLET),
    Design("genes in rows", SHARED, genes_in_rows),
    Design("genes in rows, cured by total", SHARED, genes_in_rows, {"roles": _BY_TOTAL}, stream="genes in rows"),
    Design("a third in one column, cured by total", SHARED, dominated),
    Design("selection on a graph by the total", BROKEN, selected),
    Design("selection on a graph by two columns", BROKEN, selected, {"columns": 2}),
)
