"""From a file to checked counts, and to ranks."""
