"""A proof is one of its key and its request, or none; nothing that is sent makes reading it fail otherwise."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st

from tidings.backoffice.credentials.device_proofs import (
    BadKeyError,
    BadProofError,
    ProofClaims,
    PublicKey,
    check_key,
    read_proof,
)

KEY = ec.derive_private_key(7, ec.SECP256R1())
CLAIMS = {"htm": "GET", "htu": "/bff/v1/session", "iat": 1.0, "jti": "a" * 16, "sid": "bos_x"}
HEADER = {"typ": "device-proof+jwt", "alg": "ES256"}


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def key_text() -> str:
    numbers = KEY.public_key().public_numbers()
    return f"{text(numbers.x.to_bytes(32))}.{text(numbers.y.to_bytes(32))}"


def signed(header: bytes, body: bytes) -> str:
    head = f"{text(header)}.{text(body)}"
    r, s = decode_dss_signature(KEY.sign(head.encode(), ec.ECDSA(SHA256())))
    return f"{head}.{text(r.to_bytes(32) + s.to_bytes(32))}"


def test_a_proof_of_the_key_says_what_it_says() -> None:
    read = read_proof(signed(json.dumps(HEADER).encode(), json.dumps(CLAIMS).encode()), key_text())
    assert read == ProofClaims(**CLAIMS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "header",
    [{**HEADER, "alg": "none"}, {**HEADER, "alg": "HS256"}, {"alg": "ES256"}, {**HEADER, "typ": "JWT"}],
)
def test_another_kind_of_token_is_no_proof(header: dict[str, str]) -> None:
    with pytest.raises(BadProofError):
        read_proof(signed(json.dumps(header).encode(), json.dumps(CLAIMS).encode()), key_text())


@given(st.binary(min_size=1, max_size=300), st.binary(min_size=1, max_size=300))
def test_whatever_was_signed_is_read_or_refused(header: bytes, body: bytes) -> None:
    for made in (header, json.dumps(HEADER).encode()):
        with pytest.raises(BadProofError):
            read_proof(signed(made, body), key_text())


@given(st.text(max_size=400))
def test_whatever_is_sent_is_refused(sent: str) -> None:
    with pytest.raises(BadProofError):
        read_proof(sent, key_text())


def test_what_is_nested_deeply_is_refused() -> None:
    with pytest.raises(BadProofError):
        read_proof(signed(json.dumps(HEADER).encode(), b"[" * 900), key_text())


def test_a_proof_counts_for_a_minute_around_its_time() -> None:
    now = datetime(2026, 11, 19, 12, tzinfo=UTC)
    claims = ProofClaims(**{**CLAIMS, "iat": now.timestamp()})  # type: ignore[arg-type]
    for seconds, counts in ((0, True), (60, True), (-60, True), (61, False), (-61, False)):
        assert claims.is_of_now(now + timedelta(seconds=seconds)) is counts


@pytest.mark.parametrize("x", ["A" * 43, "_" * 43])
def test_a_point_off_the_curve_is_no_key(x: str) -> None:
    with pytest.raises(BadKeyError):
        check_key(PublicKey(kty="EC", crv="P-256", x=x, y=x))
