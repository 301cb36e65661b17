"""Passwords that somebody who knows this site would try first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# What the site is, who uses it and what it is about; docs/operating.md lists them.
WORDS = (
    "scirag",
    "library",
    "librarian",
    "laboratory",
    "papers",
    "corpus",
    "evidence",
    "curator",
    "password",
)
# So much of a password may be such a word and what stands around it: the rest has to be its own.
SHORTEST_REST = 8
_BESIDES = re.compile(r"[\W_0-9]+")


class NotOfThisSite:
    """Refuses passwords that are a word of this site with a few letters or a year around it."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise `ValidationError` for one."""
        letters = _BESIDES.sub("", password.casefold())
        for word in self._words():
            if word in letters and len(letters.replace(word, "")) < SHORTEST_REST:
                raise ValidationError(self.get_help_text(), code="password_of_this_site")

    def get_help_text(self) -> str:
        """Return what is asked of a password."""
        return _("Your password can’t be a word of this site with little else.")

    def _words(self) -> list[str]:
        hosts = (part for host in settings.ALLOWED_HOSTS for part in host.casefold().split("."))
        named = _BESIDES.sub("", settings.SCI_RAG_OIDC_NAME.casefold())
        return [*WORDS, *(word for word in (*hosts, named) if len(word) > 3 and word.isalpha())]
