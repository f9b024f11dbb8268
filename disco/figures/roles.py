"""What a colour means in the figures of results: readable on light and on dark, and for the colour-blind.

Blue and vermillion are the pair told apart by every common form of colour blindness; a second mark (dash, hollow,
word) always says the same thing.
"""

MUTED = "#8C919A"  # what is there but not spoken of
FAINT = "rgba(140,145,154,0.55)"  # what is gone
ACCENT = "#D55E00"  # the sink; an edge against the reference
PICKED = "#2B83BA"  # the node or edge the reader picked; an edge kept or agreeing
PARENT = "#2B83BA"
CHILD = "#D55E00"
CLEAR = "rgba(0,0,0,0)"

# Faint for small, deep for large, and the other way round; both end away from the page's own colour.
SEQUENTIAL = [[0.0, "#DCE9F2"], [0.35, "#8DBBD9"], [0.7, "#2B83BA"], [1.0, "#0B3C5D"]]
SINK_SCALE = [[0.0, "#D55E00"], [0.15, "#E89A5B"], [0.5, "#F0CFB0"], [1.0, "#E6E6E4"]]
