"""A script that reads a file with some bytes changed, once per seed, each time in a process of its own.

Its arguments are the file, its suffix and how many seeds. Its last line has the exit statuses; lines above it name
exceptions that are neither a sentence nor a lack of memory.
"""

FUZZ = """
import os, resource, sys
import numpy as np
from disco.table.formats import single_cell, stata  # imported once, before the forks
from disco.table.formats.parsing import parse
from disco.table.formats.limits import NotATable

data, suffix = open(sys.argv[1], "rb").read(), sys.argv[2]
ends = []
for seed in range(int(sys.argv[3])):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        rng, bad = np.random.default_rng(seed), bytearray(data)
        for place in rng.integers(len(bad), size=rng.integers(1, 12)):
            bad[place] = rng.integers(256)
        try:
            parse(bytes(bad), suffix)
        except (NotATable, MemoryError):
            os._exit(2)
        except BaseException as error:
            print(seed, repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(*ends)
"""
