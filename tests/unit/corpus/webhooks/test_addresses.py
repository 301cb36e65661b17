"""What a webhook may be: an address to which something would be sent, and events that there are."""

import pytest

from corpus.webhooks.actions import WebhookError, checked_events, checked_url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook", "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://10.0.0.1/x",
        "https://user:pass@example.org/", "https://example.org:8443/", "ftp://example.org/", "https://2130706433/",
        "https://example.org/\nx", "", "javascript:alert(1)", "https://exa mple.org/", "https://a\\@example.org/",
    ],
)  # fmt: skip
def test_an_address_nothing_would_be_sent_to_is_refused(url: str) -> None:
    with pytest.raises(WebhookError, match="public host"):
        checked_url(url)


def test_a_public_address_is_kept_as_it_will_be_asked() -> None:
    assert checked_url(" https://Hooks.example.org/a?b=c#d ") == "https://hooks.example.org/a?b=c"


@pytest.mark.parametrize("events", [[], ["test"], ["everything"], ["run_finished", "nonsense"]])
def test_events_that_are_none_are_refused(events: list[str]) -> None:
    with pytest.raises(WebhookError, match="Choose events"):
        checked_events(events)


def test_events_are_kept_once_each_in_their_order() -> None:
    assert checked_events(["run_finished", "retraction_alert", "run_finished"]) == [
        "retraction_alert",
        "run_finished",
    ]
