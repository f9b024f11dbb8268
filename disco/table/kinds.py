"""The kinds of what a table holds besides counts (`disco.table.layout`), apart so that naming them loads nothing."""

SUMMARIES, TOTALS, POINTS, COPIES = "summaries", "totals", "points", "copies"
ANNOTATION, GENES, SIGHTINGS, BLANK, NAMES = "annotation", "genes", "sightings", "blank", "names"
FOOTNOTES, BELOW, BESIDE = "footnotes", "below", "beside"  # of a sheet's table
KINDS = (FOOTNOTES, BELOW, BESIDE, BLANK, SUMMARIES, TOTALS, POINTS, COPIES, ANNOTATION, SIGHTINGS, GENES, NAMES)
CERTAIN = (
    FOOTNOTES,
    BELOW,
    BESIDE,
    SUMMARIES,
    TOTALS,
    POINTS,
    ANNOTATION,
    SIGHTINGS,
    GENES,
)  # without which counts would be wrong
