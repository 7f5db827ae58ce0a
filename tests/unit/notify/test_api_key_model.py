"""The form of a key, its life, and what one caller may give to another."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.scope_names import SCOPES
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.ids import TENANT
from tidings.kernel.refusals import InvalidError
from tidings.notify.access.errors import EscalationError
from tidings.notify.access.model import (
    ApiKey,
    Environment,
    KeySpec,
    KeyState,
    check_grant,
    check_spec,
    credential,
    granted_scopes,
    hash_secret,
    new_secret,
    read_credential,
)
from tidings.notify.ids import API_KEY

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TENANT_ID = TENANT.new(AT)
SECRET = new_secret()
KEY = ApiKey(
    id=API_KEY.new(AT),
    tenant_id=TENANT_ID,
    name="test",
    secret_hash=hash_secret(SECRET),
    scopes=frozenset({"notifications:read", "notifications:write"}),
    role="tenant.admin",
    environment="live",
    created_by="test",
    created_at=AT,
)


def test_a_credential_reads_back() -> None:
    assert read_credential(credential(KEY.id, SECRET)) == (KEY.id, SECRET)


def test_secrets_are_long_and_differ() -> None:
    secrets = {new_secret() for _ in range(100)}

    assert len(secrets) == 100
    assert all(len(secret) == 43 and secret.isalnum() for secret in secrets)


def test_only_the_hash_is_kept_and_it_is_not_printed() -> None:
    assert len(KEY.secret_hash) == 71
    assert SECRET not in repr(KEY)
    assert KEY.secret_hash not in repr(KEY)


def test_only_its_own_secret_opens_a_key() -> None:
    assert KEY.opened_by(SECRET)
    assert not KEY.opened_by(new_secret())
    assert not KEY.opened_by("")


@given(st.text(max_size=120))
def test_no_text_breaks_the_reader(text: str) -> None:
    read = read_credential(text)

    assert read is None or credential(*read) == text


@pytest.mark.parametrize(
    ("change", "at", "state"),
    [
        ({}, AT, KeyState.ACTIVE),
        ({"expires_at": AT + HOUR}, AT, KeyState.ACTIVE),
        ({"expires_at": AT}, AT, KeyState.EXPIRED),
        ({"overlap_ends_at": AT + HOUR}, AT, KeyState.ROTATED),
        ({"overlap_ends_at": AT}, AT, KeyState.EXPIRED),
        ({"revoked_at": AT, "overlap_ends_at": AT + HOUR}, AT, KeyState.REVOKED),
        ({"expires_at": AT - HOUR, "overlap_ends_at": AT + HOUR}, AT, KeyState.EXPIRED),
    ],
)
def test_the_life_of_a_key(change: dict[str, datetime], at: datetime, state: KeyState) -> None:
    key = replace(KEY, **change)  # type: ignore[arg-type]

    assert key.state(at) is state
    assert key.usable(at) is (state in (KeyState.ACTIVE, KeyState.ROTATED))


def test_a_role_narrows_the_scopes_of_its_key() -> None:
    viewer = replace(KEY, role="tenant.viewer").caller()

    assert viewer.scopes == {"notifications:read"}


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        (KeySpec(name="x", role="platform.support"), "role"),
        (KeySpec(name="x", role="tenant.admin", scopes=frozenset({"everything:write"})), "scopes"),
        (KeySpec(name="x", role="tenant.viewer", scopes=frozenset({"notifications:write"})), "scopes"),
        (KeySpec(name="x", role="tenant.admin", scopes=frozenset({"tenants:write"})), "scopes"),
        (KeySpec(name="x", role="tenant.admin", scopes=frozenset()), "scopes"),
        (KeySpec(name="x", role="tenant.admin", expires_at=AT), "expires_at"),
    ],
)
def test_keys_that_can_t_be(wish: KeySpec, field: str) -> None:
    with pytest.raises(InvalidError) as refused:
        check_spec(wish, tenant_id=TENANT_ID, now=AT)

    assert refused.value.errors[0].field == field


def test_a_platform_s_key_has_a_platform_s_role() -> None:
    check_spec(KeySpec(name="x", role="platform.support"), tenant_id=None, now=AT)
    with pytest.raises(InvalidError):
        check_spec(KeySpec(name="x", role="tenant.admin"), tenant_id=None, now=AT)


roles = st.sampled_from(list(ROLE_SCOPES))
scopes = st.frozensets(st.sampled_from(sorted(SCOPES)), min_size=1)
environments: st.SearchStrategy[Environment] = st.sampled_from(["live", "test"])
holdings = st.builds(
    lambda role, held, environment: replace(KEY, role=role, scopes=held, environment=environment),
    roles,
    scopes,
    environments,
)


@given(holdings, holdings)
def test_nobody_gives_more_than_they_have(own: ApiKey, wanted: ApiKey) -> None:
    grantor = own.caller()
    too_much = (
        not wanted.scopes <= grantor.scopes
        or not ROLE_SCOPES[wanted.role] <= ROLE_SCOPES[own.role]
        or (own.environment, wanted.environment) == ("test", "live")
    )

    with pytest.raises(EscalationError) if too_much else nullcontext():
        check_grant(grantor, role=wanted.role, scopes=wanted.scopes, environment=wanted.environment)


def test_scopes_left_out_are_what_both_can_hold() -> None:
    wish = KeySpec(name="x", role="tenant.viewer")

    assert granted_scopes(wish, KEY.caller()) == {"notifications:read"}
    assert granted_scopes(wish, None) == ROLE_SCOPES["tenant.viewer"]
