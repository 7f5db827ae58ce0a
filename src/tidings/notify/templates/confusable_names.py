"""Names that are not what they look like: invisible characters, curly quotes, words of other languages."""

import difflib
import unicodedata
from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 80
_CURLY: Final = "“”„‟«»‘’‚‛"
#: What people write who know another language, and what it is here.
_ELSEWHERE: Final = {
    "elseif": "write {{else if …}} with a blank",
    "elif": "write {{else if …}}",
    "elsif": "write {{else if …}}",
    "endif": "a block is closed by its name: {{/if}}",
    "endfor": "a block is closed by its name: {{/each}}",
    "end": "a block is closed by its name: {{/if}}, {{/each}}",
    "endeach": "a block is closed by its name: {{/each}}",
    "for": "a list is gone through by {{#each list}}…{{/each}}",
    "foreach": "a list is gone through by {{#each list}}…{{/each}}",
    "set": "pass a variable with that value",
    "include": "a partial is called by {{> name}}",
    "partial": "a partial is called by {{> name}}",
    "uppercase": "send the value as it is to be printed",
    "upcase": "send the value as it is to be printed",
    "lowercase": "send the value as it is to be printed",
    "currency": "write {{money total}}",
    "formatDate": "write {{date at}}",
    "eq": "decide it before you send, and pass a variable: {{#if is_large}}",
    "gt": "decide it before you send, and pass a variable: {{#if is_large}}",
    "lt": "decide it before you send, and pass a variable: {{#if is_large}}",
    "and": "set one {{#if}} inside the other",
    "or": "write {{#if a}}…{{else if b}}…{{/if}}",
    "not": "write {{#unless …}}",
    "log": "nothing is logged from a template; take it away",
}


def hidden_characters(text: str) -> str:
    """The first invisible character of a text by its Unicode name; empty where there is none."""
    for character in text:
        if unicodedata.category(character) in ("Cf", "Cc", "Zl", "Zp") or (
            unicodedata.category(character) == "Zs" and character != " "
        ):
            name = unicodedata.name(character, "a control character")
            return f"the invisible character {name} (U+{ord(character):04X})"
    return ""


def visible(text: str) -> str:
    """A name as it looks, without its invisible characters."""
    return "".join(c for c in text if not hidden_characters(c))


def name_hint(name: str, known: Sequence[str] = ()) -> tuple[str, str] | None:
    """What is odd about a name that is not known, as the end of a sentence, and what to do; None where nothing is."""
    if hidden := hidden_characters(name):
        return f": it has {hidden} in it", f"type it anew: {visible(name)}"
    if any(c in _CURLY for c in name):
        return ": it is written with curly quotes", 'write a text in straight quotes: "long"'
    if name in _ELSEWHERE:
        return "", _ELSEWHERE[name]
    if name in known:
        return "", f"inside {{{{#each}}}} and {{{{#with}}}} write {{{{../{name}}}}} or {{{{@root.{name}}}}}"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75) if len(name) <= _LONGEST else ()
    return ("", f"did you mean {near[0]}? Otherwise add {name} to variables_schema") if near else None
