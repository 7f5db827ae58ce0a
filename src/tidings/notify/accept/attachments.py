"""Files that go along: sealed in the blob store before the notification is written, opened when it is sent.

Each notification's files have a key of their own, which stands in the manifest; the manifest is sealed with the
recipient's key. So the files can be stored before it is known which recipient's row it will be, no transaction waits for the
store, and erasing the recipient makes them unreadable too.
"""

import base64
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from tidings.contracts.ids import NotificationId
from tidings.contracts.messages import Attachment
from tidings.kernel.blobs.envelope import BlobError
from tidings.kernel.blobs.keys import BlobKey
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import Key, associate, seal, unseal
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import UnavailableError
from tidings.notify.accept.order import AttachedFile
from tidings.notify.blob_keys import attachment_key

_PURPOSE = "attachment"

_log = get_logger("attachments")


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    checksum: str
    filename: str
    media_type: str
    inline_cid: str | None = None


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    #: The notification that the files were sealed for; a guardian's copy brings the same ones.
    sealed_for: str
    secret: str
    files: list[_Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Files in the blob store, and the manifest that opens them."""

    keys: tuple[BlobKey, ...]
    #: To be sealed with the recipient's key.
    manifest: bytes = field(repr=False)


class Attachments:
    """Puts files away and gets them back."""

    def __init__(self, blobs: Callable[[], BlobStore]) -> None:
        #: Asked for when there is a file: most processes never see one.
        self._blobs = blobs

    async def store(
        self, tenant_id: TenantId, notification_id: NotificationId, files: Sequence[AttachedFile]
    ) -> Stored:
        """Seal the files and put them into the store, all or none."""
        key = Key.new(1)
        entries: list[_Entry] = []
        for place, file in enumerate(files):
            # The name is the sender's words; in the store a file has a number.
            where = attachment_key(tenant_id, notification_id, str(place))
            box = seal(key, file.content, associate(tenant_id, notification_id, f"{_PURPOSE}:{place}"))
            try:
                ref = await self._blobs().put(where, box, owner_id=notification_id)
            except BlobError as error:
                _log.error("file_not_kept", error=str(error))
                with contextlib.suppress(BlobError):
                    await self._remove([BlobKey(e.key) for e in entries])
                raise UnavailableError("the files can't be kept right now; nothing was accepted") from None
            entries.append(
                _Entry(
                    key=where,
                    checksum=ref.checksum,
                    filename=file.filename,
                    media_type=file.media_type,
                    inline_cid=file.inline_cid,
                )
            )
        secret = base64.b64encode(key.reveal()).decode()
        manifest = _Manifest(sealed_for=notification_id, secret=secret, files=entries)
        return Stored(keys=tuple(BlobKey(e.key) for e in entries), manifest=msgspec.json.encode(manifest))

    async def open(self, tenant_id: TenantId, manifest: bytes) -> tuple[Attachment, ...]:
        """The files behind an unsealed manifest."""
        read = msgspec.json.decode(manifest, type=_Manifest)
        key = Key(1, base64.b64decode(read.secret))
        found: list[Attachment] = []
        for place, entry in enumerate(read.files):
            blob = await self._blobs().get(BlobKey(entry.key), checksum=entry.checksum)
            content = unseal(key, blob.content, associate(tenant_id, read.sealed_for, f"{_PURPOSE}:{place}"))
            found.append(
                Attachment(
                    filename=entry.filename,
                    media_type=entry.media_type,
                    content=content,
                    inline_cid=entry.inline_cid,
                )
            )
        return tuple(found)

    async def discard(self, stored: Stored) -> None:
        """Remove files whose notification was not accepted."""
        await self._remove(stored.keys)

    async def _remove(self, keys: Sequence[BlobKey]) -> None:
        for key in keys:
            await self._blobs().delete(key)
