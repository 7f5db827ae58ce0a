"""A server in operator mode, as NATS is run for many: an operator, an account with JetStream, a user with a credentials file."""

import base64
import json
import os
import time
from dataclasses import dataclass
from typing import Any

import nkeys


@dataclass(frozen=True)
class NatsAccount:
    """What the server is configured with, and what a user logs in with."""

    #: The part of the server's configuration that trusts the operator and knows the account.
    config: str
    #: The user's credentials file: its JWT and its seed.
    credentials: str
    #: The seed alone, which must not be said anywhere.
    seed: str


def make_nats_account(*, user_expires: int = 0) -> NatsAccount:
    """One account and one user; `user_expires` is when the user's JWT ends, in seconds since 1970."""
    operator = _key(nkeys.PREFIX_BYTE_OPERATOR)
    account, system = _key(nkeys.PREFIX_BYTE_ACCOUNT), _key(nkeys.PREFIX_BYTE_ACCOUNT)
    user = _key(nkeys.PREFIX_BYTE_USER)
    unlimited = {"subs": -1, "data": -1, "payload": -1, "conn": -1, "leaf": -1, "imports": -1, "exports": -1}
    storage = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
    system_name, account_name = system.public_key.decode(), account.public_key.decode()
    operator_jwt = _jwt(operator, operator, "operator", {"system_account": system_name})
    limits = {**unlimited, "wildcards": True}
    system_jwt = _jwt(operator, system, "account", {"limits": limits})
    account_jwt = _jwt(operator, account, "account", {"limits": {**limits, **storage}})
    user_jwt = _jwt(account, user, "user", {"subs": -1, "data": -1, "payload": -1}, expires=user_expires)
    seed = bytes(user.seed).decode()
    return NatsAccount(
        config=(
            f"operator: {operator_jwt}\nsystem_account: {system_name}\nresolver: MEMORY\n"
            f"resolver_preload: {{ {system_name}: {system_jwt}, {account_name}: {account_jwt} }}"
        ),
        credentials=(
            f"-----BEGIN NATS USER JWT-----\n{user_jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        ),
        seed=seed,
    )


def _key(kind: int) -> nkeys.KeyPair:
    return nkeys.from_seed(nkeys.encode_seed(os.urandom(32), kind))


def _jwt(
    issuer: nkeys.KeyPair, about: nkeys.KeyPair, kind: str, claims: dict[str, Any], *, expires: int = 0
) -> str:
    said: dict[str, Any] = {
        "jti": os.urandom(8).hex(),
        "iat": int(time.time()) - 60,
        "iss": issuer.public_key.decode(),
        "sub": about.public_key.decode(),
        "name": kind,
        "nats": {"type": kind, "version": 2, **claims},
    }
    if expires:
        said["exp"] = expires
    words = ".".join(
        _base64(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, said)
    )
    return f"{words}.{_base64(issuer.sign(words.encode()))}"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
