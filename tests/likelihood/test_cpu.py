"""What is compiled for the CPU: results that do not depend on what was compiled before."""

import ast
from pathlib import Path

import disco

REORDERED = {"compiled", "within", "written_out"}


def test_functions_with_reordered_sums_have_no_powers():
    functions = [
        (path.name, node)
        for path in Path(disco.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and REORDERED & {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
    ]
    powers = [
        f"{file}:{part.lineno}"
        for file, function in functions
        for part in ast.walk(function)
        if isinstance(getattr(part, "op", None), ast.Pow)
    ]
    assert len(functions) > 30
    assert powers == []
