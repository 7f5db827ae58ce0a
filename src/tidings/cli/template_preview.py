"""`tidings template preview`: a version as a recipient would see it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown

if TYPE_CHECKING:
    from rich.text import Text

#: Output in this order where the answer has them.
_LINES = ("subject", "preheader")


@api_command(None, "preview")
def preview(
    api: Api,
    name: Annotated[str, typer.Argument(help="welcome/email")],
    *,
    locale: Annotated[str | None, typer.Option(help="A language such as ps-AF.")] = None,
    sample: Annotated[
        str | None, typer.Option(help="One of the version's samples. [default: its first]")
    ] = None,
    var: Annotated[
        list[str] | None, typer.Option(help="NAME=TEXT, or NAME:=JSON; instead of a sample.")
    ] = None,
    variables: Annotated[
        Path | None, typer.Option(help="A file with a JSON object; - for standard input.")
    ] = None,
    recipient: Annotated[str | None, typer.Option(help="As this one would see it, rcp_…")] = None,
    width: Annotated[str | None, typer.Option(help="desktop or mobile.")] = None,
    version: Annotated[
        str | None, typer.Option(help="Which one. [default: the newest draft or what is in force]")
    ] = None,
    platform: Annotated[
        bool, typer.Option("--platform", help="The platform's, though you have one of your own.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Write the page to this file.", dir_okay=False)] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
) -> Output | None:
    """Render a version that is on the server; prints its text, or shows its page."""
    from tidings.cli.message_options import variables_of
    from tidings.cli.template_folder import names_of
    from tidings.cli.template_transfer import newest
    from tidings_client import operations

    (wanted,) = names_of([name])
    channel = wanted.one_channel()
    filled = variables_of(var or [], variables) if var or variables else None
    if filled is not None and sample is not None:
        raise CommandError("--sample and --var or --variables exclude each other: both say what is filled in")
    body = without_none(locale=locale, sample=sample, variables=filled, recipient_id=recipient, width=width)
    owner = "platform" if platform else None
    semver = version or newest(api, wanted.key, channel, ("draft", "active"), owner=owner)
    place, query = (wanted.key, channel, semver), {"owner": owner}
    if save is not None or open_:
        accept = "text/html, */*;q=0.1"
        page = operations.call("preview_version", *place, query=query, body=body, accept=accept)
        _keep(api.tidings.call(page).decode(), save, open_=open_)
        return None
    seen = api.call("preview_version", *place, query=query, body=body)
    return Output(seen, _lines(seen, f"{wanted} {semver}"))


def _keep(page: str, save: Path | None, *, open_: bool) -> None:
    if save is None:
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as into:
            into.write(page)
        save = Path(into.name)
    else:
        try:
            save.write_text(page, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{save} can't be written: {error.strerror}") from None
    if open_:
        import webbrowser

        if not webbrowser.open(save.resolve().as_uri()):
            raise CommandError(f"no browser could be started; the page is in {save}")
    else:
        print(f"the page is in {save}")


def _lines(seen: JsonObject, what: str) -> "list[Text]":
    from rich.text import Text

    facts = [str(seen[fact]) for fact in ("locale", "locale_why", "direction") if seen.get(fact)]
    lines = [Text.assemble((what, "bold"), f"  {shown(' · '.join(facts))}")]
    lines += [
        Text.assemble((f"{field}: ", "dim"), shown(str(seen[field]))) for field in _LINES if seen.get(field)
    ]
    if isinstance(sms := seen.get("sms"), dict):
        lines.append(Text.assemble(("sms: ", "dim"), shown(_sms(sms))))
    if isinstance(reference := seen.get("whatsapp"), dict):
        told = json.dumps(reference, ensure_ascii=False)
        lines.append(Text.assemble(("whatsapp: ", "dim"), shown(told)))
    for told in seen.get("warnings") or ():
        at = ":".join(str(told[part]) for part in ("file", "line") if told.get(part))
        words = f"{at}: {told.get('what')}; {told.get('how')}"
        lines.append(Text.assemble(("warning: ", "yellow"), shown(words)))
    lines.append(Text(""))
    lines += [Text(shown(line.replace("\t", "    "))) for line in str(seen.get("text") or "").splitlines()]
    return lines


def _sms(sms: JsonObject) -> str:
    """How the text travels, in a line."""
    told = (
        f"{sms.get('encoding')}, segments {sms.get('segments')}, characters left {sms.get('characters_left')}"
    )
    changes = [
        f"{change.get('character')}→{change.get('replacement') or 'nothing'}"
        for change in sms.get("transliteration") or ()
    ]
    if changes:
        told += f"; plainer letters would make it {sms.get('segments_transliterated')}: {', '.join(changes)}"
    if sms.get("cost_micros") is not None:
        told += f"; {sms['cost_micros'] / 1_000_000:g} {sms.get('currency') or ''}"
    return told
