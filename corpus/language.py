"""Which language a text is in, told by its commonest words. Pure; decides how a document is indexed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

DEFAULT = "en"

_COMMON = {
    "da": "og at det er en af til på ikke med den der som for de et har kan fra blev også",
    "de": "der die und das ist von den mit zu für auf ein eine nicht des dem sich werden auch im wird bei",
    "en": "the of and to in is that for with was are as by on be this from at which were it an",
    "es": "el los las una que del por con para como más es se en la y un su entre al sobre fue",
    "fi": "ja on ei että se oli joka tai kun myös ovat sekä ole mukaan hän olla sen voidaan",
    "fr": "le la les des et est une dans que pour qui du en sur par pas au avec ce sont aux plus ces",
    "hu": "és az egy hogy nem van is a volt meg csak mint vagy ezt lehet azonban ki mely",
    "it": "il che di della per con una sono gli del nel anche non la si dei da alla delle nella più",
    "nl": "het een van en de is dat niet zijn voor met op aan te door wordt bij ook als uit worden",
    "no": "og at det er en av til på ikke med den som for de et har kan fra ble også etter",
    "pt": "os uma não para com dos que da em ao mais pelo do um as na no foi por são como",
    "ru": "и в не на что с по как это для из от при или к быть но также был его",
    "sv": "och att det som en är för inte med på av till den har ett kan från om var vid",
    "tr": "ve bir bu için ile olarak de da olan daha gibi çok en sonra kadar ancak her",
}
_WORDS = {code: frozenset(words.split()) for code, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH_WORDS = 25
_MAX_WORDS = 20_000
# In running text a third to a half of all words are among the commonest; lists of names have hardly any.
_LEAST_SHARE = 0.12
_CLEARLY_MORE = 1.2


def language_of(texts: Iterable[str]) -> str:
    """Return the code of the language of `texts`; English where they are too short or do not tell."""
    counts: Counter[str] = Counter()
    total = 0
    for text in texts:
        words = _WORD.findall(text.lower())
        counts.update(words)
        total += len(words)
        if total >= _MAX_WORDS:
            break
    if total < _ENOUGH_WORDS:
        return DEFAULT
    shares = {code: sum(counts[word] for word in words) / total for code, words in _WORDS.items()}
    best = max(shares, key=lambda code: (shares[code], code))
    is_clear = shares[best] >= _LEAST_SHARE and shares[best] >= shares[DEFAULT] * _CLEARLY_MORE
    return best if is_clear else DEFAULT
