"""The four roles the product ships: groups with their permissions and ceilings."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.apps import apps as installed_apps
from django.contrib.auth.management import create_permissions
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Q

from corpus.rights import ALL_CLASSES, LicenseClass

LIBRARIAN = "librarian"
ASKER = "asker"
EXPERT = "expert"
ADMINISTRATOR = "administrator"

# Only members of these may enter the admin.
STAFF_ROLES = (LIBRARIAN, ADMINISTRATOR)

_OPEN = (LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL)
CEILINGS: dict[str, tuple[LicenseClass, ...]] = {
    LIBRARIAN: ALL_CLASSES,
    ASKER: _OPEN,
    EXPERT: _OPEN,
    ADMINISTRATOR: ALL_CLASSES,
}

_ASKING = ("answers.add_answer",)
_CURATING = (
    "corpus.view_document",
    "corpus.change_document",
    "corpus.change_license",
    "corpus.view_source",
    "corpus.add_source",
    "corpus.change_source",
    "corpus.view_editorialevent",
    "corpus.add_editorialevent",
    "corpus.delete_editorialevent",
    "corpus.view_rightsdecision",
    "corpus.view_reviewitem",
    "corpus.change_reviewitem",
    "corpus.view_accessrequest",
    "corpus.change_accessrequest",
    "corpus.view_ingestionrun",
    "corpus.add_ingestionrun",
    "corpus.view_ingestionitem",
    "corpus.view_campaign",
    "corpus.add_campaign",
    "corpus.change_campaign",
    "corpus.view_webhook",
    "corpus.add_webhook",
    "corpus.change_webhook",
    "corpus.delete_webhook",
    "corpus.view_webhookdelivery",
    "answers.view_answer",
    "answers.view_acquisitionrequest",
    "answers.change_acquisitionrequest",
    "retrieval.view_mergeproposal",
    "retrieval.change_mergeproposal",
    "retrieval.view_resolutionaudit",
    "retrieval.view_entity",
)
_JUDGING = ("answers.view_wrongreport", "answers.change_wrongreport")
_READING_NUMBERS = (
    "evaluation.view_question",
    "evaluation.view_questionset",
    "evaluation.view_evaluationrun",
)
_EVALUATING = (
    *_READING_NUMBERS,
    "evaluation.add_question",
    "evaluation.change_question",
    "evaluation.add_questionset",
    "evaluation.add_evaluationrun",
    "evaluation.add_calibrationqueue",
)
# A signature is an expert's: nobody else gives it, an administrator neither.
_SIGNING = ("evaluation.sign_question",)
# Grades by which a judge is measured are an expert's too.
_LABELLING = ("evaluation.add_calibrationlabel",)
_ADMINISTERING = (
    "auth.view_user",
    "auth.add_user",
    "auth.change_user",
    "auth.view_group",
    "auth.add_group",
    "auth.change_group",
    "auth.delete_group",
    "corpus.view_groupceiling",
    "corpus.add_groupceiling",
    "corpus.change_groupceiling",
    "corpus.delete_groupceiling",
    "corpus.view_certificate",
    "corpus.add_certificate",
    "corpus.view_groupmapping",
    "corpus.add_groupmapping",
    "corpus.delete_groupmapping",
    "corpus.oversee_webhooks",
    "corpus.view_modeluse",
    "corpus.view_backuprun",
    "corpus.view_apikey",
    "corpus.add_apikey",
    "corpus.change_apikey",
)
PERMISSIONS: dict[str, tuple[str, ...]] = {
    LIBRARIAN: _ASKING + _CURATING + _JUDGING + _READING_NUMBERS,
    ASKER: _ASKING,
    EXPERT: _ASKING + _JUDGING + _EVALUATING + _SIGNING + _LABELLING,
    ADMINISTRATOR: _ASKING + _CURATING + _JUDGING + _EVALUATING + _ADMINISTERING,
}


def create_missing_roles(
    sender: AppConfig, using: str = DEFAULT_DB_ALIAS, apps: Any = installed_apps, **_: object
) -> None:
    """Create the roles that do not exist yet, after every migration.

    An existing group is left alone: what an administrator took from a role stays taken. Permissions
    of models that come later are granted by the migration that brings them.
    """
    try:
        ceilings = apps.get_model("corpus", "GroupCeiling").objects.using(using)
        groups = apps.get_model("auth", "Group").objects.using(using)
        permissions = apps.get_model("auth", "Permission").objects.using(using)
    except LookupError:
        return  # Migrating to a state before these tables.
    missing = [name for name in CEILINGS if not groups.filter(name=name).exists()]
    if not missing:
        return
    # Rows of apps whose own turn in this signal has not come yet.
    for config in installed_apps.get_app_configs():
        create_permissions(config, verbosity=0, using=using, apps=apps)
    with transaction.atomic(using=using):
        for name in missing:
            group = groups.create(name=name)
            group.permissions.set(permissions.filter(_any_of(PERMISSIONS[name])))
            ceilings.create(group=group, license_classes=[str(item) for item in CEILINGS[name]])


def _any_of(labels: tuple[str, ...]) -> Q:
    condition = Q(pk__in=[])
    for label in labels:
        app, codename = label.split(".")
        condition |= Q(content_type__app_label=app, codename=codename)
    return condition
