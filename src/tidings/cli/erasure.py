"""`tidings erasure`: prove receipts of erasures, with the key file or with the public key alone."""

import base64
import binascii
import json
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.command import command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json

_KEY_BYTES = 32

app = command_group()


@app.command("verify")
def verify(
    receipt: Annotated[Path, typer.Argument(metavar="RECEIPT", help="The file with the receipt.")],
    *,
    public_key: Annotated[
        list[str] | None,
        typer.Option(help="ID=BASE64, as `tidings erasure keys` prints it. [default: the key file's]"),
    ] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Prove that a receipt is ours and was not changed; exits with 1 where it is not."""
    from tidings.cli.printing import shown
    from tidings.kernel.errors import BadValueError
    from tidings.notify.erasure.receipt import verify as prove

    try:
        text = receipt.read_bytes()
    except OSError as error:
        raise CommandError(f"{receipt} can't be read: {error.strerror}") from None
    keys = _given(public_key) if public_key else _public_keys(data_dir)
    try:
        statement = prove(text, keys)
    except BadValueError as error:
        raise CommandError(f"{receipt} is not proven: {error}") from None
    if as_json:
        print(json.dumps(statement, indent=2, ensure_ascii=False))
        return
    print(
        f"proven: {shown(str(statement.get('recipient_id')))} of {shown(str(statement.get('tenant_id')))} "
        f"was erased at {shown(str(statement.get('erased_at')))}; "
        f"after {shown(str(statement.get('backups_until')))} no backup holds the key"
    )


@app.command("keys")
def keys(*, data_dir: DataDir = None) -> None:
    """Print the public keys that receipts are proven with; publish them where others can find them."""
    for key_id, public in _public_keys(data_dir).items():
        print(f"{key_id}={base64.b64encode(public).decode()}")


def _given(public_keys: list[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for given in public_keys:
        key_id, _, encoded = given.partition("=")
        try:
            found[key_id] = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            found[key_id] = b""
        if len(found[key_id]) != _KEY_BYTES:
            raise CommandError("--public-key must be ID=BASE64, as `tidings erasure keys` prints it")
    return found


def _public_keys(data_dir: Path | None) -> dict[str, bytes]:
    from urllib.parse import unquote, urlsplit

    from tidings import settings
    from tidings.kernel.keys.key_file import LocalKeyFileKms
    from tidings.kernel.keys.kms import open_kms

    url = settings.load(TIDINGS_DATA_DIR=data_dir).kms_url()
    kms = open_kms(url)
    # Asking for keys makes a file where there is none; here that would only hide that it is the wrong place.
    if not isinstance(kms, LocalKeyFileKms) or not Path(unquote(urlsplit(url).path)).exists():
        raise CommandError(
            "there is no key file here: name its folder with --data-dir, or the key with --public-key"
        )
    return kms.public_keys()
