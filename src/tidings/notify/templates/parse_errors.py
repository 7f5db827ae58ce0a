"""What Handlebars' parser says, in plain words and at its place: what stands there, and what to write instead."""

import re
from dataclasses import dataclass
from typing import Final

from tidings.notify.templates.confusable_names import hidden_characters
from tidings.notify.templates.expand.source_map import Lines
from tidings.notify.templates.faults import Fault

_PARSE: Final = re.compile(
    r"Parse error on line (?P<line>[0-9]+):\n(?P<shown>.*)\n(?P<dashes>-*)\^\nExpecting (?P<expected>.*), got '(?P<got>\w+)'",
    re.DOTALL,
)
_AT: Final = re.compile(r"^(?P<what>.*) - (?P<line>[0-9]+):(?P<column>[0-9]+)\Z", re.DOTALL)
_QUOTES: Final = "\"'"
#: How much of what it has read the parser shows before the arrow.
_SHOWN: Final = 20
_PATH: Final = "a name such as order.total"
#: The parser's tokens in words; those that only say how an expression may go on are left out.
_WORDS: Final = {
    "ID": _PATH,
    "STRING": 'a text in quotes such as "long"',
    "NUMBER": "a number",
    "CLOSE": "}} at the end",
    "CLOSE_UNESCAPED": "}}} at the end",
    "CLOSE_SEXPR": "a closing )",
    "OPEN_SEXPR": "an opening (",
    "CLOSE_BLOCK_PARAMS": "a closing |",
    "EOF": "the end of the text",
    "OPEN_ENDBLOCK": "the end of the block",
}
_HELPERS: Final = "{{date at}}, {{money total}}, {{number n}}, {{list names}}"
#: Filters of other languages, and what there is in their place.
_FILTERS: Final = {
    "date": "{{date %s}}",
    "time": "{{time %s}}",
    "currency": "{{money %s}}",
    "money": "{{money %s}}",
    "number": "{{number %s}}",
    "round": "{{number %s decimals=0}}",
    "join": "{{list %s}}",
    "default": "{{#if %s}}{{%s}}{{else}}…{{/if}}",
}
_OPERATORS: Final = re.compile(r"===?|!==?|<=?|>=?|&&|\|\||[+*%!&]|(?<=\s)[-/](?=\s)")


def parse_fault(text: str, said: str) -> Fault:
    """The fault of a text that Handlebars can't read, with its line and column in the text."""
    if found := _PARSE.match(said):
        at = _offset(text, found)
        fault, start = _inside(text, at, found["got"], found["expected"])
        return _placed(text, start, fault)
    if found := _AT.match(said):
        at = Lines(text).start(int(found["line"])) + int(found["column"])
        return _placed(text, at, _named(found["what"]))
    what = said.split("\n", 1)[0].rstrip(":")
    return Fault(f"Handlebars can't read it: {what}", "make the expressions simpler, or take some out")


def _placed(text: str, at: int, fault: Fault) -> Fault:
    line, column = Lines(text).at(min(at, max(len(text) - 1, 0)))
    return Fault(fault.what, fault.how, line=line, column=column)


def _offset(text: str, found: re.Match[str]) -> int:
    """Where the arrow points: the parser tells the line, and shows what it has read just before."""
    before = found["shown"][: len(found["dashes"])].removeprefix(
        "..." if len(found["dashes"]) > _SHOWN else ""
    )
    lines = Lines(text)
    start, end = lines.start(int(found["line"])), lines.start(int(found["line"]) + 1)
    for at in range(start, (len(text) if end <= start else end) + 1):
        if text[max(at - _SHOWN, 0) : at].replace("\n", "") == before:
            return at
    return start


def _named(what: str) -> Fault:
    path = what.removeprefix("Invalid path: ")
    if path != what:
        name = re.sub(r"(?<=[./])(?:this|\.\.?)(?=[./]|\Z)|^this[./]", "", path).strip("./") or "name"
        return Fault(
            f"{path} is no path: this, . and .. stand only at its beginning",
            f"write {name}, this.{name} or ../{name}",
        )
    return Fault(f"Handlebars can't read it: {what}", "correct the expression")


@dataclass(frozen=True, slots=True)
class _Broken:
    """An expression that can't be read."""

    whole: str
    #: From where the parser stopped to the braces that close it.
    rest: str
    #: The whole in a line.
    shown: str
    #: The token that the parser met.
    got: str


