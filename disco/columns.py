"""The columns of a run's files and of its tables, each declared once: name, kind, label, meaning, place.

Reading and checking (`disco.schema`), the exports of a graph, the lines that commands print, the tables of the pages
and the table of columns in docs/refine.md (`python tests/columns.py`) follow from these declarations. A new number on
the edges of a refinement needs its column here and the mathematics that computes it (`disco.refine.edge_evidence`).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

FIT_AGAIN, REFINE_AGAIN, RUN_AGAIN = "fit the table again", "refine the run again", "run the method again"
WORDS = ("node", "word", "label", "direction", "rule", "source")  # kinds of text
# Knowledge about an edge: nothing; never; always; only this direction.
FREE, FORBIDDEN, REQUIRED, FIXED = RULES = ("free", "forbidden", "required", "fixed")
# What gives an edge its direction, the first that applies; empty if it is not known.
KNOWLEDGE, EXPERIMENT, TIME, CLASS, NO_SOURCE = SOURCES = ("knowledge", "experiment", "time", "class", "")
# Whether the direction of a true edge can be known (`disco.simulate.identifiable`).
KNOWN, UNKNOWN, NOT_PROVED, BY_EXPERIMENT = DIRECTIONS = ("known", "unknown", "not proved", EXPERIMENT)
NATS = "%.1f"  # the format of nats, and of mean numbers of edges


@dataclass(frozen=True)
class Column:
    """A column of a file, of the edges or nodes of a graph, or of a table.

    Attributes:
        name: in files and frames, and among the values of a graph's edge or node.
        kind: `node`, a column of the table; `word`, any text; `label`, a text that may be empty; `direction`, whether a
            direction can be known; `rule`, an edge's rule by knowledge; `source`, what gives it its direction; `whole`,
            a whole number from 0; `number`, a finite number; `share`, a number from 0 to 1; `loose` and `loose share`,
            the same but may be missing; `any`, a number that may be missing or infinite; `flag`, True or False.
        label: its name in the interface.
        head: a shorter name, for the head of a narrow table and for lines of text; by default the label.
        term: the entry of docs/glossary.md that defines it; without one, `help` does.
        format: of a number; with a percent sign the number is a share.
        unit: of a number in a line of text.
        width: in a table, in pixels; None leaves it to the table.
        place: where a table of edges shows it: in sight, from the menu above it, or only in its file.
        in_graph: whether the graph and its exports have it.
        in_line: whether the line that a command prints for an edge has it, and the text under the pointer.
        optional: whether a file may lack it, as those of older versions do.
    """

    name: str
    kind: str
    label: str = ""
    head: str = ""
    term: str = ""
    help: str = ""
    format: str = ""
    unit: str = ""
    width: int | None = None
    place: Literal["sight", "menu", "file"] = "file"
    in_graph: bool = True
    in_line: bool = False
    optional: bool = False

    @property
    def short(self) -> str:
        """The head, or else the label."""
        return self.head or self.label

    def text(self, value: float) -> str:
        """A number of this column in a line of text, with its unit."""
        if not math.isfinite(value):
            return "not available"
        return f"{(self.format or '%g') % (100 * value if '%%' in self.format else value)} {self.unit}".strip()


@dataclass(frozen=True)
class Schema:
    """The columns of a file.

    Attributes:
        columns: those that are read; others are ignored.
        key: columns that identify a row.
        remedy: how to create the file again.
        empty: whether it may be without rows.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    remedy: str = FIT_AGAIN
    empty: bool = False

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column, by name."""
        return {column.name: column.kind for column in self.columns}


def _nats(name: str, label: str, head: str = "", **options: Any) -> Column:
    return Column(name, "loose", label, head, format=NATS, unit="nats", **options)


# Columns of several files ---------------------------------------------------------------------------------------------

PARENT = Column("parent", "node", "Parent", width=66, place="sight")
CHILD = Column("child", "node", "Child", width=66, place="sight")
ENDS, PAIR = (PARENT, CHILD), (PARENT.name, CHILD.name)
NODE = Column("node", "node", "Node", width=90)
POSITION = Column("position", "whole", "Position")
STEP, FOLD = Column("step", "whole", "Step"), Column("fold", "whole", "Fold")
START = Column("start", "word", "Start")
OCS = Column("ocs", "number", "OCS", term="OCS", format="%.3g", width=60, place="sight")
Z = Column("z", "number", "Z", term="Z", format="%.2f", width=56, place="sight")
FREQUENCY = Column(
    "frequency",
    "share",
    "Folds above τ_Z",
    help="Share of folds in which the edge passes τ_Z.",
    format="%d %%",
    width=110,
    place="menu",
)
CURVATURE = Column("curvature", "loose", "Mean curvature", optional=True)
SCORE = Column("score", "any", "Score", format="%.4g", place="menu", optional=True)
P_VALUE = Column("p_value", "loose share", "p-value", "p", term="p-value", format="%.2g", width=64, place="menu")
P_OF_SELECTOR = replace(P_VALUE, kind="share", optional=True, term="", help="The p-value of the selector's test.")
RULE = Column(
    "rule",
    "rule",
    "Rule",
    help="Only with [knowledge](knowledge.md): whether the edge is required, its direction fixed, or neither.",
    optional=True,
)
SOURCE = Column(
    "source",
    "source",
    "Known from",
    help="What decides the direction: knowledge, experiment ([roles](roles.md#interventions)), class (the rules "
    "below), or empty.",
    optional=True,
)

# A fit ----------------------------------------------------------------------------------------------------------------

ORDER = Schema((POSITION, NODE), ("node",))
CCS = Schema(
    (
        *(STEP, Column("remaining", "whole", "Remaining"), NODE, FOLD),
        *(Column("score", "number", "CCS", term="CCS"), Column("chosen", "flag", "Removed")),
    ),
    ("step", "node", "fold"),
)
CRITERIA = Schema(
    (
        *(STEP, NODE, FOLD),
        Column("ccs_clipped", "loose", "CCS, clipped"),
        Column("ccs_admissible", "loose", "CCS, admissible"),
        Column("constant_clipped", "loose", "Constant, clipped"),
        Column("constant_admissible", "loose", "Constant, admissible"),
    ),
    ("step", "node", "fold"),
)
CANDIDATE_OCS = Schema((FOLD, *ENDS, OCS, CURVATURE, Z, RULE, SOURCE), ("fold", "parent", "child"))
EDGES = Schema((*ENDS, OCS, FREQUENCY, Z, SCORE, P_OF_SELECTOR, RULE, SOURCE), PAIR, empty=True)
SELECTED = Column("selected", "flag", "Kept")
CANDIDATES = Schema((*ENDS, replace(SCORE, optional=False), P_OF_SELECTOR, SELECTED, RULE, SOURCE), PAIR)
TRUTH = Schema(
    (
        *(Column("parent", "word", "Parent"), Column("child", "word", "Child")),
        Column("direction", "direction", "Direction", optional=True),
    ),
    remedy="load the true edges again",
    empty=True,
)

# A refinement ---------------------------------------------------------------------------------------------------------

GAIN = _nats(
    "gain_nats", "Evidence for this link", "Evidence", term="evidence for a link", width=74, place="sight", in_line=True
)
DECIDED = Column("decided", "flag", "Decided", term="decided", width=68, place="sight")
STABILITY = Column(
    "bootstrap",
    "loose share",
    "Stability",
    help="The share of bootstrap tables whose search ends with the edge in this direction.",
    format="%d %%",
    width=72,
    place="sight",
)
SUBSETS = Column(
    "folds",
    "loose share",
    "Stability without a fold",
    "Folds",
    help="The share of fits without one part of the rows that have the edge, searched like bootstrap tables.",
    format="%d %%",
    width=58,
    place="menu",
)
OF_LINK = (  # evidence that an edge is there, in nats
    GAIN,
    _nats(
        "log_likelihood_nats",
        "Likelihood ratio",
        help="The gain in log-likelihood, in nats, for comparison.",
        in_graph=False,
    ),
    _nats("bic_nats", "Gain in BIC", help="The gain in BIC, in nats, for comparison.", in_graph=False),
)
OF_DIRECTION = (  # evidence for its direction, in nats
    _nats(
        "direction_nats",
        "Evidence for this direction",
        "Direction",
        term="direction evidence",
        width=76,
        place="sight",
        in_line=True,
    ),
    _nats(
        "robust_nats",
        "Direction, worst case",
        "Worst case",
        term="worst case",
        width=86,
        place="menu",
        in_line=True,
        optional=True,
    ),
    _nats("linear_nats", "Linear evidence", term="linear evidence", optional=True),
    _nats("spread_nats", "Spread evidence", term="spread evidence", optional=True),
)
EVIDENCE = (*OF_LINK, *OF_DIRECTION)
REFINED_ORDER = replace(ORDER, remedy=REFINE_AGAIN)
REFINED_EDGES = Schema(
    (
        *ENDS,
        *EVIDENCE,
        DECIDED,
        SOURCE,
        Column(
            "class_decides",
            "flag",
            "Decided by the class",
            help="Whether the class decides the direction by its own rules. It then has no `source` while the table "
            "has an [artefact](table.md#what-creates-edges-artefacts); once that is cured or dismissed, it has.",
            in_graph=False,
            optional=True,
        ),
        *(P_VALUE, SUBSETS, STABILITY, RULE),
    ),
    PAIR,
    REFINE_AGAIN,
    empty=True,
)
REFINED_STARTS = Schema(
    (START, Column("sweep", "whole", "Sweep"), Column("score", "number", "Score")), ("start", "sweep"), REFINE_AGAIN
)
REFINED_MOVES = Schema(
    (
        NODE,
        Column("before", "whole", "Before", help="Position in the DISCO order.", width=64),
        Column("after", "whole", "After", help="Position in the order of the search.", width=64),
        _nats("gain_nats", "Gain, nats", term="nats", width=90),
    ),
    ("node",),
    REFINE_AGAIN,
)
MISFIT = _nats("misfit_nats", "Misfit, nats", term="misfit")
MISFIT_PER_ROW = Column(
    "misfit_per_row", "loose", "Misfit per row", help="The misfit divided by the number of rows.", in_graph=False
)
REFINED_NODES = Schema(
    (
        *(NODE, Column("levels", "whole", "Levels", in_graph=False), MISFIT, MISFIT_PER_ROW),
        Column("is_poor", "flag", "Poorly fitted", term="poorly fitted", optional=True),
    ),
    ("node",),
    REFINE_AGAIN,
)
REFINED_CONTEXTS = Schema(
    (
        *(Column("context", "word", "Context"), Column("level", "label", "Level"), replace(NODE, label="Acts on")),
        *(GAIN, P_VALUE, SUBSETS, STABILITY),
    ),
    ("context", "level", "node"),
    REFINE_AGAIN,
    empty=True,
)
LAG = Column("lag", "whole", "Rows before", help="How many rows before its child the parent was counted.", width=80)
REFINED_LAGGED = Schema(
    (*ENDS, LAG, GAIN, P_VALUE, SUBSETS, STABILITY),
    ("parent", "child", "lag"),
    REFINE_AGAIN,
    empty=True,
)
REFINED_ORDERS = Schema((START, POSITION, NODE), ("start", "node"), REFINE_AGAIN)
REFINED_TABLES = Schema(
    (Column("table", "whole", "Bootstrap table"), *ENDS), ("table", "parent", "child"), REFINE_AGAIN, empty=True
)
_BAND = tuple(Column(name, "loose", name.capitalize()) for name in ("observed", "low", "middle", "high"))
_OUTSIDE = Column("outside", "flag", "Outside")
CHECK = {  # the frames of a model check
    "columns": Schema((NODE, Column("statistic", "word", "Statistic"), *_BAND, _OUTSIDE), empty=True),
    "pairs": Schema(
        (Column("first", "node", "First"), Column("second", "node", "Second"), *_BAND, _OUTSIDE), empty=True
    ),
    "margins": Schema((NODE, Column("count", "whole", "Count"), *_BAND, _OUTSIDE), empty=True),
    "scores": Schema((Column("graph", "word", "Graph"), Column("mean", "loose", "Mean")), empty=True),
    "differences": Schema(
        (
            *(Column("graph", "word", "Graph"), Column("against", "word", "Against")),
            *(Column("difference", "loose", "Difference"), Column("error", "loose", "Standard error")),
        ),
        empty=True,
    ),
}

# Another method -------------------------------------------------------------------------------------------------------

COMPARED_ORDER = replace(ORDER, remedy=RUN_AGAIN)
COMPARED_EDGES = Schema((*ENDS, Column("undirected", "flag", "Undirected")), PAIR, RUN_AGAIN, empty=True)
COMPARED_SCORES = Schema((*ENDS, replace(SCORE, optional=False), replace(P_VALUE, optional=True)), PAIR, RUN_AGAIN)

# A graph --------------------------------------------------------------------------------------------------------------

METHODS = Column("methods", "whole", "Methods", help="Methods that join the two.", place="menu")
IS_OPEN = Column("is_open", "flag", "Open", help="Whether the method leaves the direction open.")
FOUND_BY = Column("found_by", "word", "Found by", width=74)
LEVELS = Column("levels", "word", "Levels", help="The levels of a context that act.")
LAGS = Column("lags", "word", "Rows later", help="How many rows later the parent acts on the child.")
OF_EDGES = {  # what the edges of a graph may have, by name and in the order of its exports
    column.name: column
    for column in (
        *(OCS, Z, FREQUENCY, SCORE, *REFINED_EDGES.columns),
        *(METHODS, IS_OPEN, FOUND_BY, RULE, SOURCE, LEVELS, LAGS),
    )
    if column.in_graph and column not in ENDS
}
EDGE_NUMBERS = tuple(name for name, column in OF_EDGES.items() if column.kind not in WORDS)
EDGE_WORDS = tuple(column.name for column in (FOUND_BY, RULE, SOURCE, LEVELS, LAGS))
EDGE_FLAGS = tuple(name for name, column in OF_EDGES.items() if column.kind == "flag")
NODE_FACTS = {  # of the nodes of a refined graph, and their type there
    column.name: bool if column.kind == "flag" else float
    for column in REFINED_NODES.columns
    if column.in_graph and column is not NODE
}
EDGE_LINE = tuple(column for column in REFINED_EDGES.columns if column.in_line)
MAY_BE_MISSING = tuple(column for column in REFINED_EDGES.columns if column.kind.startswith("loose"))

# The next experiment, by node -----------------------------------------------------------------------------------------

NEXT = (
    Column("node", "node", "Set"),
    Column(
        "settled",
        "number",
        "Settles",
        help="Open directions settled on average, if there are no hidden common causes.",
        format=NATS,
    ),
    Column(
        "settled_if_hidden",
        "number",
        "Despite hidden causes",
        help="Of these, the directions that a change in other nodes shows.",
        format=NATS,
    ),
    Column("pairs", "whole", "Open edges"),
    Column(
        "rows", "loose", "Rows per arm", help="Median, to see the predicted change in its neighbours with power .8."
    ),
    Column("fewest_rows", "loose", "Fewest rows per arm"),
    Column("most_rows", "loose", "Most rows per arm"),
)

# Against a known truth ------------------------------------------------------------------------------------------------

VERDICT = Column("truth", "word", "Truth", help="According to the known truth of this table.", width=56, place="sight")
