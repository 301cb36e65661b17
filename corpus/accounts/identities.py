"""People whom a sign-in provider vouches for, and the roles that its groups stand for."""

from __future__ import annotations

import uuid

import pghistory
from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from corpus.accounts.claims import LONGEST_GROUP


class Identity(models.Model):
    """One account as a provider knows it, by issuer and subject only: names and addresses change hands."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    # What the provider said last, so that a change of the mappings takes effect at once.
    claimed = ArrayField(models.CharField(max_length=LONGEST_GROUP), default=list, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    confirmed_at = models.DateTimeField(help_text="When the provider last vouched for it")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["issuer", "subject"], name="%(app_label)s_%(class)s_subject_is_one_account"
            ),
            models.UniqueConstraint(
                fields=["user", "issuer"], name="%(app_label)s_%(class)s_account_is_one_subject"
            ),
            models.CheckConstraint(
                condition=~Q(issuer="") & ~Q(subject=""), name="%(app_label)s_%(class)s_is_of_somebody"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"


@pghistory.track(pghistory.InsertEvent(), pghistory.DeleteEvent())
class GroupMapping(models.Model):
    """Who is in `claimed` at the provider is in `group` here. Rows are added and removed, never changed."""

    claimed = models.CharField(max_length=LONGEST_GROUP, help_text="A group at the provider, to the letter")
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="mappings")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["claimed", "group"], name="%(app_label)s_%(class)s_stands_once"),
            models.CheckConstraint(condition=~Q(claimed=""), name="%(app_label)s_%(class)s_names_a_group"),
        ]

    def __str__(self) -> str:
        return f"{self.claimed}: {self.group}"


class ProviderGrant(models.Model):
    """That a membership comes from a provider. Without such a row it was granted by hand.

    A grant whose membership is gone was taken away by hand, and stays so for as long as it is claimed.
    """

    identity = models.ForeignKey(Identity, on_delete=models.CASCADE, related_name="grants")
    group = models.ForeignKey(Group, on_delete=models.CASCADE, related_name="+")
    also_by_hand = models.BooleanField(default=False, help_text="The account was in the group before")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["identity", "group"], name="%(app_label)s_%(class)s_is_granted_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.group} of {self.identity}"


class ProviderSession(models.Model):
    """What a signed-in session asks its provider with. Gone with the session; without it the session ends."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    identity = models.ForeignKey(Identity, on_delete=models.CASCADE, related_name="sessions")
    tokens = models.BinaryField(help_text="Sealed with the site's secret key")
    checked_at = models.DateTimeField()
    # Who asks: providers take a refresh token that comes twice for a stolen one.
    asking_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"Session of {self.identity_id}"
