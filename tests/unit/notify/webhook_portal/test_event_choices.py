"""What a visitor of the portal may choose, and what is chosen."""

from tidings.notify.webhook_portal.event_choices import choices_of, chosen, examples_of, not_offered


def test_a_pattern_offers_itself_and_all_that_it_takes() -> None:
    values = [choice.value for choice in choices_of(["batch.*.v1", "recipient.erased.v1"])]

    assert values[0] == "batch.*.v1"
    assert "batch.completed.v1" in values
    assert "recipient.erased.v1" in values
    assert "notification.delivered.v1" not in values


def test_everything_has_no_events_about_endpoints() -> None:
    """Those are told where they are named, and news of deliveries by no webhook."""
    values = {choice.value for choice in choices_of([">"])}

    assert not any(value.startswith(("webhook.endpoint.", "notification.webhook.")) for value in values)
    assert "webhook.endpoint.warned.v1" in {
        choice.value for choice in choices_of(["webhook.endpoint.warned.v1"])
    }


def test_only_what_was_offered_is_chosen_and_the_rest_stays() -> None:
    offered = choices_of(["batch.*.v1"])
    before = ["recipient.erased.v1", "batch.started.v1"]

    after = chosen({"batch.completed.v1", "notification.>"}, offered, before)

    assert after == ("recipient.erased.v1", "batch.completed.v1")
    assert not_offered(before, offered) == ["recipient.erased.v1"]
    assert chosen((), offered) == ()


def test_examples_of_a_type_are_of_that_type() -> None:
    assert examples_of("batch.completed.v1") == ["batch.completed.v1"]
    assert examples_of("nothing.v1") == []
