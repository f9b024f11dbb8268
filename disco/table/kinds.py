"""The kinds of what a table holds besides counts (`disco.table.layout`), in a module that imports nothing."""

SUMMARIES, TOTALS, POINTS, COPIES = "summaries", "totals", "points", "copies"
ANNOTATION, GENES, VARIABLES, SIGHTINGS = "annotation", "genes", "variables", "sightings"
BLANK, NAMES, LABELS = "blank", "names", "labels"
ZEROS, NORMALISED, ESTIMATES = "zeros", "normalised", "estimates"
FOOTNOTES, BELOW, BESIDE = "footnotes", "below", "beside"  # of a sheet's table
KINDS = (
    *(FOOTNOTES, BELOW, BESIDE),
    *(BLANK, SUMMARIES, TOTALS, POINTS, LABELS, COPIES, ANNOTATION, SIGHTINGS, GENES, VARIABLES, NAMES),
    *(ZEROS, NORMALISED, ESTIMATES),
)
CERTAIN = tuple(kind for kind in KINDS if kind not in (BLANK, COPIES, NAMES))  # without which counts would be wrong
