"""Every reason that a gate can give, with the sentence that people read. Codes never change their meaning."""

from enum import StrEnum


class GateReason(StrEnum):
    """Why a gate stopped, deferred, or passed in spite of something."""

    TENANT_SUSPENDED = "tenant_suspended"
    TENANT_DELETING = "tenant_deleting"
    EXPIRED = "expired"
    RECIPIENT_UNKNOWN = "recipient_unknown"
    RECIPIENT_ERASED = "recipient_erased"
    GUARDIAN_INSTEAD = "guardian_instead"
    GUARDIAN_COPY = "guardian_copy"
    GUARDIAN_UNKNOWN = "guardian_unknown"
    COPY_FOR_GUARDIAN = "copy_for_guardian"
    CATEGORY_UNKNOWN = "category_unknown"
    CONSENT_MISSING = "consent_missing"
    UNSUBSCRIBED_FROM_ALL = "unsubscribed_from_all"
    CATEGORY_DECLINED = "category_declined"
    CHANNEL_DECLINED = "channel_declined"
    OFF_BY_DEFAULT = "off_by_default"
    QUIET_HOURS = "quiet_hours"
    QUIET_BUT_CRITICAL = "quiet_but_critical"
    QUIET_BUT_BREAKING = "quiet_but_breaking"
    QUIET_BUT_RELEASED = "quiet_but_released"
    EXPIRES_BEFORE_QUIET_ENDS = "expires_before_quiet_ends"
    DIGEST = "digest"
    DIGEST_BUT_CRITICAL = "digest_but_critical"
    DIGEST_BUT_SECURITY = "digest_but_security"
    DIGEST_BUT_RELEASED = "digest_but_released"
    DIGEST_BUT_WHOLE = "digest_but_whole"
    DIGEST_BUT_NO_TEMPLATE = "digest_but_no_template"
    EXPIRES_BEFORE_DIGEST = "expires_before_digest"
    DIGEST_OF_ONE = "digest_of_one"
    DIGEST_NOT_MADE = "digest_not_made"
    DIGEST_FOR_ANOTHER = "digest_for_another"
    IS_DIGEST = "is_digest"
    DIGEST_REPEATS = "digest_repeats"
    DIGESTED = "digested"
    RATE_LIMITED = "rate_limited"
    RECIPIENT_CHANNEL_LIMITED = "recipient_channel_limited"
    EXPIRES_BEFORE_LIMIT_FREES = "expires_before_limit_frees"
    BATCH_PACE = "batch_pace"
    CANCELLED = "cancelled"
    DELIVERED_ALREADY = "delivered_already"
    OVER_ALREADY = "over_already"
    CHANNEL_NOT_SET_UP = "channel_not_set_up"
    CHANNEL_DISABLED = "channel_disabled"
    NO_ADDRESS = "no_address"
    ADDRESS_GONE = "address_gone"
    SUPPRESSED_BY_TENANT = "suppressed_by_tenant"
    SUPPRESSED_BY_PLATFORM = "suppressed_by_platform"
    SUPPRESSED_BY_DOMAIN = "suppressed_by_domain"
    ADDRESS_UNSUBSCRIBED = "address_unsubscribed"
    SENDER_UNAUTHORISED = "sender_unauthorised"


