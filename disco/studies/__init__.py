"""Case studies: data, a reference that results are held against, and a group of ordinary runs."""
