"""All designs of the gauntlet by name."""

from benchmarks.misled import conditionals, controls, factors, readings, rows, totals

_PARTS = (conditionals, readings, factors, rows, totals, controls)
DESIGNS = {design.name: design for part in _PARTS for design in part.DESIGNS}