SENTENCES: dict[GateReason, str] = {
    GateReason.TENANT_SUSPENDED: "The tenant is suspended; its messages wait until it is active again.",
    GateReason.TENANT_DELETING: "The tenant is being deleted.",
    GateReason.EXPIRED: "Its time was over before it could be sent.",
    GateReason.RECIPIENT_UNKNOWN: "There is no such recipient.",
    GateReason.RECIPIENT_ERASED: "The recipient was erased.",
    GateReason.GUARDIAN_INSTEAD: "The recipient's guardian is written to instead.",
    GateReason.GUARDIAN_COPY: "The recipient's guardian gets one too.",
    GateReason.GUARDIAN_UNKNOWN: "The guardian who should be written to instead is not known any more.",
    GateReason.COPY_FOR_GUARDIAN: "It is a guardian's copy; nobody gets a copy of that.",
    GateReason.CATEGORY_UNKNOWN: "The category is not in the registry any more.",
    GateReason.CONSENT_MISSING: "The category needs consent, and the recipient has not given it.",
    GateReason.UNSUBSCRIBED_FROM_ALL: "The recipient wants nothing that can be unsubscribed from.",
    GateReason.CATEGORY_DECLINED: "The recipient does not want this category on this channel.",
    GateReason.CHANNEL_DECLINED: "The recipient does not want messages on this channel.",
    GateReason.OFF_BY_DEFAULT: "The tenant sends this category on this channel only to those who have asked for it.",
    GateReason.QUIET_HOURS: "It is the recipient's quiet time; it waits until that ends.",
    GateReason.QUIET_BUT_CRITICAL: "It is the recipient's quiet time, but the message is critical.",
    GateReason.QUIET_BUT_BREAKING: "It is the recipient's quiet time, but the category may break it.",
    GateReason.QUIET_BUT_RELEASED: "Somebody has had it sent without waiting for the end of the recipient's quiet time.",
    GateReason.EXPIRES_BEFORE_QUIET_ENDS: "It would expire before the recipient's quiet time ends.",
    GateReason.DIGEST: "It is gathered with others of its category, and one digest is sent for all of them.",
    GateReason.DIGEST_BUT_CRITICAL: "The recipient gets this category in digests, but the message is critical.",
    GateReason.DIGEST_BUT_SECURITY: "The recipient gets this category in digests, but codes and security never wait for one.",
    GateReason.DIGEST_BUT_RELEASED: "Somebody has had it sent without waiting for its digest.",
    GateReason.DIGEST_BUT_WHOLE: "The recipient gets this category in digests, but it has attached files or answers in a conversation, and goes by itself.",
    GateReason.DIGEST_BUT_NO_TEMPLATE: "The recipient gets this category in digests, but there is no digest template for a channel that it may go over, and it goes by itself.",
    GateReason.EXPIRES_BEFORE_DIGEST: "It would expire before its digest is sent, and goes by itself.",
    GateReason.DIGEST_OF_ONE: "It was alone in its digest, and goes by itself.",
    GateReason.DIGEST_NOT_MADE: "No digest could be made of it and the others; each goes by itself.",
    GateReason.DIGEST_FOR_ANOTHER: "Its digest was for a guardian who no longer hears for the recipient; it was decided anew.",
    GateReason.IS_DIGEST: "It is a digest, and stands for the messages that were gathered in it.",
    GateReason.DIGEST_REPEATS: "The digest before it was not opened, and its messages are told once more.",
    GateReason.DIGESTED: "A digest took its place.",
    GateReason.RATE_LIMITED: "A limit is used up; it waits until there is room again.",
    GateReason.RECIPIENT_CHANNEL_LIMITED: "The recipient has had as many messages over this channel as the tenant allows; it waits until there is room again.",
    GateReason.EXPIRES_BEFORE_LIMIT_FREES: "It would expire before a limit has room again.",
    GateReason.BATCH_PACE: "As many messages of its batch have gone through the vendor's account as its pacing lets; it waits for its turn.",
    GateReason.CANCELLED: "It was cancelled.",
    GateReason.DELIVERED_ALREADY: "It was delivered already.",
    GateReason.OVER_ALREADY: "It was over before this step.",
    GateReason.CHANNEL_NOT_SET_UP: "The tenant has not set this channel up; `tidings channel set` does.",
    GateReason.CHANNEL_DISABLED: "The tenant has switched this channel off.",
    GateReason.NO_ADDRESS: "The recipient has no address on this channel.",
    GateReason.ADDRESS_GONE: "The address that this conversation is with is not the recipient's any more.",
    GateReason.SUPPRESSED_BY_TENANT: "The address is suppressed.",
    GateReason.SUPPRESSED_BY_PLATFORM: "The address is suppressed for the whole platform.",
    GateReason.SUPPRESSED_BY_DOMAIN: "The mail domain is suppressed for the whole platform.",
    GateReason.ADDRESS_UNSUBSCRIBED: "The owner of the address has unsubscribed from this category.",
    GateReason.SENDER_UNAUTHORISED: "The tenant may not appear as this sender on this channel.",
}
