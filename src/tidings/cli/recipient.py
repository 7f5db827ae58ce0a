"""`tidings recipient`: find, show and import recipients; erase one, or export everything that is held about them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.import_file import IMPORT
from tidings.cli.resource import ResourceCommands

if TYPE_CHECKING:
    from rich.text import Text

app = command_group()

Recipient = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Their id, rcp_…")]


@api_command(app, "find")
def find(
    api: Api,
    address: Annotated[str, typer.Argument(help="A mail address, or a number (+93…).")],
    *,
    channel: Annotated[
        str | None, typer.Option(help="email, sms, …; default: email for a mail address, sms for a number.")
    ] = None,
) -> Output:
    """Show all recipients that have an address; the audit notes who asked."""
    from tidings.cli.suppression import channel_of

    body = {"channel": channel_of(address, channel), "address": address}
    found = api.call("look_up_recipients", body=body)["items"]
    if not found:
        if api.as_json:
            print("[]")
        raise CommandError("no recipient has this address")
    return Output(found, _lines(found))


@api_command(app, "show")
def show(
    api: Api,
    recipient: Recipient,
    *,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Addresses in the clear; the audit notes who saw them.")
    ] = False,
) -> Output:
    """Show a recipient: who they are, and where they can be reached."""
    found = [api.call("show_recipient", recipient, query={"reveal": reveal or None})]
    return Output(found, _lines(found))


def _lines(people: list[JsonObject]) -> "list[Text]":
    from tidings.cli.search_format import next_lines, people_lines

    return [*people_lines(people), *next_lines([f"tidings notification list --recipient {people[0]['id']}"])]


@api_command(app, "erase")
def erase(
    api: Api,
    recipient: Recipient,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    reason: Annotated[
        str | None, typer.Option(help="For the audit: a ticket's number, nothing personal.")
    ] = None,
    receipt: Annotated[Path | None, typer.Option(help="Write the signed receipt to this file.")] = None,
) -> Output:
    """Erase a recipient for good, and print what was destroyed. Doing it again gives the same receipt."""
    if receipt is not None and receipt.exists():
        raise CommandError(f"{receipt} is there already; name another file for the receipt")
    if receipt is not None and not receipt.parent.is_dir():
        raise CommandError(f"there is no folder {receipt.parent} for the receipt; nothing was erased")
    if not yes and not typer.confirm(f"Erase {recipient}? There is no way back.", err=True):
        raise CommandError("nothing was erased")
    found = api.call("erase_recipient", recipient, body=without_none(reason=reason))
    text = json.dumps(found, indent=2, ensure_ascii=False)
    lost = None if receipt is None else _unwritten(receipt, f"{text}\n")
    if lost is not None:
        # It is done and can't be undone: the proof of it must not be lost with a full disk.
        print(text)
        raise CommandError(
            f"{recipient} was erased, but {receipt} can't be written: {lost}; the receipt is printed above, and "
            "doing it again gives the same one"
        )
    proof = [] if receipt is None else [f"receipt: {receipt}; `tidings erasure verify {receipt}` proves it"]
    return Output(found, [*_told(found["statement"]), *proof])


@api_command(app, "export")
def export(
    api: Api,
    recipient: Recipient,
    *,
    out: Annotated[Path | None, typer.Option(help="The zip. [default: RECIPIENT.zip]")] = None,
) -> Output:
    """Write everything that is held about a recipient into a zip that only you can read."""
    target = out or Path(f"{recipient}.zip")
    if target.exists():
        raise CommandError(f"{target} is there already; name another file with --out")
    # Whole or not at all: half an archive must not lie there under its name.
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with draft.open("wb") as file:
            for piece in api.download("export_recipient", recipient):
                file.write(piece)
        _check(draft)
        draft.replace(target)
    except OSError as error:
        raise CommandError(f"{target} can't be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    size = target.stat().st_size
    said = f"{target}: {size} bytes; README.txt in it says what is what"
    return Output({"file": str(target), "bytes": size}, said)


def _unwritten(receipt: Path, text: str) -> str | None:
    """Why it could not be written; half of it is not left there."""
    try:
        # Only where there is nothing: whatever has come to lie there since we looked is not ours.
        with receipt.open("x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
            except OSError:
                receipt.unlink(missing_ok=True)
                raise
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def _check(archive: Path) -> None:
    import zipfile

    if not zipfile.is_zipfile(archive):
        raise CommandError("the server's answer broke off; try again")


def _told(statement: dict[str, Any]) -> list[str]:
    destroyed, kept = statement["destroyed"], statement["kept"]
    lines = [
        f"{statement['recipient_id']} was erased at {statement['erased_at']} (receipt {statement['id']})",
        f"destroyed: {destroyed['data_keys']} keys, {destroyed['addresses']} addresses; "
        f"{destroyed['notifications_unreadable']} notifications can't be read any more",
        f"stopped: {statement['stopped']} that waited; {statement['under_way']} were handed over and go no further",
        f"kept: {kept['suppressions']} suppressions, as hashes",
    ]
    lines += [
        f"in flight: {one['notification_id']} was being given to {one['vendor'] or 'a vendor'} and may yet arrive"
        for one in statement["in_flight"]
    ]
    if statement["vendors"]:
        lines.append(f"vendors that were given messages before: {', '.join(statement['vendors'])}")
    lines.append(f"after {statement['backups_until']} no backup holds the key")
    if statement.get("raw_callbacks_until"):
        lines.append(
            f"raw callbacks: {destroyed.get('raw_callbacks', 0)} about their messages are destroyed; "
            f"after {statement['raw_callbacks_until']} none is kept that found no message of theirs, or that they wrote"
        )
    return lines


ResourceCommands(
    "recipients",
    names={"lookup": "find"},
    rows={"import": IMPORT},
    columns=("id", "identity", "locale", "tags", "created_at"),
    empty="there is no recipient yet; `tidings recipient import` takes a file in",
).add_to(app)
