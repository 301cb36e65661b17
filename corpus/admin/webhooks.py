"""Webhooks and the ledger of what was sent to them. Everybody sees their own; who oversees sees all."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import MultipleChoiceField
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus.admin_base import (
    CheckboxesWidget,
    ModelAdmin,
    ModelForm,
    ReadOnlyAdmin,
    TextInputWidget,
    badge,
    display,
)
from corpus.signed_in import person
from corpus.webhooks import actions
from corpus.webhooks.models import EVENT_CHOICES, Webhook, WebhookDelivery

_TONES = {WebhookDelivery.State.DELIVERED: "good", WebhookDelivery.State.GIVEN_UP: "danger"}


def _oversees(request: HttpRequest) -> bool:
    return request.user.has_perm(actions.OVERSEE)


class WebhookForm(ModelForm[Webhook]):
    """Where messages go, and about what."""

    events = MultipleChoiceField(label=gettext_lazy("Events"), choices=EVENT_CHOICES, widget=CheckboxesWidget)

    class Meta:
        model = Webhook
        fields = ("url", "events")
        widgets = {"url": TextInputWidget}
        labels = {"url": gettext_lazy("Address")}
        help_texts = {"url": gettext_lazy("https, at the name of a public host. Others see only the host.")}

    def clean_url(self) -> str:
        """Refuse an address to which nothing would ever be sent."""
        try:
            return actions.checked_url(self.cleaned_data["url"])
        except actions.WebhookError as refusal:
            raise ValidationError(str(refusal)) from None


@admin.register(Webhook)
class WebhookAdmin(ModelAdmin[Webhook]):
    """Addresses that are told what happens."""

    form = WebhookForm
    list_display = ("address", "owner", "told", "standing", "created_at")
    list_filter = ("is_active",)
    list_select_related = ("owner",)
    ordering = ("-created_at", "id")
    actions = ("send_test", "enable", "disable", "renew_secret")
    readonly_fields = ("address", "owner", "told", "standing", "created_at")

    def visible(self, rows: QuerySet[Webhook], request: HttpRequest) -> QuerySet[Webhook]:
        """Keep one's own, and all for who oversees them."""
        return rows if _oversees(request) else rows.filter(owner=person(request))

    def has_change_permission(self, request: HttpRequest, obj: Webhook | None = None) -> bool:
        """Only the owner changes one."""
        is_own = obj is None or obj.owner_id == person(request).pk
        return is_own and super().has_change_permission(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Webhook | None = None) -> bool:
        """Who may not change one still sees what is visible to them."""
        return request.user.has_perm("corpus.view_webhook")

    def has_delete_permission(self, request: HttpRequest, obj: Webhook | None = None) -> bool:
        """What is held stays for its owner: to delete it would be to begin anew."""
        is_held = obj is not None and obj.is_held and obj.owner_id == person(request).pk
        return not is_held and super().has_delete_permission(request, obj)

    def get_fields(self, request: HttpRequest, obj: Webhook | None = None) -> Any:
        """Show the whole address, which may hold a secret of the receiver, to its owner alone."""
        shown = ("owner", "standing", "created_at")
        if obj is None:
            return ("url", "events")
        return ("url", "events", *shown) if self.has_change_permission(request, obj) else (
            "address", "told", *shown
        )  # fmt: skip

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:  # noqa: FBT001
        """Have the actions do it."""
        wanted = {"url": form.cleaned_data["url"], "events": form.cleaned_data["events"]}
        if change:
            actions.change(webhook=obj, by=person(request), **wanted)
            return
        made = actions.create(by=person(request), **wanted)
        obj.pk, obj.owner, obj.salt = made.pk, made.owner, made.salt
        obj._state.adding = False

    def response_add(self, request: HttpRequest, obj: Webhook, post_url_continue: Any = None) -> HttpResponse:
        """Show the secret, on this page and never again."""
        return self._told_secret(request, obj)

    def _told_secret(self, request: HttpRequest, webhook: Webhook) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("The secret of the webhook at %(host)s") % {"host": webhook.host},
            "opts": self.opts,
            "secret": webhook.secret,
        }
        return TemplateResponse(request, "admin/corpus/webhook_secret.html", context)

    @admin.action(description=gettext_lazy("Send a test"), permissions=["add"])
    def send_test(self, request: HttpRequest, rows: QuerySet[Webhook]) -> None:
        """Queue a message that says nothing, to be tried once."""
        sent = self._each(request, rows, actions.send_test)
        if sent:
            messages.success(request, _("Sent by the worker in a moment: see the deliveries."))

    @admin.action(description=gettext_lazy("Enable"), permissions=["add"])
    def enable(self, request: HttpRequest, rows: QuerySet[Webhook]) -> None:
        """Send to them again."""
        self._each(request, rows, actions.enable)

    @admin.action(description=gettext_lazy("Disable"), permissions=["add"])
    def disable(self, request: HttpRequest, rows: QuerySet[Webhook]) -> None:
        """Send nothing to them any more."""
        by = person(request)
        for row in rows:
            actions.disable(
                webhook=row, reason=_("Disabled by %(name)s.") % {"name": by.get_username()}, by=by
            )

    @admin.action(description=gettext_lazy("Give a new secret"), permissions=["add"])
    def renew_secret(self, request: HttpRequest, rows: QuerySet[Webhook]) -> HttpResponse | None:
        """Sign with another secret from now on, and show it once."""
        chosen = list(rows[:2])
        if len(chosen) != 1:
            messages.error(request, _("Choose one webhook: its secret is shown once."))
            return None
        try:
            renewed = actions.renew_secret(webhook=chosen[0], by=person(request))
        except actions.WebhookError as refusal:
            messages.error(request, str(refusal))
            return None
        return self._told_secret(request, renewed)

    def _each(self, request: HttpRequest, rows: QuerySet[Webhook], act: Any) -> int:
        done = 0
        for row in rows:
            try:
                act(webhook=row, by=person(request))
                done += 1
            except actions.WebhookError as refusal:
                messages.error(request, f"{row.host}: {refusal}")
        return done

    @display(description=gettext_lazy("host"))
    def address(self, row: Webhook) -> str:
        """Show the host: the rest of the address may hold a secret of the receiver."""
        return row.host

    @display(description=gettext_lazy("told of"))
    def told(self, row: Webhook) -> str:
        """Name the events."""
        return ", ".join(row.events)

    @display(description=gettext_lazy("state"), ordering="is_active")
    def standing(self, row: Webhook) -> SafeString:
        """Say whether messages are sent, and if not, why."""
        if row.is_active:
            return badge(_("Active"), "good")
        return badge(row.disabled_reason or _("Disabled"), "danger")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin[WebhookDelivery]):
    """What was sent, and how it was answered."""

    list_display = ("id", "host", "event", "kind", "outcome", "attempts", "status", "next_try", "created_at")
    list_filter = ("state", "event")
    list_select_related = ("webhook",)
    date_hierarchy = "created_at"
    ordering = ("-created_at", "id")
    actions = ("retry",)  # type: ignore[assignment]
    fields = (
        "id", "host", "event", "kind", "subject", "outcome", "attempts", "status", "last_error_code",
        "next_try", "created_at", "ended_at",
    )  # fmt: skip
    readonly_fields = fields

    def visible(self, rows: QuerySet[WebhookDelivery], request: HttpRequest) -> QuerySet[WebhookDelivery]:
        """Keep those of one's own webhooks, and all for who oversees them."""
        return rows if _oversees(request) else rows.filter(webhook__owner=person(request))

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Who may have webhooks may have them told again."""
        return request.user.has_perm(actions.PERMISSION)

    @admin.action(description=gettext_lazy("Try again"), permissions=["retry"])
    def retry(self, request: HttpRequest, rows: QuerySet[WebhookDelivery]) -> None:
        """Queue again what was given up, of one's own webhooks that are active."""
        count = actions.retry(ids=list(rows.values_list("pk", flat=True)), by=person(request))
        said = ngettext("%(n)s delivery is tried again.", "%(n)s deliveries are tried again.", count)
        (messages.success if count else messages.warning)(request, said % {"n": count})

    @display(description=gettext_lazy("host"), ordering="webhook")
    def host(self, row: WebhookDelivery) -> str:
        """Show where it goes."""
        return row.webhook.host

    @display(description=gettext_lazy("state"), ordering="state")
    def outcome(self, row: WebhookDelivery) -> SafeString:
        """Show the state in words, with what went wrong."""
        words = row.get_state_display()
        said = f"{words}: {row.last_error_code}" if row.last_error_code else words
        return badge(said, _TONES.get(WebhookDelivery.State(row.state), "caution"))

    @display(description=gettext_lazy("next try"), ordering="next_try_at")
    def next_try(self, row: WebhookDelivery) -> str:
        """Show when it is tried again."""
        return f"{row.next_try_at:%Y-%m-%d %H:%M}" if row.state == WebhookDelivery.State.PENDING else ""
