"""Keys and how often they were used."""

from __future__ import annotations

import uuid

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from corpus.keys.permissions import ALL_PERMISSIONS, LABELS
from corpus.keys.secret import PREFIX_LENGTH, SITE_KEY_NAME_LENGTH
from corpus.rights import ALL_CLASSES
from corpus.rights import LABELS as CLASS_LABELS

LONGEST_NAME = 100
# The moments of the last minute stand in one row: this bounds it.
MOST_REQUESTS_PER_MINUTE = 1_000
PERMISSION_CHOICES = [(item.value, LABELS[item]) for item in ALL_PERMISSIONS]


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    model_name="ApiKeyEvent",
    # Neither the hash, which is nobody's business, nor each use, which is no change.
    fields=[
        "owner",
        "name",
        "prefix",
        "permissions",
        "license_classes",
        "all_buckets",
        "buckets",
        "requests_per_minute",
        "expires_at",
        "revoked_at",
        "revoked_by",
        "created_by",
    ],
)
class ApiKey(models.Model):
    """A key by which a program acts for its owner, within the owner's rights and its own.

    Rights are the owner's of the moment met with the key's: see `corpus.keys.authentication`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=LONGEST_NAME, help_text="What it is for")
    # Not unique: it finds a key, the hash tells whose it is.
    prefix = models.CharField(max_length=PREFIX_LENGTH, db_index=True, editable=False)
    hash = models.CharField(max_length=64, unique=True, editable=False)
    # By which of the site's keys, by name; none for one that was hashed before hashes were keyed.
    hashed_by = models.CharField(
        max_length=SITE_KEY_NAME_LENGTH, blank=True, default="", db_default="", editable=False
    )
    permissions = ArrayField(
        models.CharField(max_length=20, choices=PERMISSION_CHOICES), default=list, blank=True
    )
    license_classes = ArrayField(
        models.CharField(max_length=20, choices=[(str(item), CLASS_LABELS[item]) for item in ALL_CLASSES]),
        default=list,
        blank=True,
    )
    all_buckets = models.BooleanField(default=False)
    buckets = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    requests_per_minute = models.PositiveIntegerField(default=60)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, editable=False)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    last_used_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    # Nobody made what the operator made at the command line.
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )

    class Meta:
        verbose_name = "key"
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="%(app_label)s_%(class)s_has_a_name"),
            models.CheckConstraint(
                condition=Q(prefix__regex=rf"^[a-z2-7]{{{PREFIX_LENGTH}}}$"),
                name="%(app_label)s_%(class)s_prefix_has_its_shape",
            ),
            models.CheckConstraint(
                condition=Q(hash__regex=r"^[0-9a-f]{64}$"), name="%(app_label)s_%(class)s_keeps_only_a_hash"
            ),
            models.CheckConstraint(
                condition=Q(permissions__contained_by=[str(item) for item in ALL_PERMISSIONS]),
                name="%(app_label)s_%(class)s_permissions_are_known",
            ),
            models.CheckConstraint(
                condition=Q(license_classes__contained_by=[str(item) for item in ALL_CLASSES]),
                name="%(app_label)s_%(class)s_classes_are_known",
            ),
            models.CheckConstraint(
                condition=Q(all_buckets=False) | Q(buckets=[]),
                name="%(app_label)s_%(class)s_all_buckets_or_a_list",
            ),
            models.CheckConstraint(
                condition=Q(requests_per_minute__gte=1, requests_per_minute__lte=MOST_REQUESTS_PER_MINUTE),
                name="%(app_label)s_%(class)s_limit_is_bounded",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
                name="%(app_label)s_%(class)s_expires_after_it_was_made",
            ),
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=False) | Q(revoked_by__isnull=True),
                name="%(app_label)s_%(class)s_revoker_means_revoked",
            ),
        ]
        indexes = [models.Index(fields=["owner", "-created_at", "id"], name="corpus_apikey_by_owner")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix})"


class KeyUse(models.Model):
    """When a key was used within its last minute, oldest first: what the limit is counted by."""

    key = models.OneToOneField(ApiKey, primary_key=True, on_delete=models.CASCADE, related_name="+")
    moments = ArrayField(models.DateTimeField())

    def __str__(self) -> str:
        return f"Use of {self.key_id}"
