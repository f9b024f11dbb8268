"""Methods of causal discovery, ours and others, on the same table: one signature, one registry.

    from disco.methods import METHODS, find

    result = find("ods-poisson", table)
    result.order, result.adjacency, result.notes

`METHODS` lists them. Each is a module with its `Options` and a function `find`, loaded on first use.
"""

from disco.methods.dispatch import find, method, options_of
from disco.methods.registry import FORMER, GROUPS, INSTALL, METHODS, Method
