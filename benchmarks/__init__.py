"""Studies too slow for the tests; their results are in README.md beside this file."""
