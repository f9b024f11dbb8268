"""Long work: queued, started, recorded, cancelled, resumed."""

# Slow to import: the engine, and what the first visit of the page Data needs besides.
ENGINE = ("disco.estimator", "disco.simulate", "disco.table.quality", "disco.refine.again")
