"""Looks for words everywhere: in every column of every table, and inside every box and blob with every key there is.

A box is opened without its seal: the cipher stream alone, whoever it was sealed for and whatever for. So nothing hides
behind associated data that the scan does not think of, and a key that remains opens whatever it ever sealed.
"""

import base64
import json
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.support.pipeline import PipelineWorld
from tidings.kernel.keys.ciphers import Key
from tidings.kernel.keys.keyring import platform_key_aad, tenant_key_aad, unwrap_data_key

_COLUMNS = """
SELECT format('%I.%I', n.nspname, c.relname) AS name, a.attname AS col
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'bytea'::regtype
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
ORDER BY 1, 2
"""
_TABLES = """
SELECT format('%I.%I', n.nspname, c.relname) AS name
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg_toast%'
ORDER BY 1
"""
_MAGIC_HEADER = re.compile(rb"\{.*?\}", re.DOTALL)


@asynccontextmanager
async def all_rows(world: PipelineWorld) -> AsyncIterator[asyncpg.Connection]:
    """The owner, from whom no row is hidden for a moment; nothing of that is kept."""
    async with world.database.owner() as owner:
        transaction = owner.transaction()
        await transaction.start()
        try:
            for row in await owner.fetch(_TABLES):
                await owner.execute(f"ALTER TABLE {row['name']} NO FORCE ROW LEVEL SECURITY")
            yield owner
        finally:
            await transaction.rollback()


async def in_the_clear(world: PipelineWorld, words: Iterable[str]) -> dict[str, list[str]]:
    """Which of the words stand in which table, as text."""
    found: dict[str, list[str]] = {}
    wanted = list(words)
    async with all_rows(world) as owner:
        for row in await owner.fetch(_TABLES):
            for word in wanted:
                there = await owner.fetchval(
                    f"SELECT EXISTS (SELECT FROM {row['name']} AS t WHERE strpos(t::text, $1) > 0)", word
                )
                if there:
                    found.setdefault(word, []).append(row["name"])
    for path in blobs(world):
        for word in wanted:
            if word.encode() in path.read_bytes() or word in str(path):
                found.setdefault(word, []).append("a blob")
    return found


async def decryptable(world: PipelineWorld, words: Iterable[str]) -> dict[str, list[str]]:
    """Which of the words come out of which column or blob, with any key that is left."""
    wanted = [word.encode() for word in words]
    async with all_rows(world) as owner:
        keys = await every_key(world, owner)
        boxes = [
            (f"{row['name']}.{row['col']}", found[0])
            for row in await owner.fetch(_COLUMNS)
            for found in await owner.fetch(
                f'SELECT "{row["col"]}" FROM {row["name"]} WHERE "{row["col"]}" IS NOT NULL'
            )
        ]
    boxes += [("a blob", box) for path in blobs(world) for box in _boxes_in(path.read_bytes())]
    found: dict[str, list[str]] = {}
    # What is opened may hold a key in its turn: a manifest of files does.
    while keys:
        fresh: set[bytes] = set()
        for key in keys:
            for place, box in boxes:
                text = _stream(key, box)
                fresh.update(_keys_in(text))
                for word in wanted:
                    if word in text:
                        found.setdefault(word.decode(), []).append(place)
        keys = fresh
    return found


async def every_key(world: PipelineWorld, owner: asyncpg.Connection) -> set[bytes]:
    """All that remain, of all tenants and of the platform."""
    kms = world.system.kernel.kms
    found: set[bytes] = set()
    wrapping: dict[tuple[str, int], Key] = {}
    for row in await owner.fetch("SELECT tenant_id, purpose, version, wrapped_key FROM kernel.tenant_keys"):
        aad = tenant_key_aad(row["tenant_id"], row["purpose"], row["version"])
        material = await kms.unwrap(row["wrapped_key"], aad)
        found.add(material)
        if row["purpose"] == "wrapping":
            wrapping[row["tenant_id"], row["version"]] = Key(row["version"], material)
    for row in await owner.fetch("SELECT purpose, version, wrapped_key FROM kernel.platform_keys"):
        found.add(await kms.unwrap(row["wrapped_key"], platform_key_aad(row["purpose"], row["version"])))
    for row in await owner.fetch("SELECT * FROM kernel.data_keys WHERE wrapped_key IS NOT NULL"):
        key = unwrap_data_key(
            row["tenant_id"],
            row["subject_id"],
            row["version"],
            row["wrapped_key"],
            wrapping[row["tenant_id"], row["tenant_key_version"]],
        )
        found.add(key.reveal())
    return found


def blobs(world: PipelineWorld) -> list[Path]:
    """The files of the blob store."""
    return [path for path in (world.folder / "blobs").rglob("*") if path.is_file()]


def _boxes_in(blob: bytes) -> list[bytes]:
    """What lies behind the envelope's header; where it ends is found by its JSON."""
    return [blob[match.end() :] for match in [_MAGIC_HEADER.search(blob)] if match]


def _stream(key: bytes, box: bytes) -> bytes:
    """What the cipher gives without asking whether the seal fits: AES-GCM is a counter that begins at 2."""
    if len(box) < 17:
        return b""
    counter = box[5:17] + (2).to_bytes(4, "big")
    return Cipher(algorithms.AES(key), modes.CTR(counter)).decryptor().update(box[17:])


def _keys_in(text: bytes) -> list[bytes]:
    if not text.startswith(b'{"sealed_for"'):
        return []
    try:
        manifest: dict[str, Any] = json.JSONDecoder().raw_decode(text[:-16].decode("utf-8", "ignore"))[0]
    except ValueError:
        return []
    return [base64.b64decode(manifest["secret"])]
