"""Prints how large the tree is: code lines, imports, lines that only copy a value, and what one endpoint costs.

`python -m tools.size` measures the working tree; `--against REV` puts a git revision beside it. It never fails: the
figures are information for a reviewer.
"""

import argparse
import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The folders that are measured: the server and the client.
_MEASURED = ("src/", "client/src/")
#: How a decorator that declares an endpoint ends: `@get(…)`, `@status_map.list()`, `@policies.action("…")`.
_DECLARES = {"get", "post", "put", "patch", "delete", "list", "show", "create", "change", "action"}
_SMALL = 40
#: Path → text.
Tree = Mapping[str, str]


def main() -> int:
    """Print the table of the working tree, beside that of a revision when one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", metavar="REV", help="a git revision to compare with")
    against = parser.parse_args().against
    columns = [measure(working_tree())]
    if against:
        columns.insert(0, measure(revision(against)))
    heads = [against, "now", "change"] if against else ["now"]
    sys.stdout.write("\n".join(table(heads, columns)) + "\n")
    return 0


def working_tree() -> Tree:
    """Read the files that git knows of, as they are on disk."""
    names = subprocess.run(
        ["git", "ls-files", *_MEASURED], cwd=ROOT, capture_output=True, check=True, text=True
    )
    paths = [name for name in names.stdout.splitlines() if _is_source(name) and (ROOT / name).exists()]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in paths}


def revision(rev: str) -> Tree:
    """Read the same files out of a git revision."""
    archive = subprocess.run(["git", "archive", rev], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        members = [one for one in packed if one.isfile() and _is_source(one.name)]
        return {one.name: packed.extractfile(one).read().decode() for one in members}  # type: ignore[union-attr]


def measure(tree: Tree) -> dict[str, str]:
    """Count everything: a row's name → its figure."""
    parsed = {name: list(ast.walk(ast.parse(text))) for name, text in tree.items() if name.endswith(".py")}
    lines = {name: code_lines(tree[name], nodes) for name, nodes in parsed.items()}
    made = {name for name in parsed if _generated(tree[name])}
    written = {name: nodes for name, nodes in parsed.items() if name not in made}
    imports = sum(len(import_lines(nodes) & lines[name]) for name, nodes in written.items())
    code = sum(len(lines[name]) for name in written)
    copied = Counter(kind for nodes in written.values() for kind in copies(nodes))
    rows = {
        "Python files": len(written),
        f"  under {_SMALL} lines": sum(tree[name].count("\n") < _SMALL for name in written),
        "code lines with imports": code,
        "code lines without imports": code - imports,
        "imports": imports,
        "generated code lines": sum(len(lines[name]) for name in made),
        "copies of a value under its own name": copied.total(),
        **{f"  {kind}": copied[kind] for kind in COPIES},
    }
    shares = {"  imports' share of the code": f"{100 * imports / max(code, 1):.1f} %"}
    return {name: f"{figure:,}" for name, figure in rows.items()} | shares | endpoint_prices(tree, written)


def code_lines(text: str, nodes: list[ast.AST]) -> set[int]:
    """Number the lines that are neither blank, nor a comment, nor a docstring."""
    numbered = enumerate(text.split("\n"), 1)
    lines = {number for number, line in numbered if (bare := line.lstrip()) and not bare.startswith("#")}
    docstrings: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno:
            lines |= _span(node)
        match node:
            case ast.Module(body=[first, *_]) | ast.ClassDef(body=[first, *_]):
                docstrings |= _docstring(first)
            case ast.FunctionDef(body=[first, *_]) | ast.AsyncFunctionDef(body=[first, *_]):
                docstrings |= _docstring(first)
    return lines - docstrings


def import_lines(nodes: list[ast.AST]) -> set[int]:
    """Number the lines of import statements."""
    return set().union(*(_span(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)))


COPIES = ("name=name", "name=obj.name", "self._name = name", 'name=row["name"]', "[x.name for x in xs]")


