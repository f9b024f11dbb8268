"""Knowledge as a file: knowledge.json, or Tetrad's text format. Both are checked, and nothing in them is evaluated.

Tetrad's format begins with `/knowledge`. The line `addtemporal` is followed by tiers, such as `1 age sex`; `1*` forbids
edges within the tier, and `1-` allows edges from it only into the next. The lines `forbiddirect` and `requiredirect`
are followed by edges, as `parent child`.
"""

import re
from pathlib import Path

from disco.errors import InputError
from disco.files import parsed, read_regular
from disco.knowledge.rules import Knowledge

MOST_BYTES = 1 << 20
_TIER = re.compile(r"(\d{1,6})([*-]*)")
_SECTIONS = ("addtemporal", "forbiddirect", "requiredirect")


def read(path: Path | str) -> Knowledge:
    """The knowledge of a file, JSON or Tetrad's text format; raises InputError if it cannot be used."""
    return from_bytes(read_regular(path, MOST_BYTES), Path(path).name)


def from_bytes(data: bytes, name: str) -> Knowledge:
    """The knowledge of a file's content, with errors as in `read`; `name` is for error sentences."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has more than {MOST_BYTES >> 10:,} kB, too much for knowledge.")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"/knowledge"):
        return _from_tetrad(data.decode("utf-8-sig", "replace"), name)
    values = parsed(data, name)
    if not isinstance(values, dict):
        raise InputError(f"{name} must hold a JSON object with tiers, required, forbidden or closed.")
    return Knowledge.from_dict(values)


def _from_tetrad(text: str, name: str) -> Knowledge:
    """The knowledge in Tetrad's text format; its tiers may be numbered from 0, and numbers may be missing."""
    section, tiers, signs = "", dict[int, list[str]](), dict[int, str]()
    edges: dict[str, list[list[str]]] = {"forbiddirect": [], "requiredirect": []}
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if not words or words == ["/knowledge"]:
            continue
        if len(words) == 1 and words[0] in _SECTIONS:
            section = words[0]
        elif section == "addtemporal" and (match := _TIER.fullmatch(words[0])):
            tiers.setdefault(int(match[1]), []).extend(words[1:])
            signs[int(match[1])] = match[2]
        elif section in edges and len(words) == 2:
            edges[section].append(words)
        else:
            raise InputError(
                f"Line {number} of {name} is neither a tier nor a pair of names in Tetrad's format: correct or remove "
                "it; the sections addtemporal, forbiddirect and requiredirect are read."
            )
    numbers = sorted(number for number, names in tiers.items() if names)
    listed = [tiers[number] for number in numbers]
    far = [
        [parent, child]
        for at, number in enumerate(numbers)
        if "-" in signs[number]
        for parent in tiers[number]
        for later in listed[at + 2 :]
        for child in later
    ]
    closed = [at for at, number in enumerate(numbers, start=1) if "*" in signs[number]]
    return Knowledge(listed, edges["requiredirect"], [*edges["forbiddirect"], *far], closed)


def to_tetrad(knowledge: Knowledge) -> str:
    """The knowledge in Tetrad's text format; raises InputError if a name has a space, which it does not allow."""
    edges = [*knowledge.required, *knowledge.forbidden]
    for text in (text for texts in (*knowledge.tiers, *edges) for text in texts):
        if len(text.split()) != 1 or text != text.strip():
            raise InputError(f'Tetrad\'s text format cannot hold "{text}", because it has a space: rename the column.')
    lines = ["/knowledge", "addtemporal"]
    for number, texts in enumerate(knowledge.tiers, start=1):
        lines.append(f"{number}{'*' * (number in knowledge.closed)} {' '.join(texts)}")
    for section, pairs in (("forbiddirect", knowledge.forbidden), ("requiredirect", knowledge.required)):
        lines += ["", section, *(" ".join(pair) for pair in pairs)]
    return "\n".join(lines) + "\n"
