"""`tidings recipient`: find somebody, look at them, and what people have a right to: to be forgotten, to see everything."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json

app = typer.Typer(
    help="Find and show somebody; erase them, or export everything that is held about them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Recipient = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Their id, rcp_…")]


@app.command("find")
def find(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="A mail address, or a number (+93…).")],
    *,
    channel: Annotated[
        str | None, typer.Option(help="email, sms, …; default: email for a mail address, sms for a number.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show everybody who has an address; the audit notes who asked."""
    from tidings.cli.suppression import channel_of
    from tidings_client import recipients

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(recipients.find(channel_of(address, channel), address))
    _show_people(found["items"], as_json=as_json)
    if not found["items"]:
        raise CommandError("nobody has this address")


@app.command("show")
def show(
    recipient: Recipient,
    *,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Addresses in the clear; the audit notes who saw them.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show a recipient: who they are, and where they can be reached."""
    from tidings_client import recipients

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(recipients.show(recipient, reveal=reveal))
    _show_people([found], as_json=as_json)


def _show_people(people: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(people, indent=2, ensure_ascii=False))
        return
    from tidings.cli.found_words import next_lines, people_lines
    from tidings.cli.printing import print_lines

    if people:
        command = f"tidings notification list --recipient {people[0]['id']}"
        print_lines([*people_lines(people), *next_lines([command])])


@app.command("erase")
def erase(
    recipient: Recipient,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", help="For the audit: a ticket's number, nothing personal.")
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option("--receipt", help="Write the signed receipt to this file.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Erase a recipient for good, and print what was destroyed. Doing it again gives the same receipt."""
    from tidings_client import recipients

    if receipt is not None and receipt.exists():
        raise CommandError(f"{receipt} is there already; name another file for the receipt")
    if receipt is not None and not receipt.parent.is_dir():
        raise CommandError(f"there is no folder {receipt.parent} for the receipt; nothing was erased")
    if not yes and not typer.confirm(f"Erase {recipient}? There is no way back.", err=True):
        raise CommandError("nothing was erased")
    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(recipients.erase(recipient, reason=reason))
    text = json.dumps(found, indent=2, ensure_ascii=False)
    lost = None if receipt is None else _unwritten(receipt, f"{text}\n")
    if lost is not None:
        # It is done and can't be undone: the proof of it must not be lost with a full disk.
        print(text)
        raise CommandError(
            f"{recipient} was erased, but {receipt} can't be written: {lost}; the receipt is printed above, and "
            "doing it again gives the same one"
        )
    if as_json:
        print(text)
        return
    for line in _told(found["statement"]):
        print(line)
    if receipt is not None:
        print(f"receipt: {receipt}; `tidings erasure verify {receipt}` proves it")


@app.command("export")
def export(
    recipient: Recipient,
    *,
    out: Annotated[Path | None, typer.Option("--out", help="The zip. [default: RECIPIENT.zip]")] = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Write everything that is held about a recipient into a zip that only you can read."""
    from tidings_client import recipients

    target = out or Path(f"{recipient}.zip")
    if target.exists():
        raise CommandError(f"{target} is there already; name another file with --out")
    # Whole or not at all: half an archive must not lie there under its name.
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with client(url, key, tenant, data_dir) as tidings, draft.open("wb") as file:
            for piece in tidings.download(recipients.export(recipient)):
                file.write(piece)
        _check(draft)
        draft.replace(target)
    except OSError as error:
        raise CommandError(f"{target} can't be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
    print(f"{target}: {target.stat().st_size} bytes; README.txt in it says what is what")


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
