"""Fields and forms. Every form that changes something proves that our own page sent it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tidings.backoffice.console.html import NOTHING, Attribute, Child, Html, el, join
from tidings.backoffice.console.strings import ConsoleStrings

#: Option → its label.
Options = Sequence[tuple[str, str]]


class SendsForms(Protocol):
    """Somebody who is signed in."""

    @property
    def csrf_token(self) -> str:
        """What their forms are proven by."""
        ...


def post_form(
    reader: SendsForms | None,
    action: str,
    *children: Child,
    class_: str | None = None,
    **attributes: Attribute,
) -> Html:
    """A form that changes something."""
    proof = None if reader is None else hidden("csrf", reader.csrf_token)
    return el("form", proof, children, method="post", action=action, class_=class_, **attributes)


def filter_form(words: ConsoleStrings, action: str, *fields: Child) -> Html:
    """Asks for a list with filters; with a script it sends itself when a choice changes."""
    clear = el("a", words["clear"], href=action)
    send = el("div", button(words["filter"], "quiet"), clear, class_="actions")
    return el("form", fields, send, action=action, class_="filters", data_auto=True, role="search")


def any_of(words: ConsoleStrings, options: Options) -> Options:
    """The options of a filter, with one before them that leaves nothing out."""
    return [("", words["any"]), *options]


def hidden(name: str, value: str) -> Html:
    """A field that nobody sees."""
    return el("input", type="hidden", name=name, value=value)


def button(text: str, kind: str = "", **attributes: Attribute) -> Html:
    """A button that sends its form; `kind`: nothing for the page's main action, or `quiet`, `grave`, `plain`, `icon`."""
    return el("button", text, class_=kind or None, **attributes)


def link_button(text: str, href: str, kind: str = "") -> Html:
    """A link that looks like a button."""
    return el("a", text, href=href, class_=f"button {kind}".strip())


def text_field(
    name: str,
    label: str,
    value: str | int | None = None,
    *,
    kind: str = "text",
    id_: str | None = None,
    hint: str | None = None,
    error: str | None = None,
    **attributes: Attribute,
) -> Html:
    """A labelled field of one line."""
    id_ = id_ or name
    field = el(
        "input",
        type=kind,
        name=name,
        id=id_,
        value=value,
        **_described(id_, hint, error),
        **attributes,
    )
    return _labelled(id_, label, field, hint, error)


def area_field(
    name: str,
    label: str,
    value: str = "",
    *,
    rows: int = 6,
    id_: str | None = None,
    hint: str | None = None,
    error: str | None = None,
    **attributes: Attribute,
) -> Html:
    """A labelled field of several lines."""
    id_ = id_ or name
    # A browser leaves out the first line break of a textarea.
    field = el(
        "textarea", "\n" + value, name=name, id=id_, rows=rows, **_described(id_, hint, error), **attributes
    )
    return _labelled(id_, label, field, hint, error)


def select_field(
    name: str,
    label: str,
    options: Options,
    value: str | None = None,
    *,
    id_: str | None = None,
    hint: str | None = None,
    error: str | None = None,
    **attributes: Attribute,
) -> Html:
    """A labelled choice of one among several."""
    id_ = id_ or name
    listed = [el("option", text, value=option, selected=option == value) for option, text in options]
    field = el("select", listed, name=name, id=id_, **_described(id_, hint, error), **attributes)
    return _labelled(id_, label, field, hint, error)


def check_field(
    name: str, label: Child, *, value: str = "on", checked: bool = False, id_: str | None = None
) -> Html:
    """A box to tick."""
    id_ = id_ or name
    box = el("input", type="checkbox", name=name, id=id_, value=value, checked=checked)
    return el("label", box, el("span", label), for_=id_, class_="check")


def radio_field(name: str, legend: str, options: Options, value: str | None = None) -> Html:
    """One among a few, all of which are seen."""
    boxes = [
        el(
            "label",
            el("input", type="radio", name=name, value=option, checked=option == value, required=True),
            el("span", text),
            class_="check",
        )
        for option, text in options
    ]
    return el("fieldset", el("legend", legend), boxes)


def code_field(
    words: ConsoleStrings, *, id_: str = "code", hint: str = "code_note", passkey: str | None = "prove"
) -> Html:
    """The field for a code of the authenticator, or a recovery code; a script offers a passkey in its place."""
    field = text_field(
        "code",
        words["code"],
        id_=id_,
        hint=words[hint],
        required=True,
        autocomplete="one-time-code",
        inputmode="text",
        maxlength=40,
        spellcheck="false",
        autocapitalize="none",
        dir="ltr",
    )
    return field if passkey is None else join(field, passkey_button(words, passkey))


def passkey_button(words: ConsoleStrings, purpose: str) -> Html:
    """Shows a passkey in the place of a code, where the browser has any; the script asks for it and sends the form."""
    return el(
        "button",
        words["passkey_use"],
        type="button",
        class_="quiet script",
        data_passkey=purpose,
        hidden=True,
    )


def confirm(
    words: ConsoleStrings,
    reader: SendsForms,
    action: str,
    label: str,
    question: str,
    *,
    fields: Child = None,
    hide: Mapping[str, str] | None = None,
    attested: bool = False,
    kind: str = "grave",
    id_: str | None = None,
) -> Html:
    """A button that asks before it does what can't be taken back; `attested`: with a code of the authenticator."""
    id_ = id_ or action.strip("/").replace("/", "-")
    sent = [hidden(name, value) for name, value in (hide or {}).items()]
    code = code_field(words, id_=f"code-{id_}") if attested else None
    inside = post_form(reader, action, el("p", question), sent, fields, code, button(label, kind))
    return el("details", el("summary", label, class_=f"button {kind}"), inside, class_="confirm")


def field_row(*fields: Child) -> Html:
    """Fields side by side, where there is room."""
    return el("div", fields, class_="row")


def _labelled(id_: str, label: str, field: Html, hint: str | None, error: str | None) -> Html:
    shown = join(
        el("label", label, for_=id_),
        field,
        el("p", hint, class_="hint", id=f"{id_}-hint") if hint else NOTHING,
        el("p", error, class_="fault", id=f"{id_}-error") if error else NOTHING,
    )
    return el("div", shown, class_="field")


def _described(id_: str, hint: str | None, error: str | None) -> dict[str, Attribute]:
    ids = [f"{id_}-hint"] if hint else []
    if error:
        ids.append(f"{id_}-error")
    return {"aria_describedby": " ".join(ids) or None, "aria_invalid": "true" if error else None}
