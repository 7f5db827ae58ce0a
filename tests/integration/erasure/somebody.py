"""A person of whom much is known, and how they are erased."""

from dataclasses import dataclass, field
from typing import Any

from tests.integration.pipeline.files import file_of
from tests.support.people import unused
from tests.support.pipeline import ORDERED, Sender, person


@dataclass(frozen=True, slots=True, kw_only=True)
class Somebody:
    """A person of whom much is known, in words that nobody else has."""

    mail: str = field(default_factory=lambda: f"{unused()}@example.test")
    phone: str = field(default_factory=lambda: f"+9370{int(unused(), 36) % 10_000_000:07}")
    word: str = field(default_factory=unused)

    @property
    def sealed(self) -> list[str]:
        """What only their key opens."""
        return [self.mail, self.phone, f"Name {self.word}", f"Tea {self.word}", f"file {self.word}"]

    @property
    def plain(self) -> list[str]:
        """What stands somewhere in the clear while they are known."""
        return [f"{kind}-{self.word}" for kind in ("id", "tag", "attribute", "evidence", "metadata", "notes")]

    async def known_to(self, sender: Sender) -> str:
        """Made known with all that there can be; their id."""
        client = sender.client
        made = await client.post(
            "/api/v1/recipients",
            json=person(
                self.mail,
                self.phone,
                identity={"type": "user", "id": f"id-{self.word}"},
                display_name=f"Name {self.word}",
                tags=[f"tag-{self.word}"],
                attributes={"note": f"attribute-{self.word}"},
                locale="fr",
                timezone="Asia/Kabul",
            ),
        )
        assert made.status_code == 201, made.text
        recipient_id = str(made.json()["id"])
        # Changed once more, because a change is audited.
        changed = await client.patch(
            f"/api/v1/recipients/{recipient_id}",
            json={
                "tags": [f"tag-{self.word}", "vip"],
                "attributes": {"note": f"attribute-{self.word}", "n": 1},
            },
            headers={"If-Match": made.headers["etag"]},
        )
        assert changed.status_code == 200, changed.text
        await sender.choose(
            recipient_id,
            marketing_consent={
                "granted": True,
                "source": "signup_form",
                "evidence": f"evidence-{self.word}",
            },
        )
        held = await client.post(
            "/api/v1/suppressions",
            json={"channel": "sms", "address": self.phone, "notes": f"notes-{self.word}"},
        )
        assert held.status_code == 201, held.text
        return recipient_id

    def message(self, recipient_id: str, **wish: Any) -> dict[str, Any]:
        """One to them that says something about them."""
        return {
            "recipient": recipient_id,
            "variables": ORDERED | {"items": [{"name": f"Tea {self.word}", "quantity": 1}]},
            "attachments": [file_of(f"file {self.word}".encode(), filename=f"{self.word}.txt")],
            "metadata": {"ref": f"metadata-{self.word}"},
        } | wish


async def erase(sender: Sender, recipient_id: str) -> dict[str, Any]:
    answer = await sender.client.post(
        f"/api/v1/recipients/{recipient_id}/erase", json={"reason": "ticket 17"}
    )
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt
