"""The page of what models were used for. Whoever may not see it gets what a missing one gives."""

from __future__ import annotations

import csv
import io

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from corpus.signed_in import person
from corpus.spreadsheets import neutral
from corpus.usage import queries
from corpus.usage.forms import UsageForm


@login_required
@require_safe
def usage(request: HttpRequest) -> HttpResponse:
    """Show what was used, put together as asked."""
    _require_may_look(request)
    form = UsageForm(request.GET or None)
    by, days = form.wanted() if form.is_bound else ("purpose", queries.DAYS)
    rows = queries.since(days)
    context = {
        "form": form,
        "by": by,
        "days": days,
        "label": dict(form.fields["by"].choices)[by],  # type: ignore[attr-defined]
        "total": queries.total(rows),
        "rows": queries.grouped(rows, by),
    }
    return render(request, "corpus/usage.html", context)


@login_required
@require_safe
def usage_csv(request: HttpRequest) -> HttpResponse:
    """Send the rows of the ledger as a table that a spreadsheet opens without doing anything."""
    _require_may_look(request)
    _, days = UsageForm(request.GET).wanted()
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    for line in queries.lines(queries.since(days)):
        writer.writerow([neutral(cell) for cell in line])
    response = HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="model-use-{queries.today()}.csv"'
    return response


def _require_may_look(request: HttpRequest) -> None:
    if not queries.may_look(person(request)):
        raise Http404
