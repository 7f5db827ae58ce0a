"""Renames classes, functions, constants and modules all over the tree, by a table; scope-aware, and refuses collisions.

A row of the table (tab-separated, `#` begins a comment) is one of

    tidings.notify.recipients.model    RecipientWish    RecipientInput     a name of a module, wherever it is imported
    tidings.kernel.luck                 module           tidings.kernel.jitter             a module, with its .sql
    tidings.router.callbacks.          token            luck jitter        an identifier in all modules that begin so

`python -m tools.rename table.tsv` says what would change; `--apply` does it and lets ruff sort imports and format.
Code spans and dotted paths in comments, docstrings, docs and settings follow; strings of the program do not.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Where Python is, and under which prefix its modules are imported.
_PYTHON = {"src": "", "client/src": "", "tests": "tests.", "bench": "bench.", "tools": "tools."}
_PROSE = (".md", ".toml", ".sql", ".yml", ".yaml", ".cfg", ".in")
#: Files that keep the names of their time.
_HISTORY = ("CHANGELOG.md", "docs/adr/")


class RenameError(Exception):
    """A row of the table can't be applied."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    module: str
    old: str
    new: str


@dataclass(frozen=True, order=True)
class Edit:
    """A piece of a line that gets another text; the column counts bytes, as in `ast`."""

    line: int
    column: int
    old: str = field(compare=False)
    new: str = field(compare=False)


@dataclass(kw_only=True)
class Source:
    """One Python file; parsed when it is first looked into."""

    path: Path
    module: str
    text: str
    _parsed: ast.Module | None = None

    @property
    def tree(self) -> ast.Module:
        self._parsed = self._parsed or ast.parse(self.text)
        return self._parsed

    def write(self, text: str) -> None:
        """Give the file another text."""
        if text != self.text:
            self.text, self._parsed = text, None
            self.path.write_text(text, encoding="utf-8")


def main() -> int:
    """Say, or do, what the table asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("--apply", action="store_true")
    chosen = parser.parse_args()
    refused = 0
    sources = list(read_sources())
    for row in read_table(chosen.table):
        try:
            counts = rename(row, sources, apply=chosen.apply)
            if row.old == "module" and chosen.apply:
                sources = list(read_sources())
        except RenameError as error:
            sys.stderr.write(f"refused: {row.module} {row.old}: {error}\n")
            refused += 1
            continue
        sys.stdout.write(f"{row.module} {row.old} → {row.new}: {counts.total()} in {len(counts)} files\n")
    if chosen.apply:
        folders = [str(ROOT / name) for name in ("src", "client", "tests", "bench", "tools")]
        for command in (["check", "-q", "--select", "I", "--fix"], ["format", "-q"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, *folders], cwd=ROOT, check=False)
    return 1 if refused else 0


def read_table(path: Path) -> Iterator[Row]:
    """Read the rows, without comments."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            module, old, new = line.split("\t")[:3]
            yield Row(module=module.strip(), old=old.strip(), new=new.strip())


def rename(row: Row, sources: list[Source], *, apply: bool) -> Counter[Path]:
    """Apply one row: which files change, and how often."""
    if row.old == "module":
        return _move(row, sources, apply=apply)
    if row.old == "token":
        return _rename_token(row, sources, apply=apply)
    word = re.compile(rf"\b{re.escape(row.old)}\b")
    sources = [source for source in sources if row.old in source.text and word.search(source.text)]
    homes = _homes(row, sources)
    edits = {
        source.path: sorted(set(found)) for source in sources if (found := _name_edits(row, source, homes))
    }
    if not any(source.module == row.module and _binds(source.tree, row.old) for source in sources):
        raise RenameError("there is no such name")
    taken = [
        source.path
        for source in sources
        if source.path in edits and row.new in _all_names(source.tree) and not _is_alias(source, row)
    ]
    if taken:
        raise RenameError(f"{row.new} stands already in {', '.join(map(_shown, taken))}")
    owners = [source for source in sources if _binds(source.tree, row.old) and not _imports(source, row.old)]
    counts = Counter({path: len(found) for path, found in edits.items()})
    for source in sources:
        text = _applied(source.text, edits.get(source.path, [])).replace(f"{row.new} as {row.new}", row.new)
        if len(owners) == 1 or source.path in edits:
            text = _in_prose(source.path, text, row, counts)
        if apply:
            source.write(text)
    for path, before in list(_prose().items()):
        if row.old not in before:
            continue
        after = _in_examples(before, row, homes, counts, path) if path.suffix == ".md" else before
        if len(owners) == 1:
            after = _in_spans(after, row, counts, path)
        if apply:
            _write_prose(path, after)
    return counts


