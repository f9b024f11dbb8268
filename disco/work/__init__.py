"""Long work: queued, started, recorded, cancelled, resumed."""
