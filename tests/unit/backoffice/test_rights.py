"""Whom an operator may make, and change: nobody who may more than they, and nobody of the other side."""

import dataclasses

import pytest

from tidings.backoffice.operators.errors import RightsEscalationError
from tidings.backoffice.operators.model import Rights, check_rights
from tidings.backoffice.properties.access import check_property, in_order
from tidings.backoffice.properties.errors import PropertyNotFoundError
from tidings.contracts.scopes import ROLE_SCOPES
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import CallerRole
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import TENANT
from tidings.kernel.refusals import InvalidError

HOUSE = TENANT.new(SystemClock().now())
OF_TENANTS: tuple[CallerRole, ...] = ("tenant.admin", "tenant.support", "tenant.viewer")
OF_PLATFORM: tuple[CallerRole, ...] = ("platform.channel.admin", "platform.support")


def somebody(role: CallerRole, *properties: str) -> Caller:
    home = HOUSE if role in OF_TENANTS else None
    return Caller(
        kind="operator",
        id="oper_1",
        home=home,
        role=role,
        scopes=ROLE_SCOPES[role],
        environment="live",
        properties=frozenset(properties),
    )


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("tenant.viewer", "tenant.support"),
        ("tenant.viewer", "tenant.admin"),
        ("tenant.support", "tenant.admin"),
    ],
)
def test_nobody_gives_more_than_they_have(mine: CallerRole, theirs: CallerRole) -> None:
    with pytest.raises(RightsEscalationError, match=theirs):
        check_rights(Rights(role=theirs), tenant_id=HOUSE, grantor=somebody(mine))


@pytest.mark.parametrize("role", OF_TENANTS)
def test_an_admin_gives_every_role_of_the_tenant(role: CallerRole) -> None:
    check_rights(Rights(role=role), tenant_id=HOUSE, grantor=somebody("tenant.admin"))
    check_rights(Rights(role=role), tenant_id=HOUSE, grantor=None)


def test_support_of_the_platform_makes_no_admin_of_the_platform() -> None:
    with pytest.raises(RightsEscalationError):
        check_rights(
            Rights(role="platform.channel.admin"), tenant_id=None, grantor=somebody("platform.support")
        )


@pytest.mark.parametrize("role", [*OF_TENANTS, *OF_PLATFORM])
def test_a_role_stays_on_its_side(role: CallerRole) -> None:
    """A tenant has no operators of the platform, and the platform none of a tenant, whoever gives the role."""
    other_side = None if role in OF_TENANTS else HOUSE
    with pytest.raises(InvalidError):
        check_rights(Rights(role=role), tenant_id=other_side, grantor=None)


@pytest.mark.parametrize(
    ("mine", "theirs", "allowed"),
    [
        (("*",), ("*",), True),
        (("*",), ("a", "b"), True),
        (("a", "b"), ("b",), True),
        (("a",), (), True),
        (("a",), ("a", "b"), False),
        (("a", "b"), ("*",), False),
        ((), ("a",), False),
    ],
)
def test_nobody_gives_a_property_that_they_lack(
    mine: tuple[str, ...], theirs: tuple[str, ...], allowed: bool
) -> None:
    rights = Rights(role="tenant.viewer", properties=in_order(theirs))
    if allowed:
        check_rights(rights, tenant_id=HOUSE, grantor=somebody("tenant.admin", *mine))
        return
    with pytest.raises(RightsEscalationError, match="properties"):
        check_rights(rights, tenant_id=HOUSE, grantor=somebody("tenant.admin", *mine))


def test_an_operator_of_the_platform_has_all_properties_or_none() -> None:
    with pytest.raises(InvalidError, match="belong to tenants"):
        check_rights(Rights(role="platform.support", properties=("a",)), tenant_id=None, grantor=None)
    check_rights(Rights(role="platform.support", properties=("*",)), tenant_id=None, grantor=None)


@pytest.mark.parametrize(
    ("mine", "asked", "found"),
    [
        (("a",), "a", True),
        (("*",), "a", True),
        (("a",), "b", False),
        (("a",), "A", False),
        ((), "a", False),
        (("*",), "*", False),
        (("*",), "", False),
        (("*",), "a/b", False),
        (("*",), "a\n", False),
    ],
)
def test_a_property_without_a_right_is_not_found(mine: tuple[str, ...], asked: str, found: bool) -> None:
    if found:
        access = check_property(somebody("tenant.viewer", *mine), asked)
        assert (access.tenant_id, access.property_id) == (HOUSE, asked)
        return
    with pytest.raises(PropertyNotFoundError):
        check_property(somebody("tenant.viewer", *mine), asked)


def test_somebody_of_the_platform_sees_properties_of_the_tenant_they_act_for_alone() -> None:
    with pytest.raises(PropertyNotFoundError):
        check_property(somebody("platform.support", "*"), "a")
    acting = dataclasses.replace(somebody("platform.support", "*"), acting_for=HOUSE)
    assert check_property(acting, "a").tenant_id == HOUSE


def test_rights_are_kept_in_one_form() -> None:
    assert in_order(["b", "a", "b"]) == ("a", "b")
    assert in_order(["b", "*"]) == ("*",)