def read_sources() -> Iterator[Source]:
    """Parse every Python file that git knows."""
    for path in _files(".py"):
        for folder, prefix in _PYTHON.items():
            if path.is_relative_to(ROOT / folder):
                parts = path.relative_to(ROOT / folder).with_suffix("").parts
                module = prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                yield Source(path=path, module=module, text=path.read_text(encoding="utf-8"))


# Names of a module.


def _name_edits(row: Row, source: Source, homes: set[str], *, bound: bool = False) -> list[Edit]:
    """Find every place of one file that means the name."""
    edits: list[Edit] = []
    bound = bound or (source.module in homes and _binds(source.tree, row.old))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and _target(node, source) in homes:
            for alias in node.names:
                if alias.name == row.old:
                    edits.append(Edit(alias.lineno, alias.col_offset, row.old, row.new))
                    bound = bound or alias.asname is None
    modules = dict(_module_aliases(source, homes))
    edits += _Uses(row, source, bound=bound, modules=modules).found
    return edits


def _homes(row: Row, sources: list[Source]) -> set[str]:
    """Name the module that defines it and those that import it from there, from which others may import it."""
    homes = {row.module}
    while True:
        more = {
            source.module
            for source in sources
            for node in source.tree.body
            if isinstance(node, ast.ImportFrom) and _target(node, source) in homes
            if any(alias.name == row.old and alias.asname in (None, row.old) for alias in node.names)
        }
        if more <= homes:
            return homes
        homes |= more


