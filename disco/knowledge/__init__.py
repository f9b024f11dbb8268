"""Background knowledge about the graph: tiers, required and forbidden edges."""

from disco.knowledge.resolved import Resolved
from disco.knowledge.rules import Knowledge
