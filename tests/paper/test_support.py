"""Whether one column is a part of another."""

import numpy as np

from disco.paper.support import is_part


def test_a_part_never_exceeds_its_total(rng):
    total = rng.poisson(8.0, 1000)
    part, other = rng.binomial(total, 0.7), rng.poisson(5.6, 1000)
    assert is_part(part, total) and is_part(total, part)
    assert not is_part(other, total)  # which exceeds it in some rows
    assert is_part(np.where(np.arange(1000) == 5, total + 1, part), total)  # one wrong entry
    assert not is_part(rng.poisson(0.1, 1000), 50 + total)  # never exceeds it, as independent columns would not either
    assert not is_part(rng.poisson(0.5 * total), total)
