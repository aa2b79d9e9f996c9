"""Small faults in Python source: every place where one can be put, and the source with it.

Left alone are docstrings, annotations, decorators, ``__all__`` and ``__slots__``, f-strings and texts with a blank in
them (sentences for people), the titles, sentences and sources of clauses, and code for type checkers.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

COMPARES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
WORDS: Final = {"Clause": (1, 2, 3), "Violation": (1,), "house": (0,), "RuleSetError": (1,), "ValueError": (0,)}
"""Calls with arguments for people, by place."""

FOR_PEOPLE: Final = ("differs", "since", "meaning", "metadata", "title")
"""Keywords and keys whose value is for people."""


@dataclass(frozen=True)
class Mutant:
    """One fault. ``id`` is module, line, column and number at that place; ``apply`` gives the faulty module."""

    id: str
    module: str
    line: int
    line_text: str
    change: str
    apply: Callable[[], ast.Module]


@dataclass(frozen=True)
class Place:
    """A node where it stands: ``holder.field``, or ``holder.field[index]``."""

    node: ast.AST
    holder: ast.AST
    field: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.index] = node


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its source."""
    lines = source.splitlines()
    found: list[Mutant] = []
    for number, (place, change, _) in enumerate(_faults(ast.parse(source))):
        line, column = place.node.lineno, place.node.col_offset  # type: ignore[attr-defined]
        text = lines[line - 1].strip()

        def apply(number: int = number) -> ast.Module:
            return _faulty(source, number)

        found.append(Mutant(f"{module}:{line}:{column}:{number}", module, line, text, change, apply))
    return found


def _faulty(source: str, number: int) -> ast.Module:
    """The module with its fault of this number."""
    tree = ast.parse(source)
    place, _, node = list(_faults(tree))[number]
    place.put(ast.copy_location(node, place.node))
    return ast.fix_missing_locations(tree)


Fault = tuple[Place, str, ast.AST]


def _faults(tree: ast.Module) -> Iterator[Fault]:
    for place in _places(tree):
        for node in _changed(place.node):
            before, after = ast.unparse(place.node), ast.unparse(ast.fix_missing_locations(node))
            yield place, f"{_brief(before)} -> {_brief(after)}", node


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 70 else f"{line[:67]}..."


def _places(holder: ast.AST) -> Iterator[Place]:
    """Every node that may be changed, from the top of the file to its end."""
    for field, value in ast.iter_fields(holder):
        nodes = value if isinstance(value, list) else [value]
        for index, node in enumerate(nodes):
            if not isinstance(node, ast.AST) or _left_alone(holder, field, index, node):
                continue
            yield Place(node, holder, field, index if isinstance(value, list) else None)
            yield from _places(node)


def _left_alone(holder: ast.AST, field: str, index: int, node: ast.AST) -> bool:
    """Whether a part of the source is not for the machine."""
    if field in ("annotation", "returns", "decorator_list", "type_ignores", "bases"):
        return True
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "__slots__"):
        return True
    if isinstance(holder, ast.Call) and field == "args":
        return index in WORDS.get(ast.unparse(holder.func).rpartition(".")[2], ())
    if isinstance(holder, ast.Dict) and field == "values":
        key = holder.keys[index]
        return isinstance(key, ast.Constant) and key.value in FOR_PEOPLE
    return isinstance(node, ast.keyword) and node.arg in FOR_PEOPLE


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Every fault of one node, as the node to stand in its place."""
    match node:
        case ast.Compare(left, ops, others):
            for index, op in enumerate(ops):
                swapped = [*ops[:index], COMPARES[type(op)](), *ops[index + 1 :]]
                yield ast.Compare(left, swapped, others)
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.AugAssign(target, op, value):
            yield ast.AugAssign(target, OPERATORS[type(op)](), value)
            yield ast.Pass()
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Constant(value):
            yield from _changed_constant(value)
        case ast.stmt():
            yield from _changed_statement(node)


def _changed_constant(value: Any) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and " " not in value.strip():
        yield ast.Constant(f"{value}?")


def _changed_statement(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Assign(targets, value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Assign(targets, ast.Constant(None))
        case ast.Expr() | ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