def _inside(text: str, at: int, got: str, expected: str) -> tuple[Fault, int]:
    """What is wrong with the expression that the parser stopped in, and where in the text."""
    opened = text.rfind("{{", 0, at + 1)
    opened -= opened > 0 and text[opened - 1] == "{"
    closed = text.find("}}", at)
    end = len(text) if closed == -1 else closed
    whole = text[opened : end + 2] if opened != -1 else ""
    rest = text[at:end]
    shown = _short(whole)
    broken = _Broken(whole, rest, shown, got)
    for rule in (_no_value, _parentheses, _brackets, _pipe, _operator, _quotes, _empty, _unequal_braces):
        if found := rule(broken):
            fault, sign = found
            # Where the sign stands that is meant; where the parser stopped, if it is not known.
            return fault, at if sign is None else opened + sign
    words = [_WORDS[token] for token in re.findall(r"'(\w+)'", expected) if token in _WORDS]
    unexpected = hidden_characters(rest[:1]) or _short(rest.split()[0] if rest.split() else "its end")
    wanted = f"expected is {', or '.join(words[:3])}" if words else "correct it"
    return Fault(f"{unexpected} can't stand there in {shown}", wanted), at


#: A fault, and where the sign that it is about stands in the expression; None where the parser stopped.
_Found = tuple[Fault, int | None] | None


def _no_value(broken: _Broken) -> _Found:
    found = re.search(r"([\w-]+)=\s*(?=[\w-]+=[^=]|~?\}\})", broken.whole)
    if found is None or broken.got not in ("EQUALS", "CLOSE"):
        return None
    how = f'write one after the sign: {found[1]}="words"'
    return Fault(f"{found[1]}= in {broken.shown} has no value", how), found.start()


def _parentheses(broken: _Broken) -> _Found:
    if re.match(r"\{\{~?\s*\(", broken.whole):
        how = "take the parentheses away: {{lookup list 0}}"
        return Fault(f"{broken.shown} begins with a parenthesis", how), broken.whole.index("(")
    if broken.got == "CLOSE_SEXPR":
        how = "take it away, or write the ( that it belongs to"
        return Fault(f"a ) in {broken.shown} closes nothing", how), None
    if broken.whole.count("(") > broken.whole.count(")"):
        how = "write ) after what belongs together"
        return Fault(f"a ( in {broken.shown} is not closed", how), broken.whole.rindex("(")
    return None


def _brackets(broken: _Broken) -> _Found:
    found = re.match(r"([^\s\[\]{}.]*)\[([^\[\]{}]*)\]?", broken.rest)
    if broken.got == "INVALID" and found:
        how = f"write a dot before the bracket: {found[1]}.[{found[2].strip(_QUOTES) or '0'}]"
        return Fault(f"{_short(found[0])} in {broken.shown} can't be read", how), None
    number = re.match(r"[0-9]+", broken.rest)
    if broken.got == "NUMBER" and number and broken.whole:
        what = f"a path can't end in a number without brackets: {broken.shown}"
        return Fault(what, f"write .[{number[0]}]"), None
    return None


def _pipe(broken: _Broken) -> _Found:
    if not broken.rest.startswith("|") or broken.rest.startswith("||"):
        return None
    value = re.search(r"([^\s{}~#|]+)\s*\Z", broken.whole.partition("|")[0])
    wanted = re.match(r"\|\s*(\w+)", broken.rest)
    known = _FILTERS.get(wanted[1] if wanted else "")
    how = (
        f"write {known.replace('%s', value[1] if value else 'value')}"
        if known
        else f"a helper stands before the value: {_HELPERS}; or send the value as it is to be printed"
    )
    return Fault(f"| in {broken.shown} is no part of the language: there are no filters", how), None


def _operator(broken: _Broken) -> _Found:
    # The parser takes the first of two equals signs for that of a named value.
    at = len(broken.whole) - len(broken.rest) - 2
    while broken.got == "EQUALS" and at > 0 and broken.whole[at - 1] in "=!<>":
        at -= 1
    sign = _OPERATORS.match(broken.whole, at) or re.compile("=").match(broken.whole, at)
    if sign is None:
        return None
    what = f"{sign[0]} in {broken.shown} is no part of the language: nothing is compared or computed"
    return Fault(what, "decide it before you send, and pass a variable: {{#if is_large}}"), at


def _quotes(broken: _Broken) -> _Found:
    quote = broken.rest[:1]
    if quote and quote in _QUOTES and broken.rest.count(quote) % 2:
        what = f"a text in {broken.shown} has no closing quotation mark"
        return Fault(what, f"write the second {quote}"), None
    return None


def _empty(broken: _Broken) -> _Found:
    if broken.got != "CLOSE" or broken.rest.strip("~ \t\n") or broken.whole.startswith("{{{"):
        return None
    return Fault(f"{broken.shown} names nothing", f"write {_PATH} inside, or take it away"), 0


def _unequal_braces(broken: _Broken) -> _Found:
    if broken.whole.startswith("{{{") and broken.got == "CLOSE":
        what = f"{broken.shown} is opened by three braces and closed by two"
        return Fault(what, "write two on both sides"), 0
    if broken.rest.startswith("{") or (broken.rest.startswith("}") and not broken.rest.startswith("}}")):
        how = "close each expression with }} before the next begins"
        return Fault(f"{_short(broken.rest)} can't stand inside {broken.shown}", how), None
    return None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:58]}…"
