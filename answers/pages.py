"""What the answer pages show: a stored answer as its reader may see it today, in words and counts."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from answers import condensed_words, differing, reading, rendering, withheld_words, wording
from answers.actions import answers as actions
from answers.forms import pairs
from answers.models import EXTRACTIVE, Answer, Finding
from answers.reading import ReadableAnswer, ReadableFinding
from corpus.scope import RetrievalScope, scope

# After these the reader is offered what stands in the passages, word for word.
_OFFER_EXTRACTIVE = {
    Answer.Finish.MODEL_FAILED,
    Answer.Finish.UNCITED,
    Answer.Finish.CANCELLED,
    Answer.Finish.ABANDONED,
}
_NOT_ANSWERED = {Answer.Finish.NO_SOURCES, Answer.Finish.NOT_COVERED}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the answer with what the check of its citations found."""

    quote: str
    finding: ReadableFinding


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """A stored answer, ready for its template."""

    shown: ReadableAnswer
    html: SafeString
    notice: wording.Notice | None
    sentences: tuple[Sentence, ...]
    check: str
    searched: wording.Searched
    scope_pairs: tuple[tuple[str, str], ...]
    condensed: str
    withheld: str
    differences: tuple[differing.Difference, ...]
    offers_extractive: bool
    alternatives: tuple[Answer, ...]
    is_own: bool = False
    neighbours: tuple[Answer, ...] = ()

    @property
    def is_refusal(self) -> bool:
        """Whether the corpus had no answer, so that something might be acquired."""
        return self.answer.finish in _NOT_ANSWERED

    @property
    def answer(self) -> Answer:
        """The stored row."""
        return self.shown.answer

    @property
    def engine(self) -> str:
        """What wrote the text."""
        return wording.engine_name(self.answer)

    @property
    def doubtful(self) -> tuple[Sentence, ...]:
        """The sentences a reader should look at twice."""
        return tuple(s for s in self.sentences if s.finding.kind != Finding.Kind.SUPPORTED)

    @property
    def supported(self) -> tuple[Sentence, ...]:
        """The sentences whose numbers and words stand in the passage they cite."""
        return tuple(s for s in self.sentences if s.finding.kind == Finding.Kind.SUPPORTED)


def own_answer(user: User, answer_id: str) -> Answer | None:
    """Return the user's own answer; None for anybody else's and for what is no id."""
    try:
        return Answer.objects.filter(asked_by=user, id=uuid.UUID(answer_id)).first()
    except ValueError:
        return None


def answer_page(user: User | AnonymousUser, answer_id: uuid.UUID) -> AnswerPage | None:
    """Return what `user` may read of the answer; None alike for one that is absent or not theirs."""
    shown = readable_answer(user, answer_id)
    if shown is None:
        return None
    is_own = shown.answer.asked_by_id is not None and shown.answer.asked_by_id == user.pk
    return replace(page_of(shown), is_own=is_own, neighbours=_neighbours(shown.answer) if is_own else ())


def readable_answer(user: User | AnonymousUser, answer_id: uuid.UUID) -> ReadableAnswer | None:
    """Return the answer as `user` may read it; one whose process is gone is ended on the way.

    Somebody else's is looked for as one that is not there would be: by the same statement, untouched.
    """
    rows = reading.theirs(user).select_related("asked_by", "instead_of", "follows", "conversation")
    found = rows.filter(id=answer_id).first()
    if found is not None and not found.finish and actions.close_if_abandoned(found, now=timezone.now()):
        found = rows.get(id=answer_id)
    return None if found is None else reading.readable(found, user)


def page_of(shown: ReadableAnswer) -> AnswerPage:
    """Put a readable answer into words."""
    answer = shown.answer
    sentences = tuple(Sentence(shown.text[f.start : f.end], f) for f in shown.findings)
    others = answer.alternatives.filter(asked_by=answer.asked_by_id)
    alternatives = tuple(sorted(others, key=lambda other: (other.created_at, other.pk)))
    offers = answer.finish in _OFFER_EXTRACTIVE and answer.engine != EXTRACTIVE and not alternatives
    return AnswerPage(
        shown=shown,
        html=rendering.render(shown.text, shown.sources),
        notice=wording.notice(shown),
        sentences=sentences,
        check=_check(shown.findings),
        searched=wording.searched(answer),
        condensed=condensed_words.of(answer),
        withheld=withheld_words.of(answer),
        differences=differing.differences(shown),
        scope_pairs=tuple(pairs(requested_scope(answer))),
        offers_extractive=offers,
        alternatives=alternatives,
    )


def _neighbours(answer: Answer) -> tuple[Answer, ...]:
    """Return the turns next to this one: the last before it and the first after it."""
    if answer.conversation_id is None:
        return ()
    others = Answer.objects.filter(conversation=answer.conversation_id).only("id", "question", "created_at")
    before = Q(created_at__lt=answer.created_at) | Q(created_at=answer.created_at, id__lt=answer.id)
    last = others.filter(before).order_by("-created_at", "-id").first()
    following = others.exclude(pk=answer.pk).exclude(before).order_by("created_at", "id").first()
    return tuple(turn for turn in (last, following) if turn is not None)


def requested_scope(answer: Answer) -> RetrievalScope:
    """Return the scope the asker wanted, so that the same can be asked again."""
    return scope(**answer.requested_scope)


def _check(findings: tuple[ReadableFinding, ...]) -> str:
    total = len(findings)
    if not total:
        return ""
    supported = sum(finding.kind == Finding.Kind.SUPPORTED for finding in findings)
    if supported == total:
        return ngettext(
            "The one sentence is supported by the passage it cites.",
            "All %(total)s sentences are supported by the passages they cite.",
            total,
        ) % {"total": total}
    return _("%(supported)s of %(total)s sentences are supported by the passages they cite.") % {
        "supported": supported,
        "total": total,
    }
