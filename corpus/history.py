"""History of accounts, roles and their permissions: who could do what, and who changed it."""

from __future__ import annotations

import pghistory
import pgtrigger
from django.contrib.auth.models import Group, User


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    model_name="AccountEvent",
    fields=["username", "is_active", "is_staff", "is_superuser"],
)
class TrackedUser(User):
    """Accounts, without what is personal or secret about them."""

    class Meta:
        proxy = True
        default_permissions = ()
        triggers = [
            # Wherever it is done: whoever may not sign in any more is not signed in, and a new password is
            # for those who know it.
            pgtrigger.Trigger(
                name="end_sessions",
                when=pgtrigger.After,
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.password IS DISTINCT FROM NEW.password OR (OLD.is_active AND NOT NEW.is_active)"
                ),
                func="DELETE FROM corpus_personsession WHERE person_id = NEW.id; RETURN NULL;",
            )
        ]


@pghistory.track(
    pghistory.InsertEvent("member.added"), pghistory.DeleteEvent("member.removed"), obj_field=None
)
class Membership(User.groups.through):  # type: ignore[name-defined,misc]
    """Who is in which role."""

    class Meta:
        proxy = True
        default_permissions = ()


@pghistory.track(
    pghistory.InsertEvent("permission.granted"), pghistory.DeleteEvent("permission.taken"), obj_field=None
)
class GroupPermission(Group.permissions.through):  # type: ignore[name-defined,misc]
    """What a role may do."""

    class Meta:
        proxy = True
        default_permissions = ()
