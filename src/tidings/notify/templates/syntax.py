"""What a template may say: every helper known, every variable declared, no partial but its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tidings.notify.templates.confusable_names import name_hint, visible
from tidings.notify.templates.faults import Fault
from tidings.notify.templates.schema_paths import ANYTHING, DeclaredPath

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
    "brand": frozenset({"name", "logo_url", "color", "on_color", "footer", "support_url", "theme_etag"}),
}
#: Stands around a partial that is given something; no author can write it.
SCOPE: Final = "tidings_scope"
#: How many faults of one text are told, and after how many expressions the walk ends: a text takes a fraction
#: of a second, whatever is in it.
MOST_FAULTS: Final = 50
MOST_STEPS: Final = 10_000
Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Scope:
    #: From the innermost to the outermost.
    contexts: tuple[DeclaredPath, ...]
    #: Names that a block gives: `as |item index|`.
    names: Mapping[str, DeclaredPath] = field(default_factory=dict)

    def inside(self, context: DeclaredPath, names: Mapping[str, DeclaredPath] | None = None) -> "_Scope":
        return _Scope((context, *self.contexts), {**self.names, **(names or {})})


def find_faults(tree: Node, schema: Mapping[str, Any], used: set[str]) -> list[Fault]:
    """What is wrong with a source; the variables that it reads are added to `used`, `*` for all of them.

    It ends early at a text that is too long or too wrong, and its last fault says so.
    """
    root = DeclaredPath(schema, schema)
    walk = _Walk(set(_inline_names(tree)), root, used)
    found: list[Fault] = []
    try:
        for fault in walk.program(tree, _Scope((root,))):
            if len(found) == MOST_FAULTS:
                what = f"there are more faults in this text than the {MOST_FAULTS} that are listed"
                raise _EnoughError(Fault(what, "fix those; the others are listed then"))  # noqa: TRY301
            found.append(fault)
    except (_EnoughError, RecursionError) as enough:
        deep = Fault("its blocks are nested too deeply, and the rest was not looked at", "take some out")
        found.append(enough.fault if isinstance(enough, _EnoughError) else deep)
        # What follows was not read: it is not known that a variable is unused in it.
        used.add("*")
    return found


class _EnoughError(Exception):
    """The rest of a text is not looked at."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.what)
        self.fault = fault


def _inline_names(tree: Node) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        for statement in waiting.pop()["body"]:
            if statement["type"] == "DecoratorBlock" and statement["params"]:
                yield str(statement["params"][0].get("value", ""))
            waiting += [part for name in ("program", "inverse") if (part := statement.get(name))]


