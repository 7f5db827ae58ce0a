"""Puts the expressions back where their tokens are, and proves that none has moved, vanished or changed.

Values that land in a link or in a style are wrapped in checks that run at every render.
"""

import re
from dataclasses import dataclass

from tidings.notify.templates.compile.lexer import Attribute, attributes, pieces
from tidings.notify.templates.compile.tokens import LINKS, Token, TokenisedSource
from tidings.notify.templates.errors import CompileError

_CSS_URL = re.compile(r"url\(\s*+(&quot;|['\"]?)([^()]*?)\1\s*\)")
#: The tags inside comments that only some mail programs read.
_TAG = re.compile(r"<[A-Za-z][\w:.-]*((?:\"[^\"]*\"|'[^']*'|[^\"'>])*)>")


@dataclass(frozen=True, slots=True)
class _Place:
    number: int
    #: The element that it stands in, each by a number of its own; None inside an attribute.
    parent: int | None


def restore(markup: str, tokenised: TokenisedSource) -> str:
    """The markup with its expressions; a `CompileError` where the tools did not leave them alone."""
    _prove(markup, tokenised)
    words = tokenised.pattern()
    out: list[str] = []
    for piece in pieces(markup):
        written = piece.source
        if piece.kind == "comment":
            whole = re.fullmatch(rf"<!--({words.pattern})-->", written)
            if whole:
                out.append(tokenised.expression(int(whole[2])).text)
                continue
            written = _TAG.sub(lambda tag: _with_attributes(tag[0], attributes(tag[1]), tokenised), written)
        elif piece.kind == "open":
            written = _with_attributes(written, piece.attributes, tokenised)
        out.append(_plain(written, tokenised))
    return "".join(out)


def _plain(text: str, tokenised: TokenisedSource) -> str:
    return tokenised.pattern().sub(lambda word: tokenised.expression(int(word[1])).text, text)


def _with_attributes(tag: str, found: list[Attribute], tokenised: TokenisedSource) -> str:
    words = tokenised.pattern()
    for attribute in found:
        if not words.search(attribute.value):
            continue
        kind = LINKS.get(attribute.name)
        if kind is not None:
            value = tokenised.checked(
                _plain(attribute.value, tokenised), kind, _first(attribute.value, tokenised)
            )
        elif attribute.name == "style":
            value = _style(attribute.value, tokenised)
        else:
            value = _plain(attribute.value, tokenised)
        quote = attribute.quote
        tag = tag.replace(f"{quote}{attribute.value}{quote}", f"{quote}{value}{quote}", 1)
    return tag


def _style(value: str, tokenised: TokenisedSource) -> str:
    words = tokenised.pattern()
    urls: list[str] = []

    def keep(url: re.Match[str]) -> str:
        if not words.search(url[2]):
            return url[0]
        checked = tokenised.checked(_plain(url[2], tokenised), "src", _first(url[2], tokenised))
        urls.append(f"url({url[1]}{checked}{url[1]})")
        return f"\x00{len(urls) - 1}\x00"

    value = _CSS_URL.sub(keep, value)
    value = words.sub(
        lambda word: tokenised.checked(_plain(word[0], tokenised), "style", int(word[1])), value
    )
    return re.sub("\x00([0-9]+)\x00", lambda kept: urls[int(kept[1])], value)


def _first(value: str, tokenised: TokenisedSource) -> int:
    return int(tokenised.pattern().findall(value)[0])


def _prove(markup: str, tokenised: TokenisedSource) -> None:
    places = _places(markup, tokenised)
    content = [place for place in places if place.parent is not None]
    wanted = sorted(token.number for token in tokenised.tokens.values() if token.role == "content")
    if [place.number for place in content] != wanted:
        raise _lost(content, [tokenised.tokens[number] for number in wanted])
    attribute_tokens = {token.number for token in tokenised.tokens.values() if token.role == "attribute"}
    repeatable = {token.number for token in tokenised.tokens.values() if token.repeatable}
    # The tools may say the same thing twice, for other mail programs, or once in another order.
    found = {place.number for place in places if place.parent is None} - repeatable
    for number in sorted(attribute_tokens ^ found):
        raise _gone(tokenised.tokens[number])
    _prove_siblings(content, tokenised)


def _places(markup: str, tokenised: TokenisedSource) -> list[_Place]:
    words = tokenised.pattern()
    found: list[_Place] = []
    stack, elements = [("", 0)], 0
    for piece in pieces(markup):
        if piece.kind == "open":
            found += [
                _Place(int(n), None) for attribute in piece.attributes for n in words.findall(attribute.value)
            ]
            if not piece.empty:
                elements += 1
                stack.append((piece.name, elements))
        elif piece.kind == "close":
            if any(name == piece.name for name, _ in stack):
                while stack.pop()[0] != piece.name:
                    pass
        elif piece.kind == "comment" and not re.fullmatch(rf"<!--{words.pattern}-->", piece.source):
            found += [_Place(int(n), None) for n in words.findall(piece.source)]
        else:
            found += [_Place(int(n), stack[-1][1]) for n in words.findall(piece.source)]
    return found


def _prove_siblings(content: list[_Place], tokenised: TokenisedSource) -> None:
    """A block begins, divides and ends within one element, or the markup would not close what it opens."""
    open_blocks: list[_Place] = []
    for place in content:
        text = tokenised.expression(place.number).text
        opener = re.match(r"\{\{~?\s*#", text) or re.match(r"\{\{~?\s*\^\s*[^\s}~]", text)
        if opener:
            open_blocks.append(place)
            continue
        closes = re.match(r"\{\{~?\s*/", text) is not None
        divides = re.match(r"\{\{~?\s*(?:else\b|\^)", text) is not None
        if not (closes or divides):
            continue
        if not open_blocks:
            expression = tokenised.expression(place.number)
            raise CompileError(f"line {expression.at}: {text} belongs to no block; take it away")
        begun = open_blocks.pop() if closes else open_blocks[-1]
        if begun.parent != place.parent:
            first = tokenised.expression(begun.number)
            raise CompileError(
                f"line {first.at}: {first.text} and {text} must stand in the same element; "
                "open and close every tag between them, each in the same half"
            )
    if open_blocks:
        first = tokenised.expression(open_blocks[0].number)
        raise CompileError(
            f"line {first.at}: {first.text} is not closed in the same part of the body; "
            "close it in the element in which it begins"
        )


def _lost(content: list[_Place], wanted: list[Token]) -> CompileError:
    for place, token in zip(content, wanted, strict=False):
        if place.number != token.number:
            return _gone(token)
    return _gone(wanted[len(content)] if len(content) < len(wanted) else wanted[-1])


def _gone(token: Token) -> CompileError:
    expression = token.expression
    return CompileError(
        f"line {expression.at}: {expression.text} in {token.place} does not survive, because that place is "
        "not kept; move it, or take it away"
    )
