"""The page of the API: Swagger draws the description under the site's policy, and tries operations by key."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.factories.keys import secret_of
from tests.functional.conftest import Visit

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_operation_is_tried_with_a_key_on_the_page_of_the_api(visit: Visit, asker: User) -> None:
    secret = secret_of(asker)
    page = visit.page

    visit.open("/api/v1/docs")
    expect(page.locator(".opblock")).to_have_count(14, timeout=60_000)
    page.get_by_role("button", name="Authorize").first.click()
    page.locator(".modal-ux input").fill(secret)
    page.locator(".modal-ux").get_by_role("button", name="Apply credentials").click()
    page.locator(".modal-ux").get_by_role("button", name="Close").click()
    status = page.locator("#operations-State-get_status")
    status.locator(".opblock-summary-control").click()
    status.get_by_role("button", name="Try it out").click()
    status.get_by_role("button", name="Execute").click()

    expect(status.locator(".live-responses-table")).to_contain_text('"requests_per_minute": 1000')
    kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie")
    assert secret not in kept


def test_without_javascript_the_page_leads_to_the_description(plain_visit: Visit) -> None:
    plain_visit.open("/api/v1/docs")

    expect(plain_visit.page.get_by_text("needs JavaScript")).to_be_visible()
    address = plain_visit.page.get_by_role("link", name="OpenAPI description").get_attribute("href")
    assert '"openapi": "3.1.0"' in plain_visit.page.request.get(f"{plain_visit.server}{address}").text()