class _Walk:
    def __init__(self, partials: set[str], root: DeclaredPath, used: set[str]) -> None:
        self._partials = partials
        self._root = root
        self._used = used
        self._steps = 0

    def program(self, node: Node | None, scope: _Scope) -> Iterator[Fault]:
        for statement in node["body"] if node else ():
            yield from self._statement(statement, scope)

    def _step(self, node: Node) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            what = f"it has more than {MOST_STEPS} expressions up to here, and the rest was not looked at"
            raise _EnoughError(_fault(node, what, "make the text shorter"))

    def _statement(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        match node["type"]:
            case "MustacheStatement":
                yield from self._mustache(node, scope)
            case "BlockStatement":
                yield from self._block(node, scope)
            case "PartialStatement":
                yield from self._partial(node, scope)
            case "DecoratorBlock":
                if node["path"].get("original") != "inline":
                    yield _fault(node, 'only {{#*inline "name"}} can follow {{#*', "take it away")
                # What a partial is called with is not known here; its names are taken on trust.
                yield from self.program(node["program"], _Scope((ANYTHING,)))
            case "ContentStatement" | "CommentStatement":
                return
            case "PartialBlockStatement":
                yield _fault(node, "partial blocks are not supported", "call the partial: {{> name}}")
            case _:
                yield _fault(node, "decorators are not supported", 'there is only {{#*inline "name"}}')

    def _mustache(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        path = node["path"]
        name = path.get("original", "")
        if node["params"] or node.get("hash"):
            yield from self._call(node, scope)
        elif path["type"] == "PathExpression" and name in PRINTING | BLOCKS:
            yield _fault(
                node, f"{name} needs a value", f"a variable of that name is read by {{{{this.{name}}}}}"
            )
        else:
            yield from self._value(path, scope)

    def _call(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        name = str(node["path"].get("original", ""))
        if name not in PRINTING:
            odd, how = name_hint(name) or ("", f"there are {', '.join(sorted(PRINTING))}")
            yield _fault(node, f"there is no helper {visible(name)}{odd}", how)
        yield from self._arguments(node, scope)

    def _arguments(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        for parameter in node["params"]:
            yield from self._value(parameter, scope)
        for pair in (node.get("hash") or {}).get("pairs", ()):
            yield from self._value(pair["value"], scope)

    def _value(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        self._step(node)
        if node["type"] == "SubExpression":
            yield from self._call(node, scope)
        elif node["type"] == "PathExpression" and self._find(node, scope) is None:
            name = str(node["original"])
            declared = self._root.names() if len(node["parts"]) == 1 and not node["data"] else ()
            odd, how = name_hint(name, declared) or ("", "add it to variables_schema or correct its name")
            yield _fault(node, f"{visible(name)} is not declared{odd}", how)

    def _find(self, node: Node, scope: _Scope) -> DeclaredPath | None:
        parts = [str(part) for part in node["parts"]]
        if node["data"]:
            return self._find_data(parts)
        depth = node["depth"]
        if depth == 0 and parts and parts[0] in scope.names and not node["original"].startswith("this"):
            return scope.names[parts[0]].at(parts[1:])
        if depth >= len(scope.contexts):
            # Above the top there is nothing; inside a partial there may be.
            return ANYTHING if ANYTHING in scope.contexts else None
        context = scope.contexts[depth]
        if context is self._root:
            self._used.add(parts[0] if parts else "*")
        elif context == ANYTHING and parts:
            # A text that is taken on trust may mean a variable by this name.
            self._used.add(parts[0])
        return context.at(parts)

    def _find_data(self, parts: list[str]) -> DeclaredPath | None:
        if parts[:1] == ["root"]:
            self._used.add(parts[1] if len(parts) > 1 else "*")
            return self._root.at(parts[1:])
        known = _DATA.get(parts[0]) if parts else None
        if known is None or (parts[1:] and parts[1] not in known) or len(parts) > 2:
            return None
        return ANYTHING

    def _block(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        self._step(node)
        name = str(node["path"].get("original", ""))
        if name == SCOPE:
            yield from self._arguments(node, scope)
            yield from self.program(node.get("program"), self._called(node, scope))
            return
        if name not in BLOCKS and (node["params"] or node.get("hash") or name in PRINTING):
            odd, how = name_hint(name) or ("", f"there are {', '.join(sorted(BLOCKS))}")
            yield _fault(node, f"there is no block helper {visible(name)}{odd}", how)
            return
        if name in BLOCKS:
            if len(node["params"]) != 1:
                yield _fault(node, f"{name} takes one value", f"write {{{{#{name} value}}}}")
                return
            yield from self._arguments(node, scope)
            subject = node["params"][0]
        else:
            yield from self._value(node["path"], scope)
            subject = node["path"]
        # An inverted section, `{{^a}}…{{/a}}`, has an inverse only.
        yield from self.program(node.get("program"), self._inner(name, subject, node, scope))
        yield from self.program(node.get("inverse"), scope)

    def _inner(self, name: str, subject: Node, node: Node, scope: _Scope) -> _Scope:
        if name in ("if", "unless"):
            return scope
        found = (self._find(subject, scope) if subject["type"] == "PathExpression" else None) or ANYTHING
        context = found if name == "with" else found.each() if name == "each" else ANYTHING
        names = (node.get("program") or {}).get("blockParams") or []
        given = dict(zip(names, (context, ANYTHING), strict=False))
        return scope.inside(context, given)

    def _called(self, node: Node, scope: _Scope) -> _Scope:
        """Inside a partial that was given something."""
        named = {str(pair["key"]): ANYTHING for pair in (node.get("hash") or {}).get("pairs", ())}
        subject = node["params"][0]
        if subject.get("original") in ("this", "."):
            return _Scope(scope.contexts, {**scope.names, **named})
        found = (self._find(subject, scope) if subject["type"] == "PathExpression" else None) or ANYTHING
        return scope.inside(found, named)

    def _partial(self, node: Node, scope: _Scope) -> Iterator[Fault]:
        self._step(node)
        name = node["name"].get("original") if node["name"]["type"] == "PathExpression" else None
        if name is None or str(name) not in self._partials:
            yield _fault(
                node,
                f"there is no partial {name or 'by a computed name'}",
                'define it in the same text with {{#*inline "name"}}',
            )
        yield from self._arguments(node, scope)


def _fault(node: Node, what: str, how: str) -> Fault:
    start = node["loc"]["start"]
    return Fault(what, how, line=start["line"], column=start["column"] + 1)
