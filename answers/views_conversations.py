"""The history, the page of a conversation, and what its owner does with it."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from answers import conversation_pages
from answers.actions import conversations as actions
from answers.conversations import Conversation
from answers.exports.forms import FORMS
from answers.forms import TitleForm
from corpus.signed_in import person

PAGE_SIZE = 20


@login_required
@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """List the reader's own conversations, the last one first."""
    user = person(request)
    text = request.GET.get("q", "").replace("\0", "")[:300].strip()
    rows = conversation_pages.found(user, text)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "entries": conversation_pages.entries(user, list(page.object_list), text),
        "text": text,
        "query": urlencode({"q": text}) if text else "",
        "has_any": Conversation.objects.filter(asked_by=user).exists(),
    }
    fragment = "#results" if getattr(request, "htmx", False) else ""
    return render(request, "answers/history.html" + fragment, context)


@login_required
@require_safe
def conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Show the turns of one's own conversation, each as far as its evidence may be seen today."""
    found = _own(request, conversation_id)
    rows = found.answers.order_by("created_at", "id").only("pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "conversation": found,
        "title": conversation_pages.title_of(found),
        "page": page,
        "turns": conversation_pages.turns_of(person(request), list(page.object_list)),
        "forms": FORMS.values(),
    }
    return render(request, "answers/conversation.html", context)


@login_required
@require_POST
def rename(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Give one's own conversation another title."""
    found = _own(request, conversation_id)
    form = TitleForm(request.POST)
    if form.is_valid():
        actions.rename(conversation=found, title=form.cleaned_data["title"], by=person(request))
    else:
        messages.error(request, _("A title may have 200 characters. It was not changed."))
    return HttpResponseRedirect(reverse("conversation", args=[found.pk]))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Ask whether one's own conversation is to be deleted; delete it when it is said so."""
    found = _own(request, conversation_id)
    if request.method != "POST":
        context = {
            "conversation": found,
            "title": conversation_pages.title_of(found),
            "count": found.answers.count(),
        }
        return render(request, "answers/conversation_delete.html", context)
    count = actions.delete(conversation=found, by=person(request))
    told = ngettext("%(n)s question deleted.", "%(n)s questions deleted.", count) % {"n": count}
    messages.success(request, told)
    return HttpResponseRedirect(reverse("answers"))


def _own(request: HttpRequest, conversation_id: uuid.UUID) -> Conversation:
    found = conversation_pages.own_conversation(person(request), conversation_id)
    if found is None:
        raise Http404
    return found