def _module_aliases(source: Source, homes: set[str]) -> Iterator[tuple[str, str]]:
    """Give each expression under which a home is reached in this file: `store` or `tidings.notify.store`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{_target(node, source)}.{alias.name}" in homes:
                    yield alias.asname or alias.name, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in homes:
                    yield alias.asname or alias.name, alias.name


class _Uses(ast.NodeVisitor):
    """Finds uses of a global name, and of `module.name`; a local of the same name hides it."""

    def __init__(self, row: Row, source: Source, *, bound: bool, modules: dict[str, str]) -> None:
        self._row, self._source, self._bound, self._modules = row, source, bound, modules
        self._lines = source.text.encode().split(b"\n")
        self._hidden = 0
        self._quoted = set(_quoted_names(source.tree))
        self.found: list[Edit] = []
        self.visit(source.tree)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self._row.old and self._bound and not self._hidden:
            self._add(node.lineno, node.col_offset)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr == self._row.old and ast.unparse(node.value) in self._modules:
            end = node.end_col_offset or 0
            self._add(node.end_lineno or node.lineno, end - len(self._row.old.encode()))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Follow names in annotations that are written as strings, and in `__all__`; other strings are the program's."""
        if node in self._quoted and self._bound and not self._hidden:
            raw = self._lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
            for match in re.finditer(rf"(?<![\w.]){re.escape(self._row.old)}(?!\w)", raw):
                self._add(node.lineno, node.col_offset + match.start())

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._definition(node)
        for inner in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(inner)
        fields = {
            name for one in node.body if isinstance(one, ast.Assign | ast.AnnAssign) for name in _bound(one)
        }
        for inner in node.body:
            # A field of the same name hides it from the body of the class, and from no method.
            hides = self._row.old in fields and not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            self._hidden += hides
            self.visit(inner)
            self._hidden -= hides

    def visit_Global(self, node: ast.Global) -> None:
        if self._row.old in node.names and self._bound:
            raise RenameError(f"`global {self._row.old}` in {_shown(self._source.path)}: rename it by hand")

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        outside: list[ast.AST] = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
        if not isinstance(node, ast.Lambda):
            self._definition(node)
            outside += [*node.decorator_list, *([node.returns] if node.returns else [])]
        outside += [one.annotation for one in _arguments(node.args) if one.annotation]
        for inner in outside:
            self.visit(inner)
        hides = self._row.old in _locals(node)
        self._hidden += hides
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self._hidden -= hides

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function  # noqa: N815

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        hides = any(self._row.old in _targets(one.target) for one in node.generators)
        self._hidden += hides
        self.generic_visit(node)
        self._hidden -= hides

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815

    def _definition(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        top = node in self._source.tree.body or any(
            isinstance(one, ast.If | ast.Try) and node in ast.walk(one) for one in self._source.tree.body
        )
        if node.name == self._row.old and self._bound and top:
            line = self._lines[node.lineno - 1]
            self._add(node.lineno, line.index(f" {node.name}".encode(), node.col_offset) + 1)

    def _add(self, line: int, column: int) -> None:
        self.found.append(Edit(line, column, self._row.old, self._row.new))


def _quoted_names(tree: ast.Module) -> Iterator[ast.Constant]:
    """Give the strings that are names: those in annotations and in `__all__`."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as holder) | ast.AnnAssign(annotation=holder):
                pass
            case (
                ast.FunctionDef(returns=ast.expr() as holder)
                | ast.AsyncFunctionDef(returns=ast.expr() as holder)
            ):
                pass
            case ast.Assign(targets=[ast.Name(id="__all__")], value=holder):
                pass
            case _:
                continue
        for inner in ast.walk(holder):
            if (
                isinstance(inner, ast.Constant)
                and isinstance(inner.value, str)
                and inner.lineno == inner.end_lineno
            ):
                yield inner


def _arguments(args: ast.arguments) -> list[ast.arg]:
    more = [one for one in (args.vararg, args.kwarg) if one]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *more]


def _locals(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    names = {one.arg for one in _arguments(node.args)}
    pending: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.add(inner.id)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(inner.name)
            continue
        elif (isinstance(inner, ast.ExceptHandler) and inner.name) or (
            isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name
        ):
            names.add(inner.name)
        if not isinstance(inner, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            pending += ast.iter_child_nodes(inner)
    return names


def _bound(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name for target in targets for name in _targets(target)}


def _targets(target: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}


def _binds(tree: ast.Module, name: str) -> bool:
    """Tell whether the module gives the name a meaning at its top level."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=bound) | ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound):
                found = {bound}
            case ast.Assign() | ast.AnnAssign():
                found = _bound(node)
            case ast.ImportFrom(names=names):
                found = {one.asname or one.name for one in names}
            case _:
                found = set()
        if name in found:
            return True
    return False


def _imports(source: Source, name: str) -> bool:
    found = (node for node in ast.walk(source.tree) if isinstance(node, ast.ImportFrom))
    return any((one.asname or one.name) == name for node in found for one in node.names)


def _is_alias(source: Source, row: Row) -> bool:
    """Tell whether the file imports the name under its new one already."""
    return f"import {row.old} as {row.new}" in source.text or f" {row.old} as {row.new}," in source.text


def _all_names(tree: ast.Module) -> set[str]:
    """Every name that a file binds or reads as a plain name, in any scope."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node in tree.body:
            names.add(node.name)
    return names


def _target(node: ast.ImportFrom, source: Source) -> str:
    if not node.level:
        return node.module or ""
    package = source.module if source.path.name == "__init__.py" else source.module.rpartition(".")[0]
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


# Modules.


def _move(row: Row, sources: list[Source], *, apply: bool) -> Counter[Path]:
    """Move a module or a package with all that refers to it."""
    old, new = row.module, row.new
    moved = [source for source in sources if source.module == old or source.module.startswith(f"{old}.")]
    if not moved:
        raise RenameError("there is no such module")
    if any(source.module == new for source in sources):
        raise RenameError(f"{new} is there already")
    counts: Counter[Path] = Counter()
    old_package, _, old_name = old.rpartition(".")
    for source in sources:
        text = source.text
        if not (
            old in text
            or f"{old_name}.py" in text
            or f"{old_name}.sql" in text
            or f"{old_package} import" in text
        ):
            continue
        uses = [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, ast.ImportFrom)
            and _target(node, source) == old_package
            and any(alias.name == old_name for alias in node.names)
        ]
        if uses:
            text = _reimported(source, uses, row, text)
        text = _dotted(text, old, new)
        text = _paths(text, old, new)
        if text != source.text:
            counts[source.path] += 1
            if apply:
                source.write(text)
    for path, before in list(_prose().items()):
        after = _paths(_dotted(before, old, new), old, new)
        if after != before:
            counts[path] += 1
            if apply:
                _write_prose(path, after)
    if apply:
        _git_move(old, new)
        _prose.cache_clear()
    return counts


def _reimported(source: Source, nodes: list[ast.ImportFrom], row: Row, text: str) -> str:
    """Rewrite `from package import old` and every `old.something` behind it."""
    (_, _, old_name), (new_package, _, new_name) = row.module.rpartition("."), row.new.rpartition(".")
    plain = any(alias.name == old_name and alias.asname is None for node in nodes for alias in node.names)
    if plain and old_name != new_name and new_name in _all_names(source.tree):
        raise RenameError(f"{new_name} stands already in {_shown(source.path)}")
    uses = _Uses(
        Row(module="", old=old_name, new=new_name), source, bound=plain and old_name != new_name, modules={}
    )
    text = _applied(text, sorted(set(uses.found)))
    lines = text.split("\n")
    for node in sorted(nodes, key=lambda one: -one.lineno):
        indent = " " * node.col_offset
        kept = [one for one in node.names if one.name != old_name]
        gone = [one for one in node.names if one.name == old_name]
        written = [f"{indent}from {new_package} import {ast.unparse(ast.alias(new_name, gone[0].asname))}"]
        if kept:
            written.append(f"{indent}from {node.module} import {', '.join(map(ast.unparse, kept))}")
        lines[node.lineno - 1 : node.end_lineno] = written
    return "\n".join(lines)


def _git_move(old: str, new: str) -> None:
    base, target = ROOT / _as_path(old), ROOT / _as_path(new)
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in ("", ".py", ".sql"):
        source = base.with_name(base.name + suffix)
        if source.is_dir() if not suffix else source.exists():
            subprocess.run(
                ["git", "mv", source, target.with_name(target.name + suffix)], cwd=ROOT, check=True
            )


def _as_path(module: str) -> Path:
    folder = next((name for name, prefix in _PYTHON.items() if prefix and module.startswith(prefix)), None)
    if folder is None:
        folder = "client/src" if module.startswith("tidings_client") else "src"
        return Path(folder, *module.split("."))
    return Path(*module.split("."))


def _dotted(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, text)


def _paths(text: str, old: str, new: str) -> str:
    """Follow file names: `router/whose.py`, also from further up, and a package's `router/whose/`."""
    before, after = _as_path(old).parts, _as_path(new).parts
    if (ROOT / _as_path(old)).is_dir():
        for start in range(len(before) - 1):
            text = re.sub(
                rf"(?<![\w/]){re.escape('/'.join(before[start:]))}/", "/".join(after[start:]) + "/", text
            )
        return text
    for start in range(len(before) - 1):
        for suffix in (".py", ".sql"):
            name = "/".join(before[start:]) + suffix
            text = re.sub(rf"(?<![\w/]){re.escape(name)}(?!\w)", "/".join(after[start:]) + suffix, text)
    return text


# Identifiers.


def _rename_token(row: Row, sources: list[Source], *, apply: bool) -> Counter[Path]:
    """Rename an identifier of any kind (parameters, attributes, locals) in all modules that begin so."""
    old, new = row.new.split(" ")
    counts: Counter[Path] = Counter()
    for source in sources:
        if old not in source.text or not f"{source.module}.".startswith(row.module):
            continue
        names = [
            token
            for token in tokenize.generate_tokens(io.StringIO(source.text).readline)
            if token.type == tokenize.NAME
        ]
        found = [token for token in names if token.string == old]
        if not found:
            continue
        if any(token.string == new for token in names):
            raise RenameError(f"{new} stands already in {_shown(source.path)}")
        lines = source.text.split("\n")
        edits = [
            Edit(token.start[0], len(lines[token.start[0] - 1][: token.start[1]].encode()), old, new)
            for token in found
        ]
        counts[source.path] += len(edits)
        text = _applied(source.text, sorted(edits))
        text = _in_prose(source.path, text, Row(module="", old=old, new=new), counts)
        if apply:
            source.write(text)
    return counts


# Texts.


def _applied(text: str, edits: list[Edit]) -> str:
    lines = text.encode().split(b"\n")
    for edit in reversed(edits):
        line, old = lines[edit.line - 1], edit.old.encode()
        if line[edit.column : edit.column + len(old)] != old:
            raise RenameError(f"expected {edit.old} at {edit.line}:{edit.column} of {line.decode()}")
        lines[edit.line - 1] = line[: edit.column] + edit.new.encode() + line[edit.column + len(old) :]
    return b"\n".join(lines).decode()


def _in_prose(path: Path, text: str, row: Row, counts: Counter[Path]) -> str:
    """Rename code spans in comments and docstrings."""
    if f"`{row.old}" not in text:
        return text
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and token.string.startswith('"""')
        if (docstring or token.type == tokenize.COMMENT) and f"`{row.old}" in token.string:
            spans.append(token)
    lines = text.split("\n")
    for token in reversed(spans):
        (first, start), (last, end) = token.start, token.end
        whole = "\n".join(lines[first - 1 : last])
        tail = len(lines[last - 1]) - end
        inner = whole[start : len(whole) - tail]
        changed = _in_spans(inner, row, counts, path)
        lines[first - 1 : last] = (whole[:start] + changed + whole[len(whole) - tail :]).split("\n")
    return "\n".join(lines)


def _in_spans(text: str, row: Row, counts: Counter[Path], path: Path) -> str:
    """Rename in `code spans` that begin with the name: `Name`, `Name.field`, `Name(…)`."""
    changed, count = re.subn(rf"(?<=`){re.escape(row.old)}(?=[`.(\[])", row.new, text)
    if row.module:
        changed, more = re.subn(
            rf"(?<![\w.]){re.escape(row.module)}\.{re.escape(row.old)}(?!\w)",
            f"{row.module}.{row.new}",
            changed,
        )
        count += more
    if count:
        counts[path] += count
    return changed


def _in_examples(text: str, row: Row, homes: set[str], counts: Counter[Path], path: Path) -> str:
    """Rename in the fenced examples of a page that are Python; each may use what an earlier one has imported."""
    bound = False

    def changed(match: re.Match[str]) -> str:
        nonlocal bound
        source = Source(path=path, module="", text=match[2])
        try:
            edits = _name_edits(row, source, homes, bound=bound)
        except SyntaxError:
            return match[0]
        bound = bound or _binds(source.tree, row.old)
        counts.update({path: len(edits)} if edits else {})
        return match[1] + _applied(match[2], sorted(set(edits))) + match[3]

    return re.sub(r"(?ms)(^```python[^\n]*\n)(.*?)(^```)", changed, text) if row.old in text else text


@cache
def _prose() -> dict[Path, str]:
    """Read the docs and the settings of tools, once."""
    found = [*_files(*_PROSE), ROOT / "Makefile"]
    current = [path for path in found if not str(path.relative_to(ROOT)).startswith(_HISTORY)]
    return {path: path.read_text(encoding="utf-8") for path in current}


def _write_prose(path: Path, text: str) -> None:
    if text != _prose()[path]:
        _prose()[path] = text
        path.write_text(text, encoding="utf-8")


def _files(*suffixes: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    paths = [ROOT / line for line in listed.splitlines() if line.endswith(suffixes)]
    return [path for path in paths if path.is_file()]


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


if __name__ == "__main__":
    sys.exit(main())
