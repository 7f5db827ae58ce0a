"""What can go wrong with devices.

NotFoundError
└── UnknownDeviceError     there is none here, or its operator may not see its property
NotAllowedError
├── OtherDevicesError      a device speaks for itself alone
└── PlatformDeviceError    devices of the platform's operators belong to no tenant
"""

from tidings.kernel.refusals import NotAllowedError, NotFoundError


class UnknownDeviceError(NotFoundError):
    """There is no such device here that has said anything; GET /bff/v1/devices lists them."""

    code = "device_not_found"


class OtherDevicesError(NotAllowedError):
    """A device speaks for itself alone: use the device_id of GET /bff/v1/session."""

    code = "other_device"


class PlatformDeviceError(NotAllowedError):
    """Devices of the platform's operators belong to no tenant, and keep no place; sign in as an operator of a tenant."""

    code = "platform_device"
