"""The table of columns in docs/refine.md, made of their declarations: `python tests/columns.py` writes it."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_TABLE = re.compile(r"\| column \| on the page \| meaning \|\n(?:\|.*\n)+")


def written(document: str) -> str:
    """docs/refine.md with the columns of today."""
    from disco.columns import ENDS, REFINED_EDGES
    from pages.shared.widgets.tables import meaning

    rows = [("column", "on the page", "meaning"), ("---",) * 3]
    rows += [(f"`{item.name}`", item.label, meaning(item)) for item in REFINED_EDGES.columns if item not in ENDS]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows).replace("| --- | --- | --- |", "|---|---|---|")
    return _TABLE.sub(lambda _: table, document, count=1)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    target = ROOT / "docs/refine.md"
    target.write_text(written(target.read_text(encoding="utf-8")), encoding="utf-8")
