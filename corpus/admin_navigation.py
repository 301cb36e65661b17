"""The admin's side bar and style sheet."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _

# Title and screens of each group: name, icon, route, the permission that opens it.
_Screen = tuple[str, str, str, str]
# Pages of the site that belong to the work of administrators.
_OUTSIDE = frozenset({"usage", "doctor", "system"})


def stylesheet(request: HttpRequest) -> str:
    """Return the address of what the admin adds to Unfold's own styles."""
    return static("css/admin.css")


def icon(request: HttpRequest) -> str:
    """Return the address of the site's icon."""
    return static("icon.svg")


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups of screens that are open to whoever is signed in."""
    groups: list[tuple[str, list[_Screen]]] = [
        (
            _("Corpus"),
            [
                (_("Documents"), "description", "corpus_document_changelist", "corpus.view_document"),
                (_("Sources"), "menu_book", "corpus_source_changelist", "corpus.view_source"),
                (_("Review queue"), "fact_check", "corpus_reviewitem_queue", "corpus.change_license"),
                (_("Suggestions"), "rule", "corpus_reviewitem_changelist", "corpus.view_reviewitem"),
                (
                    _("Requests for access"),
                    "key",
                    "corpus_accessrequest_changelist",
                    "corpus.view_accessrequest",
                ),
                (
                    _("Rights decisions"),
                    "gavel",
                    "corpus_rightsdecision_changelist",
                    "corpus.view_rightsdecision",
                ),
            ],
        ),
        (
            _("Taking in"),
            [
                (_("Runs"), "move_to_inbox", "corpus_ingestionrun_changelist", "corpus.view_ingestionrun"),
                (_("Files"), "draft", "corpus_ingestionitem_changelist", "corpus.view_ingestionitem"),
                (_("Campaigns"), "travel_explore", "corpus_campaign_changelist", "corpus.view_campaign"),
            ],
        ),
        (
            _("Knowledge graph"),
            [
                (
                    _("Entities that may be one"),
                    "join",
                    "retrieval_mergeproposal_queue",
                    "retrieval.change_mergeproposal",
                ),
                (
                    _("Merges and splits"),
                    "call_split",
                    "retrieval_resolutionaudit_changelist",
                    "retrieval.view_resolutionaudit",
                ),
                (_("Entities"), "hub", "retrieval_entity_changelist", "retrieval.view_entity"),
            ],
        ),
        (
            _("Other systems"),
            [
                (_("Keys"), "vpn_key", "corpus_apikey_changelist", "corpus.view_apikey"),
                (_("Webhooks"), "webhook", "corpus_webhook_changelist", "corpus.view_webhook"),
                (
                    _("Deliveries"),
                    "send",
                    "corpus_webhookdelivery_changelist",
                    "corpus.view_webhookdelivery",
                ),
            ],
        ),
        (
            _("Use"),
            [
                (_("Answers"), "forum", "answers_answer_changelist", "answers.view_answer"),
                (
                    _("Requests for documents"),
                    "add_shopping_cart",
                    "answers_acquisitionrequest_changelist",
                    "answers.view_acquisitionrequest",
                ),
                (
                    _("Reported as wrong"),
                    "flag",
                    "answers_wrongreport_changelist",
                    "answers.view_wrongreport",
                ),
                (_("Model use"), "payments", "usage", "corpus.view_modeluse"),
            ],
        ),
        (
            _("Evaluation"),
            [
                (
                    _("Question sets"),
                    "quiz",
                    "evaluation_questionset_changelist",
                    "evaluation.view_questionset",
                ),
                (_("Questions"), "help", "evaluation_question_changelist", "evaluation.view_question"),
            ],
        ),
        (
            _("People"),
            [
                (_("Accounts"), "person", "auth_user_changelist", "auth.view_user"),
                (_("Roles and ceilings"), "badge", "auth_group_changelist", "auth.view_group"),
                (
                    _("Groups of the provider"),
                    "group_add",
                    "corpus_groupmapping_changelist",
                    "corpus.view_groupmapping",
                ),
                (
                    _("Certificates"),
                    "verified_user",
                    "corpus_certificate_changelist",
                    "corpus.view_certificate",
                ),
            ],
        ),
        (
            _("The site"),
            [
                (_("Backups"), "backup", "corpus_backuprun_changelist", "corpus.view_backuprun"),
                (_("Doctor"), "stethoscope", "doctor", "corpus.view_backuprun"),
                (_("System"), "dns", "system", "corpus.view_modeluse"),
            ],
        ),
    ]
    home = {"title": _("What waits for you"), "icon": "inbox", "link": reverse("admin:index")}
    return [
        {"title": "", "items": [home]},
        *({"title": title, "items": _open(screens, request)} for title, screens in groups),
    ]


def _open(screens: list[_Screen], request: HttpRequest) -> list[dict[str, Any]]:
    links = [
        (title, icon, reverse(route if route in _OUTSIDE else f"admin:{route}"))
        for title, icon, route, permission in screens
        if request.user.has_perm(permission)
    ]
    # A screen may lie below another one: only the innermost is where somebody is.
    here = max((link for _title, _icon, link in links if request.path.startswith(link)), key=len, default="")
    return [
        {"title": title, "icon": icon, "link": link, "active": link == here} for title, icon, link in links
    ]
