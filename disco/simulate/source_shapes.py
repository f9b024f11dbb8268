"""Shapes of the nodes without parents.

The class leaves their marginal distributions free (paper, Semiparametric GLM DAGs, the definition), so a shape does not
change which directions can be known.
"""

import numpy as np

from disco.simulate.laws import Law

SOURCES = {
    "family": "as in the family",
    "bimodal": "two modes, one at 6 times the other",
    "trimodal": "three modes, the others at 6 and 12 times the first",
    "heaped": "wide and partly rounded: 40% exact, 30% to fives, 30% to tens",
    "zero-inflated": "40% zeros, the rest 3 times as high",
}
MODES = {"bimodal": (1.0, 6.0), "trimodal": (1.0, 6.0, 12.0), "zero-inflated": (3.0,)}
_WIDE = (0.5, 12.0)  # factors on the location of a heaped source
_ZEROS = 0.4
_HEAPS = (0.4, 0.7)  # cumulative shares of exact values and of values rounded to fives


def draw(
    shape: str, law: Law, location: np.ndarray, values: np.random.Generator, form: np.random.Generator
) -> np.ndarray:
    """The values of a source of this shape, a key of `SOURCES`, (rows,), for a law at `location`, (rows,). The law's
    draws come from the stream `values`, everything else from `form`."""
    if shape == "family":
        return law.sample(location, values)
    chance, factors = form.spawn(2)
    share = chance.random(len(location))
    if shape == "heaped":
        drawn = law.sample(law.raised(location, factors.uniform(*_WIDE, len(location))), values)
        unit = np.select([share < _HEAPS[0], share < _HEAPS[1]], [1, 5], 10)
        return (drawn + unit // 2) // unit * unit
    modes = np.array(MODES[shape])
    drawn = law.sample(law.raised(location, modes[factors.integers(len(modes), size=len(location))]), values)
    return np.where(share < _ZEROS, 0, drawn) if shape == "zero-inflated" else drawn
