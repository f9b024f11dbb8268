"""The kinds of what a table holds besides counts (`disco.table.layout`), apart so that naming them loads nothing."""

SUMMARIES, TOTALS, POINTS, COPIES = "summaries", "totals", "points", "copies"
ANNOTATION, GENES, SIGHTINGS, BLANK, NAMES = "annotation", "genes", "sightings", "blank", "names"
ZEROS, NORMALISED, ESTIMATES = "zeros", "normalised", "estimates"
KINDS = (BLANK, SUMMARIES, TOTALS, POINTS, COPIES, ANNOTATION, SIGHTINGS, GENES, NAMES, ZEROS, NORMALISED, ESTIMATES)
CERTAIN = (  # without which counts would be wrong or none
    *(SUMMARIES, TOTALS, POINTS, ANNOTATION, SIGHTINGS, GENES),
    *(ZEROS, NORMALISED, ESTIMATES),
)
