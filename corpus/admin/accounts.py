"""Accounts and roles: who may sign in, what they may do and what they may see at most."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus.accounts import access, sessions
from corpus.actions import certificates, identities
from corpus.admin.fields import LicenseClassesField, LinesField
from corpus.admin.history import HistoryAdmin
from corpus.admin_base import (
    AdminPasswordChangeForm,
    AdminUserCreationForm,
    CheckboxesWidget,
    ModelAdmin,
    ModelForm,
    StackedInline,
    UserChangeForm,
    badge,
    display,
    license_badge,
)
from corpus.models import GroupCeiling

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(HistoryAdmin, DjangoUserAdmin, ModelAdmin[User]):  # type: ignore[type-arg]
    """Accounts. What a person may do follows from their roles."""

    event_model = "corpus.AccountEvent"
    form = UserChangeForm
    add_form = AdminUserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "full_name", "email", "roles", "active", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    ordering = ("username",)
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined", "access", "signed_in")
    actions = ("end_sessions",)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (gettext_lazy("Person"), {"fields": ("first_name", "last_name", "email")}),
        (gettext_lazy("Access"), {"fields": ("is_active", "groups", "access", "signed_in")}),
        (gettext_lazy("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", "usable_password", "password1", "password2")}),
        (gettext_lazy("Access"), {"fields": ("groups",)}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show who is a superuser, and let superusers decide it, to superusers only."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not request.user.is_superuser:
            return fieldsets
        return (*fieldsets, (_("Beyond roles"), {"fields": ("is_superuser",)}))

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Fetch the roles along with the accounts."""
        return super().get_queryset(request).prefetch_related("groups")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Keep superusers out of reach of everyone else: their password would be the way up."""
        if obj is not None and obj.is_superuser and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer the roles as boxes to tick."""
        if db_field.name == "groups":
            kwargs["widget"] = CheckboxesWidget()
            kwargs["help_text"] = _("An account without a role can sign in and see nothing.")
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        if field is not None and db_field.name == "groups":
            field.label = _("Roles")
        return field

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: FBT001
        """Let into the admin whom a role lets in, and nobody else."""
        super().save_related(request, form, formsets, change)
        identities.settle_staff(form.instance)

    @admin.action(description=gettext_lazy("End every session"), permissions=["change"])
    def end_sessions(self, request: HttpRequest, people: QuerySet[User]) -> HttpResponse | None:
        """Show whose sessions would end, and end them once that was seen."""
        allowed = [user for user in people.order_by("username") if self.has_change_permission(request, user)]
        if "confirmed" in request.POST:
            count = sum(sessions.end_all(person=user) for user in allowed)
            words = ngettext("%(n)d session has ended.", "%(n)d sessions have ended.", count) % {"n": count}
            messages.success(request, words)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": _("End every session"),
            "opts": self.opts,
            "people": [(user, sessions.of(user).count()) for user in allowed],
            "others": people.count() - len(allowed),
        }
        return TemplateResponse(request, "admin/corpus/end_sessions.html", context)

    @display(description=gettext_lazy("may see"))
    def access(self, user: User) -> SafeString:
        """Show the ceiling, the roles that it follows from, and by whom each was granted."""
        if user.pk is None:
            return mark_safe("")
        return mark_safe(render_to_string("registration/access.html", {"access": access.of(user)}))  # noqa: S308 - a template of ours, which escapes

    @display(description=gettext_lazy("signed in"))
    def signed_in(self, user: User) -> str:
        """Say in how many sessions, and how long ago the last was used."""
        rows = list(sessions.of(user)) if user.pk is not None else []
        if not rows:
            return _("Nowhere")
        words = ngettext("In %(n)d session", "In %(n)d sessions", len(rows)) % {"n": len(rows)}
        return f"{words}, {rows[0].seen_at:%Y-%m-%d %H:%M} UTC" if rows[0].seen_at else words

    @display(description=gettext_lazy("name"))
    def full_name(self, user: User) -> str:
        """Show the person's name."""
        return user.get_full_name()

    @display(description=gettext_lazy("roles"))
    def roles(self, user: User) -> SafeString:
        """Name the roles, or say that there is none."""
        names = [(badge(group.name),) for group in user.groups.all()]
        if user.is_superuser:
            names.append((badge(_("superuser"), "caution"),))
        return format_html_join(" ", "{}", names) or badge(_("No role"), "danger")

    @display(description=gettext_lazy("active"), ordering="is_active", boolean=True)
    def active(self, user: User) -> bool:
        """Say whether the person may sign in."""
        return user.is_active


