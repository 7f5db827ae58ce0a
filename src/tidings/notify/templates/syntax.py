"""What a template may say: every helper known, every variable declared, no partial but its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tidings.notify.templates.schema_paths import ANYTHING, Declared

#: Helpers that print something, and whether they can be used without a value: none can.
PRINTING: Final = frozenset({"date", "time", "money", "number", "plural", "list", "link", "lookup"})
BLOCKS: Final = frozenset({"if", "unless", "each", "with"})
#: What stands behind an `@`, and what is known inside it.
_DATA: Final[Mapping[str, frozenset[str]]] = {
    "index": frozenset(),
    "key": frozenset(),
    "first": frozenset(),
    "last": frozenset(),
    "locale": frozenset(),
    "direction": frozenset(),
    "recipient": frozenset({"name"}),
    "tenant": frozenset({"name"}),
    "links": frozenset({"unsubscribe", "preferences"}),
}
Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Scope:
    #: From the innermost to the outermost.
    contexts: tuple[Declared, ...]
    #: Names that a block gives: `as |item index|`.
    names: Mapping[str, Declared] = field(default_factory=dict)

    def inside(self, context: Declared, names: Mapping[str, Declared] | None = None) -> "_Scope":
        return _Scope((context, *self.contexts), {**self.names, **(names or {})})


def syntax_faults(tree: Node, schema: Mapping[str, Any]) -> list[str]:
    """What is wrong with a source, as sentences that name the line; `tree` as Handlebars parsed it."""
    root = Declared(schema, schema)
    partials = set(_inline_names(tree))
    return list(_Walk(partials, root).program(tree, _Scope((root,))))


def _inline_names(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if node.get("type") == "DecoratorBlock" and node["params"]:
            yield str(node["params"][0].get("value", ""))
        for value in node.values():
            yield from _inline_names(value)
    elif isinstance(node, list):
        for value in node:
            yield from _inline_names(value)


class _Walk:
    def __init__(self, partials: set[str], root: Declared) -> None:
        self._partials = partials
        self._root = root

    def program(self, node: Node | None, scope: _Scope) -> Iterator[str]:
        for statement in node["body"] if node else ():
            yield from self._statement(statement, scope)

    def _statement(self, node: Node, scope: _Scope) -> Iterator[str]:
        match node["type"]:
            case "MustacheStatement":
                yield from self._mustache(node, scope)
            case "BlockStatement":
                yield from self._block(node, scope)
            case "PartialStatement":
                yield from self._partial(node, scope)
            case "DecoratorBlock":
                if node["path"].get("original") != "inline":
                    yield f'{_line(node)}: only {{{{#*inline "name"}}}} can follow {{{{#*'
                # What a partial is called with is not known here; its names are taken on trust.
                yield from self.program(node["program"], _Scope((ANYTHING,)))
            case "ContentStatement" | "CommentStatement":
                return
            case other:
                yield f"{_line(node)}: {other} is not supported"

    def _mustache(self, node: Node, scope: _Scope) -> Iterator[str]:
        path = node["path"]
        name = path.get("original", "")
        if node["params"] or node.get("hash"):
            yield from self._call(node, scope)
        elif path["type"] == "PathExpression" and name in PRINTING | BLOCKS:
            yield (
                f"{_line(node)}: {name} needs a value; a variable of that name is read by {{{{this.{name}}}}}"
            )
        else:
            yield from self._value(path, scope)

    def _call(self, node: Node, scope: _Scope) -> Iterator[str]:
        name = str(node["path"].get("original", ""))
        if name not in PRINTING:
            known = ", ".join(sorted(PRINTING))
            yield f"{_line(node)}: there is no helper {name}; there are {known}"
        yield from self._arguments(node, scope)

    def _arguments(self, node: Node, scope: _Scope) -> Iterator[str]:
        for parameter in node["params"]:
            yield from self._value(parameter, scope)
        for pair in (node.get("hash") or {}).get("pairs", ()):
            yield from self._value(pair["value"], scope)

    def _value(self, node: Node, scope: _Scope) -> Iterator[str]:
        if node["type"] == "SubExpression":
            yield from self._call(node, scope)
        elif node["type"] == "PathExpression" and self._find(node, scope) is None:
            yield (
                f"{_line(node)}: {node['original']} is not declared; add it to variables_schema or "
                "correct its name"
            )

    def _find(self, node: Node, scope: _Scope) -> Declared | None:
        parts = [str(part) for part in node["parts"]]
        if node["data"]:
            return self._find_data(parts)
        depth = node["depth"]
        if depth == 0 and parts and parts[0] in scope.names and not node["original"].startswith("this"):
            return scope.names[parts[0]].at(parts[1:])
        if depth >= len(scope.contexts):
            # Above the top there is nothing; inside a partial there may be.
            return ANYTHING if ANYTHING in scope.contexts else None
        return scope.contexts[depth].at(parts)

    def _find_data(self, parts: list[str]) -> Declared | None:
        if parts[:1] == ["root"]:
            return self._root.at(parts[1:])
        known = _DATA.get(parts[0]) if parts else None
        if known is None or (parts[1:] and parts[1] not in known) or len(parts) > 2:
            return None
        return ANYTHING

    def _block(self, node: Node, scope: _Scope) -> Iterator[str]:
        name = str(node["path"].get("original", ""))
        if name not in BLOCKS and (node["params"] or node.get("hash") or name in PRINTING):
            yield f"{_line(node)}: there is no block helper {name}; there are {', '.join(sorted(BLOCKS))}"
            return
        if name in BLOCKS:
            if len(node["params"]) != 1:
                yield f"{_line(node)}: {name} takes one value"
                return
            yield from self._arguments(node, scope)
            subject = node["params"][0]
        else:
            yield from self._value(node["path"], scope)
            subject = node["path"]
        yield from self.program(node["program"], self._inner(name, subject, node, scope))
        yield from self.program(node.get("inverse"), scope)

    def _inner(self, name: str, subject: Node, node: Node, scope: _Scope) -> _Scope:
        if name in ("if", "unless"):
            return scope
        found = (self._find(subject, scope) if subject["type"] == "PathExpression" else None) or ANYTHING
        context = found if name == "with" else found.each() if name == "each" else ANYTHING
        names = (node["program"] or {}).get("blockParams") or []
        given = dict(zip(names, (context, ANYTHING), strict=False))
        return scope.inside(context, given)

    def _partial(self, node: Node, scope: _Scope) -> Iterator[str]:
        name = node["name"].get("original") if node["name"]["type"] == "PathExpression" else None
        if name is None or str(name) not in self._partials:
            yield (
                f"{_line(node)}: there is no partial {name or 'by a computed name'}; "
                'define it in the same text with {{#*inline "name"}}'
            )
        yield from self._arguments(node, scope)


def _line(node: Node) -> str:
    return f"line {node['loc']['start']['line']}"
