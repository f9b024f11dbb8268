"""The provenance of an exported graph: program, run, method, thresholds, seed, and a digest of the table."""

import hashlib
import json

import numpy as np
import pandas as pd

from disco import __version__
from disco.errors import printable
from disco.refine.refinement_result import METHOD, WITH_FIT
from disco.runs import artefacts
from disco.runs.folder import Run
from disco.subjects import stamps
from disco.subjects.refinement.refined import choice_from, choice_of, read_refined
from disco.verdicts import of_refinement

_MOST = 10_000  # characters


def about(run: Run, method: str, *, seed: int | None = None, **chosen: float | str) -> dict[str, float | int | str]:
    """The facts stored in every exported graph, one value each.

    Args:
        method: the method behind its order and edges, in words.
        seed: by default the fit's.
        chosen: thresholds and other choices by name.
    """
    table, spoilt = run.table(), artefacts.of(run)
    standing = " ".join(map(str, spoilt.standing))
    gone = [(item.message, spoilt.dismissed[item.kind]) for item in spoilt.found if item.kind in spoilt.dismissed]
    dismissed = " ".join(f"{message} Dismissed: {why}" for message, why in gone)
    verdict = {}
    if method in (METHOD, WITH_FIT) and stamps.refinement(run):
        judged = of_refinement(read_refined(run), choice_from(choice_of(run)).bound)
        verdict = {"verdict": f"{judged.text} {judged.advice}"}
    return {
        **{"program": "DISCO", "version": __version__, "run": run.name, "run_id": run.id, "method": method},
        **chosen,
        **({"artefacts": printable(standing, _MOST)} if standing else {}),
        **({"dismissed": printable(dismissed, _MOST)} if dismissed else {}),
        **({} if run.roles is None else {"roles": printable(str(run.roles), _MOST)}),
        **({} if (knowledge := run.knowledge()) is None else {"knowledge": str(knowledge)}),
        **verdict,
        **{"seed": run.settings.seed if seed is None else seed, "rows": len(table), "columns": table.shape[1]},
        "table_sha256": table_digest(table),
        **({} if run.adjustment is None else {"adjustment_sha256": run.adjustment.digest()}),
    }


def table_digest(table: pd.DataFrame) -> str:
    """SHA-256 of a table of counts, whatever the order of its columns.

    Its input is the sorted names as a JSON list in ASCII, then the counts in that order of columns, row by row, as
    little-endian 64-bit integers.
    """
    names = sorted(table.columns)
    counts = np.ascontiguousarray(table[names].to_numpy(), dtype="<i8")
    return hashlib.sha256(json.dumps(names).encode() + counts.tobytes()).hexdigest()