class CeilingForm(ModelForm[GroupCeiling]):
    """What the members of a role may see at most."""

    license_classes = LicenseClassesField(
        label=gettext_lazy("Licence classes"), help_text=gettext_lazy("None ticked: nothing may be seen.")
    )
    buckets = LinesField(
        label=gettext_lazy("Buckets"),
        help_text=gettext_lazy("One a line. Read only when not all are allowed."),
    )

    class Meta:
        model = GroupCeiling
        fields = ("license_classes", "all_buckets", "buckets")


class CeilingInline(StackedInline[GroupCeiling, Group]):
    """The ceiling of a role, on the role's page."""

    model = GroupCeiling
    form = CeilingForm
    verbose_name = gettext_lazy("ceiling")
    verbose_name_plural = gettext_lazy("Ceiling: the most its members may see")
    can_delete = False
    min_num = 1
    max_num = 1


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin[Group]):
    """Roles with their permissions and their ceiling."""

    inlines = (CeilingInline,)
    list_display = ("name", "classes", "buckets", "members")
    ordering = ("name",)
    search_fields = ("name",)
    actions = ("certify",)

    @admin.action(
        description=gettext_lazy("Check that members see nothing beyond the ceiling"), permissions=["certify"]
    )
    def certify(self, request: HttpRequest, roles: QuerySet[Group]) -> HttpResponse:
        """Ask the worker for a certificate of each role, and go where they appear."""
        for role in roles:
            certificates.ask(role=role, by=request.user)  # type: ignore[arg-type]
        messages.success(request, _("The worker checks within a minute; the outcome appears here."))
        return redirect("admin:corpus_certificate_changelist")

    def has_certify_permission(self, request: HttpRequest) -> bool:
        """Let those certify who may make certificates."""
        return request.user.has_perm("corpus.add_certificate")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        """Fetch the ceiling and count the members along with the roles."""
        counted = super().get_queryset(request).annotate(member_count=Count("user"))
        return counted.select_related("ceiling")

    def formfield_for_manytomany(
        self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        """Offer the permissions that open something, not those of tables without a screen."""
        if db_field.name == "permissions":
            models = [model._meta.model_name for model in self.admin_site._registry]
            kwargs["queryset"] = (
                Permission.objects.filter(content_type__model__in=[*models, "groupceiling"])
                .select_related("content_type")
                .order_by("content_type__app_label", "content_type__model", "codename")
            )
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @display(description=gettext_lazy("may see at most"))
    def classes(self, group: Group) -> SafeString:
        """Show the classes of the ceiling."""
        ceiling = getattr(group, "ceiling", None)
        names = ceiling.license_classes if ceiling else []
        return format_html_join(" ", "{}", ((license_badge(name),) for name in names)) or badge(
            _("Nothing"), "danger"
        )

    @display(description=gettext_lazy("buckets"))
    def buckets(self, group: Group) -> SafeString | str:
        """Show the buckets of the ceiling."""
        ceiling = getattr(group, "ceiling", None)
        if ceiling is None:
            return ""
        return _("All") if ceiling.all_buckets else format_html("{}", ", ".join(ceiling.buckets) or _("None"))

    @display(description=gettext_lazy("members"), ordering="member_count")
    def members(self, group: Any) -> int:
        """Count the accounts."""
        return int(group.member_count)