def copies(nodes: list[ast.AST]) -> Iterator[str]:
    """Name the kind of every place that hands a value on under the name it has already."""
    for node in nodes:
        match node:
            case ast.keyword(arg=str(name), value=ast.Name(id=same)) if name == same:
                yield "name=name"
            case ast.keyword(arg=str(name), value=ast.Attribute(attr=same)) if name == same:
                yield "name=obj.name"
            case ast.keyword(arg=str(name), value=value) if any(_reads(one, name) for one in ast.walk(value)):
                yield 'name=row["name"]'
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Name(id=same)):
                if name.lstrip("_") == same:
                    yield "self._name = name"
            case ast.ListComp(
                elt=ast.Attribute(value=ast.Name(id=item)),
                generators=[ast.comprehension(target=ast.Name(id=same), ifs=[])],
            ) if item == same:
                yield "[x.name for x in xs]"


def endpoint_prices(tree: Tree, written: Mapping[str, list[ast.AST]]) -> dict[str, str]:
    """Divide all lines of a resource's package, with its client and commands, by the endpoints that it declares."""
    declared: Counter[str] = Counter()
    for name, nodes in written.items():
        if name.startswith(("src/tidings/notify/", "src/tidings/router/")):
            declared[str(Path(name).parent)] += sum(map(_declares, nodes))
    prices = {}
    all_layers = 0
    for package, endpoints in sorted(declared.items()):
        stem = Path(package).name
        words = (stem, stem.removesuffix("s"), stem.removesuffix("ies") + "y")
        size = {
            name: text.count("\n")
            for name, text in tree.items()
            if not _generated(text) and (name.startswith(f"{package}/") or _serves(name, words))
        }
        layers = sum(lines for name, lines in size.items() if _is_layer(name))
        if endpoints:
            total = sum(size.values())
            all_layers += layers
            prices[f"lines per endpoint: {package.removeprefix('src/tidings/')}"] = (
                f"{total / endpoints:.0f}, layers {layers / endpoints:.0f} of {endpoints}"
            )
    whole = sum(declared.values())
    return prices | {"layers per endpoint, all packages": f"{all_layers / whole:.0f}" if whole else "–"}


def _is_layer(name: str) -> bool:
    """Whether a file only carries: routes, wire types, views, what was injected by hand, the client, the commands."""
    stem = Path(name).stem
    return not name.startswith(("src/tidings/notify/", "src/tidings/router/")) or stem.endswith(
        ("routes", "wire", "view", "deps", "errors")
    )


def table(heads: list[str], columns: list[dict[str, str]]) -> list[str]:
    """Lay the columns beside each other, with the change where both are whole numbers."""
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = [["", *heads]]
    for name in names:
        cells = [column.get(name, "–") for column in columns]
        numbers = [int(cell.replace(",", "")) for cell in cells if cell.replace(",", "").isdigit()]
        change = [f"{numbers[1] - numbers[0]:+,}" if len(numbers) == 2 else ""] if len(columns) == 2 else []
        rows.append([name, *cells, *change])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]


def _is_source(name: str) -> bool:
    return name.startswith(_MEASURED) and name.endswith((".py", ".sql"))


def _generated(text: str) -> bool:
    return "generated by" in text[:400].lower()


def _span(node: ast.stmt | ast.expr) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _docstring(first: ast.stmt) -> set[int]:
    match first:
        case ast.Expr(value=ast.Constant(value=str())):
            return _span(first)
    return set()


def _reads(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == name
    )


def _declares(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    called = [one.func for one in node.decorator_list if isinstance(one, ast.Call)]
    words = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in called}
    return bool(words & _DECLARES)


def _serves(name: str, words: tuple[str, ...]) -> bool:
    """Tell whether a file of the commands or of the client belongs to a resource, by its name."""
    if not name.startswith(("src/tidings/cli/", "src/tidings/client/", "client/src/")):
        return False
    stem = Path(name).stem
    return any(stem == word or stem.startswith(f"{word}_") for word in words)


if __name__ == "__main__":
    sys.exit(main())
