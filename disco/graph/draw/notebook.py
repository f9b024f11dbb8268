"""The graph in a notebook, by pyvis, with nodes that can be dragged."""

from typing import TYPE_CHECKING

import networkx as nx

from disco.graph.draw.picture import edges
from disco.graph.draw.placing import Positions, short

if TYPE_CHECKING:
    from pyvis.network import Network


def vis(graph: nx.DiGraph, positions: Positions) -> "Network":
    """The graph for pyvis: `vis(graph, positions).show("graph.html")` shows it in a notebook.

    Its lines are straight and may run behind nodes; the app and `disco.graph.draw.svg` route them around. `positions`
    are those of `disco.graph.draw.placing.positions`.
    """
    from pyvis.network import Network  # imports IPython, needed only in notebooks

    network = Network(height="700px", directed=True, notebook=True, cdn_resources="in_line")
    network.toggle_physics(False)
    for node in graph:
        x, y = positions[node]
        network.add_node(node, label=short(node), x=x, y=y, shape="box", color="#F4F5F3", physics=False)
    for edge in edges(graph):
        colour, dash = edge.look
        network.add_edge(
            edge.parent, edge.child, title=edge.words(), width=edge.width, color=colour, dashes=list(dash) or False
        )
    return network
