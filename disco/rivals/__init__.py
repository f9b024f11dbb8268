"""Other methods of causal discovery, on the same table and in the same form as ours: one signature, one registry.

    from disco.rivals import METHODS, find

    result = find("ods-poisson", table)
    result.order, result.adjacency, result.notes

`METHODS` lists them. Each is a module with its `Options` and a function `find`, loaded when it is first used.
"""

from disco.rivals.finding import find, method, options_of
from disco.rivals.registry import GROUPS, INSTALL, METHODS, Method
from disco.rivals.result import Result

__all__ = ["GROUPS", "INSTALL", "METHODS", "Method", "Result", "find", "method", "options_of"]
