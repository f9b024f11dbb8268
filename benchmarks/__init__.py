"""Studies too slow for the tests; their figures stand in LOG.md."""
