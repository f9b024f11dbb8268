"""Designs with closed totals, with filters, and with the cures that are advised for them."""

import numpy as np
from numpy.random import Generator

from benchmarks.misled.design import Drawn, named, small
from disco.table.roles import TOTAL, Roles

ROWS = 2000


def _roles(exposure: str) -> Roles | None:
    return Roles(exposure=exposure) if exposure else None


def _shares(random: Generator, parts: int, spread: float = 0.7) -> np.ndarray:
    shares = random.lognormal(0.0, spread, parts)
    return shares / shares.sum()


def multinomial(random: Generator, parts: int, total: int, out: int = 0, varying: int = 0) -> Drawn:
    """Parts of a total, constant or varying a little; some may be left out. Right: no edge; or the closure is said."""
    totals = random.integers(total - varying, total + varying + 1, ROWS)
    values = random.multinomial(totals, _shares(random, parts))
    return Drawn(named(values[:, : parts - out]))


def partly_closed(random: Generator, out: int) -> Drawn:
    """Six columns are parts of a total of 30, or all but one of them; four are independent. Right: no edge; or the
    closure is said."""
    parts = random.multinomial(np.full(ROWS, 30), _shares(random, 6))[:, : 6 - out]
    return Drawn(named(np.column_stack([parts, random.poisson(4.0, (ROWS, 4))])))


def dirichlet(random: Generator, parts: int, rows: int, exposure: str = "") -> Drawn:
    """Dirichlet-multinomial rows: shares that vary between rows, of a total that varies a little. Right: no edge; or it
    is said."""
    gammas = random.gamma(10.0 * _shares(random, parts), 1.0, (rows, parts))
    totals = random.poisson(60.0, rows) + 1
    return Drawn(named(random.multinomial(totals, gammas / gammas.sum(axis=1, keepdims=True))), roles=_roles(exposure))


def rarefied(random: Generator, taxa: int, shown: int, rows: int = 300) -> Drawn:
    """Taxa of samples that were rarefied to 5,000 reads, of which the commonest are shown. Right: no edge; or the
    closure is said."""
    rates = random.lognormal(0.0, 1.2, taxa) * random.lognormal(0.0, 0.7, (rows, taxa))
    values = random.multinomial(5000, rates / rates.sum(axis=1, keepdims=True))
    return Drawn(named(values[:, np.argsort(-values.sum(axis=0))[:shown]]))


def filtered(random: Generator, least: int = 3, exposure: str = "") -> Drawn:
    """Independent rare counts; rows with a small total were dropped. Right: no edge; or the filter is said."""
    values = random.poisson(random.uniform(0.3, 0.9, 8), (2 * ROWS, 8))
    return Drawn(named(values[values.sum(axis=1) >= least][:ROWS]), roles=_roles(exposure))


def selected(random: Generator, columns: int = 8) -> Drawn:
    """A table of the class of which the rows with a large sum were kept, of all columns or of two. Right: true
    directions, or none."""
    drawn = small(random, rows=4000, nodes=8, k=1.5)
    sums = drawn.table.iloc[:, :columns].sum(axis=1)
    return drawn._replace(table=drawn.table[sums >= sums.quantile(0.4)].reset_index(drop=True))


def genes_in_rows(random: Generator, exposure: str = "") -> Drawn:
    """Genes in rows, samples in columns: genes differ in all samples alike. Right: no edge; or it is said."""
    rates = random.lognormal(1.0, 1.3, (1000, 1)) * random.lognormal(0.0, 0.3, 10)
    counts = random.poisson(rates * random.gamma(5.0, 0.2, (1000, 10)))
    return Drawn(named(counts[counts.sum(axis=1) > 0]), roles=_roles(exposure))


def dominated(random: Generator) -> Drawn:
    """Independent columns of which one holds a third of all counts, with the total declared as exposure. Right: no
    edge; or it is said."""
    means = random.uniform(2.0, 6.0, 9)
    means[0] = means[1:].sum() / 2
    factors = np.ones((ROWS, 9))
    factors[:, 0] = random.gamma(4.0, 0.25, ROWS)
    return Drawn(named(random.poisson(means * factors) + (np.arange(9) == 0)), roles=Roles(exposure=TOTAL))
