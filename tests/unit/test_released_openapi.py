"""The API keeps the OpenAPI document that was released, but for corrections that stand here with their reason."""

import copy
import re

from tests.support.released_openapi import differences, released, today

#: A place of the document (a regular expression over the JSON pointer) → why it may read otherwise.
CORRECTIONS: dict[str, str] = {
    r"/(query batch|properties/batch|properties/batch_id|properties/batches_need_approval)/": "batches came",
    r"/NotificationView/required\Z|/tags\Z|/paths/~1api~1v1~1notifications/get/description\Z": "batches came",
    r"/paths/~1hooks~1\{vendor\}~1\{adapter\}/post/responses/423/": (
        "a vendor's hook is no tenant's: a freeze never refuses it"
    ),
    (
        r"/components/schemas/(AccountView|ChannelScoreView|ChannelView|CredentialView|DnsFinding|StatusLineVersionView"
        r"|TemplateFinding|VendorHealth|VersionView)/properties/\w+/description\Z"
    ): "classes of the same name stood in two packages, and so the descriptions of their fields were left out",
    r"/components/schemas/(DigestChoice/|\w+/properties/(digest_schedule|digest_key|digest)/)": (
        "a digest schedule was refused, and acts now: it has more forms, the tenant has one too, and a message may name its digest"
    ),
    r"/paths/~1p~1\{token\}/post/": "the preference page asks how messages come, and a digest may be refused",
    r"/paths/~1api~1v1~1recipients~1\{recipient_id\}~1export/post/description\Z": (
        "the archive has what is planned, digests and batches too"
    ),
    r"/components/schemas/Destroyed(Data)?/properties/inbox_items/": (
        "an erasure removes the items of an in-app inbox too"
    ),
    r"/components/schemas/Conditions(Input)?/properties/online/": (
        "a step of a policy may go by whether the recipient has their inbox open"
    ),
    r"/paths/~1api~1v1~1api-keys(~1\{key_id\}~1rotate)?/post/(parameters/header X-Attestation|responses/403/x-codes\Z)": (
        "people who are signed in attest before they make a key; keys and tokens make them as before"
    ),
    (
        r"/paths/~1(api|internal)~1v1~1(channels~1\{channel\}(~1credentials~1rotate)?|router~1(adapters|secrets)(~1\{\w+\})?"
        r"|webhooks~1\{webhook_id\}~1rotate-secret|tenants~1\{tenant_id\}~1(freeze|suspend)|callbacks~1.*~1body)"
        r"/(get|put|post|patch|delete)/(parameters/header X-Attestation|responses/403/x-codes\Z)"
    ): "people who are signed in attest a change of credentials, the closing of a tenant, the reading of raw bodies; keys do as before",
    r"/paths/~1api~1v1~1recipients~1\{recipient_id\}~1erase/post/(parameters/header X-Attestation|responses/403/x-codes\Z)": (
        "people who are signed in attest the erasure of a recipient; keys do it as before"
    ),
    r"/paths/~1api~1v1~1router~1conversations[^/]*/(get|post)/x-scope\Z": (
        "conversations have a scope of their own, so that the support desk answers; keys with the router's have it too"
    ),
    r"/paths/~1api~1v1~1recipients/get/parameters/query ids/": "recipients are listed by their ids",
    r"/paths/~1api~1v1~1router~1conversations/get/parameters/query unanswered/": "those who wait are listed apart",
    r"/paths/~1api~1v1~1notifications~1\{notification_id\}~1body/get/responses/403/x-codes\Z": (
        "the words of an invitation are shown to nobody but the recipient"
    ),
    r"/components/schemas/DnsFinding/properties/publish/": "a missing record comes ready to be published",
    (
        r"/components/schemas/(PartView/properties/part/description|SpendView/properties/(by/|newest_only/))"
        r"|/paths/~1api~1v1~1router~1spend/get/"
    ): "what was spent is summed by template too",
    r"/components/schemas/ExplainView/required\Z": "an explanation tells of digests too",
    r"/components/schemas/(ExplainView/properties/trigger/|Happening/properties/kind/description)": (
        "what triggers make is explained too"
    ),
    (
        r"/components/schemas/PreviewVersion/properties/(changes|branding)/"
        r"|/paths/~1api~1v1~1templates~1\{key\}~1\{channel\}~1versions~1\{semver\}~1(preview|validate)/post/"
    ): "previews and the validator take what is not saved yet",
    r"/components/schemas/TemplateSummary/(properties/approval_asked_by/|required\Z)": (
        "the list of templates says who asks for an approval"
    ),
}
#: Schemas that have another name today; their fields are compared all the same. The name is in no request or answer.
RENAMED_SCHEMAS: dict[str, str] = {
    "Destroyed": "DestroyedData",
    "Kept": "RetainedData",
    "Kind": "ImportKind",
    "LineView": "StatusLineView",
    "Reason": "SuppressionReason",
    "Receipt": "ErasureReceipt",
    "Statement": "ErasureStatement",
    "tidings.contracts.templates.Finding": "TemplateFinding",
    "tidings.contracts.words.Status": "NotificationStatus",
    "tidings.notify.channels.dns_check.model.Finding": "DnsFinding",
    "tidings.notify.channels.wire.ChannelView": "ChannelView",
    "tidings.notify.imports.model.Status": "ImportStatus",
    "tidings.notify.templates.wire.VersionView": "VersionView",
    "tidings.router.profiles.wire.ChannelView": "ChannelScoreView",
    "tidings.router.status_map.wire.VersionView": "StatusLineVersionView",
}


def test_the_document_is_the_released_one() -> None:
    found = differences(released(), today(), RENAMED_SCHEMAS)

    assert {
        place: values
        for place, values in found.items()
        if not any(re.search(correction, place) for correction in CORRECTIONS)
    } == {}


def test_every_correction_and_every_renamed_schema_is_needed() -> None:
    found = differences(released(), today(), RENAMED_SCHEMAS)
    schemas = released()["components"]["schemas"].keys()

    assert [one for one in CORRECTIONS if not any(re.search(one, place) for place in found)] == []
    assert RENAMED_SCHEMAS.keys() - schemas == set()


def test_a_change_is_noticed_and_an_addition_is_not() -> None:
    changed = copy.deepcopy(released())
    path = changed["paths"]["/api/v1/notifications"]
    path["post"]["summary"] = "Another."
    path["get"]["parameters"][0]["required"] = True
    path["get"]["parameters"].reverse()
    path["post"]["x-verb"] = "send"
    path["post"]["x-scope"] = "notifications:read"
    path["post"]["x-test-keys"] = False
    path["post"]["x-max-body-bytes"] = 1
    path["post"]["responses"]["401"]["x-codes"] = ["bad_value"]
    changed["paths"]["/api/v1/new"] = {"get": {}}

    assert list(differences(released(), changed, {})) == [
        "/paths/~1api~1v1~1notifications/get/parameters/query limit/required",
        "/paths/~1api~1v1~1notifications/post/responses/401/x-codes",
        "/paths/~1api~1v1~1notifications/post/summary",
        "/paths/~1api~1v1~1notifications/post/x-max-body-bytes",
        "/paths/~1api~1v1~1notifications/post/x-scope",
        "/paths/~1api~1v1~1notifications/post/x-test-keys",
    ]
