"""Codes, passwords and links, without a database."""

import asyncio
import base64
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from argon2 import PasswordHasher

from tidings.backoffice.credentials import recovery_codes, totp
from tidings.backoffice.credentials.passwords import MOST_WAITING, Passwords, PasswordsBusyError, fault_of
from tidings.backoffice.credentials.tokens import (
    Link,
    cookie_of,
    new_secret,
    read_device,
    read_link,
    read_session,
)
from tidings.backoffice.ids import DEVICE, OPERATOR, SESSION
from tidings.kernel.ids import TENANT

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
#: RFC 6238, appendix B.
SECRET = b"12345678901234567890"
VECTORS = [
    (59, "94287082"),
    (1111111109, "07081804"),
    (1111111111, "14050471"),
    (1234567890, "89005924"),
    (2000000000, "69279037"),
    (20000000000, "65353130"),
]


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_codes_are_those_of_the_rfc(seconds: int, code: str) -> None:
    step = totp.step_at(datetime.fromtimestamp(seconds, UTC))

    assert totp.code_of(SECRET, step, digits=8) == code
    assert totp.code_of(SECRET, step) == code[2:]


def test_a_code_is_taken_one_step_early_or_late_and_never_again() -> None:
    step = totp.step_at(NOW)
    for drift in (-1, 0, 1):
        code = totp.code_of(SECRET, step + drift)
        assert totp.matching_step(SECRET, code, now=NOW, after=0) == step + drift
        assert totp.matching_step(SECRET, code, now=NOW, after=step + drift) is None
        assert totp.matching_step(SECRET, code, now=NOW, after=step + 1) is None
    for drift in (-2, 2):
        assert totp.matching_step(SECRET, totp.code_of(SECRET, step + drift), now=NOW, after=0) is None


def test_authenticators_read_the_same_secret_from_text_and_link() -> None:
    secret = totp.new_secret()
    link = urlsplit(totp.otpauth_uri(secret, account="laila@example.com", issuer="Tidings"))
    said = parse_qs(link.query)

    assert (link.scheme, link.netloc, link.path) == ("otpauth", "totp", "/Tidings:laila%40example.com")
    assert said["secret"] == [totp.spelt(secret).replace(" ", "")]
    assert base64.b32decode(said["secret"][0]) == secret


def test_recovery_codes_differ_and_are_read_as_people_type_them() -> None:
    codes = recovery_codes.new_codes()

    assert len(set(codes)) == 10
    for code in codes:
        assert recovery_codes.as_typed(f" {code.upper().replace('-', ' ')} ") == code
    assert recovery_codes.as_typed("123456") is None
    assert recovery_codes.as_typed("") is None


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        ("umbrella-42-giraffe", None),
        ("secret-garden-gate-9", None),
        ("elevenchars", "short"),
        ("x" * 201, "long"),
        ("Password1234!", "common"),
        ("123456789012", "common"),
        ("qwertyuiop123", "common"),
        ("abababababab", "common"),
        ("i-am-laila-of-9", "own"),
        ("noor.noor.noor.7", "own"),
        ("example-is-mine-8", "own"),
    ],
)
def test_passwords_that_everybody_tries_first_are_refused(password: str, fault: str | None) -> None:
    assert fault_of(password, ("Laila Noor", "l.noor@example.com")) == fault


async def test_a_password_is_hashed_with_salt_and_nobodys_fits_none() -> None:
    passwords = Passwords(hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    one, two = await passwords.hash("umbrella-42-giraffe"), await passwords.hash("umbrella-42-giraffe")

    assert one != two
    assert one.startswith("$argon2id$")
    assert await passwords.fits(one, "umbrella-42-giraffe")
    assert not await passwords.fits(one, "umbrella-42-giraffes")
    assert not await passwords.fits(None, "nobody's password")
    assert not await passwords.fits("no hash", "umbrella-42-giraffe")


async def test_two_are_hashed_at_once_and_the_loop_goes_on() -> None:
    under_way = most = 0

    class Slow:
        def hash(self, password: str) -> str:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(10)
            under_way -= 1
            return password

    loop = asyncio.get_running_loop()
    passwords = Passwords(hasher=Slow())  # type: ignore[arg-type]

    assert await asyncio.gather(*(passwords.hash(str(n)) for n in range(8))) == [str(n) for n in range(8)]
    assert most <= 2


@pytest.mark.parametrize("of_tenant", [True, False])
def test_a_link_names_its_tenant_and_operator(of_tenant: bool) -> None:
    link = Link(TENANT.new(NOW) if of_tenant else None, OPERATOR.new(NOW), new_secret())

    assert read_link(link.text) == link
    assert link.secret not in repr(link)
    for wrong in ("", link.text[:-1], f"{link.text}x", link.text.lower(), link.text.replace("-", "_", 1)):
        assert read_link(wrong) is None


def test_a_cookie_is_of_its_kind() -> None:
    secret = new_secret()
    session, device = cookie_of(SESSION.new(NOW), secret), cookie_of(DEVICE.new(NOW), secret)

    assert read_session(session) == (session.partition(".")[0], secret)
    assert read_device(device) == (device.partition(".")[0], secret)
    assert read_session(device) is None
    assert read_device(session) is None
    assert read_session(None) is None


async def test_more_than_can_wait_for_a_password_are_told_to_come_again() -> None:
    passwords = Passwords(hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))

    answers = await asyncio.gather(
        *(passwords.hash("umbrella-42-giraffe") for _ in range(30)), return_exceptions=True
    )

    refused = [one for one in answers if isinstance(one, PasswordsBusyError)]
    assert len(refused) == 30 - 2 - MOST_WAITING
    assert sum(isinstance(one, str) for one in answers) == 2 + MOST_WAITING
    assert await passwords.hash("umbrella-42-giraffe"), "the queue is empty again"
