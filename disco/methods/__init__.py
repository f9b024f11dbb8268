"""Other methods of causal discovery, on the same table and in the same form as ours: one signature, one registry.

    from disco.methods import METHODS, find

    result = find("ods-poisson", table)
    result.order, result.adjacency, result.notes

`METHODS` lists them. Each is a module with its `Options` and a function `find`, loaded when it is first used.
"""

from disco.methods.finding import find, method, options_of
from disco.methods.registry import GROUPS, INSTALL, METHODS, Method

__all__ = ["GROUPS", "INSTALL", "METHODS", "Method", "find", "method", "options_of"]
