"""The wording of rights statements: how licences are named in a sentence, and what limits them.

All patterns expect lower case, single spaces, and "-" for every dash. They are written so that what is
not recognised leaves the statement unread: a missed licence costs a look, an invented one a leak.
"""

from __future__ import annotations

import re
from functools import cache

from corpus.licensing.creative_commons import ELEMENT
from corpus.licensing.tables import jurisdictions
from corpus.rights import LicenseClass

_DATA = (
    r"data(?:sets?|bases?)?|metadata|code|software|scripts?|figures?|images?|photo\w*|tables?|maps?|videos?"
    r"|materials|supplement\w*|abstracts?|subsets?|corpus|corpora|collections?|repositor(?:y|ies)|logos?"
    r"|icons?|illustrations?|templates?|information|reviewers?|referees?|peer[- ]review (?:reports?|files?)"
)
_TEXT = (
    r"articles?|papers?|works?|publications?|manuscripts?|chapters?|books?|reports?|documents?|contents?"
    r"|journals?|preprints?|reviews?|texts?|thes[ie]s|authors?|proceedings|versions?|editorials?|letters?"
)

# What a sentence speaks of: the text, or something that comes with it.
SUBJECTS = re.compile(rf"\b(?:(?P<other>{_DATA})|(?:{_TEXT}))\b")

OF_THE_DATA = re.compile(rf"[^.;]{{0,600}}?\b(?:appl(?:y|ies) to|for) (?:the |all |its |our )?(?:{_DATA})\b")
OF_ANOTHER_WORK = re.compile(
    r"\b(?:adapted|reproduced|reprinted|redrawn|modified|taken|derived|courtesy|contains?"
    r"|based on|translated|we|(?:earlier|previous) versions?)\b|\bsource:"
)
BEGINS_A_GRANT = re.compile(
    r"licen[sc]|distribut|publish|releas|availab|permit|provid|shared|terms|conditions|copyright"
    r"|open[- ]access|©|\(c\)|rights|under|dedicat|waive"
)

# The statement tells when or for whom a licence would hold, or that one does not.
CONDITIONAL = re.compile(
    r"\b(?:choos\w+|choice of|either|eligible|depend(?:s|ing)|embargo\w*|until|no longer|formerly|previously"
    r"|contributed to by|other than|portions of|unless the authors?"
    r"|(?:may|can|could|would|should|will|shall) be (?:made |published |released |licen[sc]ed )?"
    r"(?:available|published|released|licen[sc]ed|under)"
    r"|after (?:an? |the )?(?:\w+[ -]){0,2}(?:months?|years?)|for the first \w+ (?:months|years)"
    r"|(?:from|starting|effective|beginning|as of) (?:\w+[ ,]+){0,3}(?:19|20)\d\d"
    r"|pending|requested|revoked|expired|withdrawn|terminated|rescinded|subscri(?:bers?|ptions?)"
    r"|(?:abstract|title|authors?|part|parts) only|only the (?:abstract|title)"
    r"|except (?:for )?(?:the )?(?:full )?text"
    r"|licen[sc]ed to (?:the )?(?:publisher|journal|society|\w+ (?:press|publish\w+))"
    r"|for (?:\w+,? (?:and |or )?)?(?:personal|private|academic|educational|teaching|scholarly)"
    r" (?:use|uses|purposes?)|(?:personal|private|academic|educational|research|internal) use only"
    r"|version of record (?:is|remains)"
    r"|not (?:yet|a|an|in|the|under(?! (?:[\w.]+ )?copyright)|licen[cs]ed|distributed|published"
    r"|released|available|covered|open|subject(?! to (?:[\w.]+ )?copyright))"
    r"|not (?:granted|applicable|valid)|does not (?:apply|cover|extend)"
    r"|not be (?:licen[cs]ed|distributed under|published|released|available))\b"
)

CLOSES_ALL = re.compile(
    r"all rights (?:are )?reserved|no part of (?:this|the) [^.]{0,80}may be (?:reproduced|copied)"
    r"|\bnot\b[^.]{0,120}without [^.]{0,40}(?:permission|consent)|for personal use only|personal use only"
)
CLOSES_UNLESS_OPEN = re.compile(
    r"for permissions?,? (?:please,? )?(?:e-?mail|contact|write)|with permission (?:of|from)"
    r"|\bexclusive licen[cs]|arxiv[^.]{0,60}non-?exclusive licen[sc]e|\bproprietary\b|crown copyright"
    r"|text and data mining licen[sc]e|\buser licen[cs]e|permission (?:is|must be) (?:required|obtained)"
    r"|terms of use|terms and conditions"
)

_BOTH_USES = re.compile(
    r"(?<![a-z-])commercial(?:ly)?(?: \w+)?(?: and/or | and | or |, | as well as )non-?commercial\w*"
    r"|non-?commercial\w*(?: \w+)?(?: and/or | and | or |, | as well as )commercial\w*"
)
# As licences and publishers of other languages write it, and as it is mistyped.
_NON_COMMERCIAL = (
    r"\bnon?[- ]?com{1,2}er\w*|\bn[aã]o[- ]?comercia\w*|pas d['’ ]?utilisation commerciale"
    r"|(?:sans|non) (?:usage|utilisation) commercia\w*|nicht[- ]?kom+er\w*|kein\w* kom+er\w*"
    r"|\bni(?:et|cht)[- ]?com+er\w*|\bi(?:kk|ck|nt)e[- ]?kom+er\w*|\bnekom\w*|\bniekomercyjn\w*|некоммерч\w*"
    r"|非商[业業]|非商用|非営利|비영리|gayri ?ticari"
)
_NO_COMMERCIAL_USE = re.compile(
    rf"{_NON_COMMERCIAL}"
    r"|non[- ]?commercial|\b(?:not?|non) (?:for |be used for |permit |allow )?(?:any )?commercial"
    r"|(?<!non-)commercial (?:re-?)?use[^.]{0,60}(?:contact|permission|prohibited|not (?:permitted|allowed))"
    r"|(?:prohibit|exclud|forbid|restrict)\w*[^.]{0,30}commercial"
)
NO_DERIVATIVES = re.compile(
    r"no[- ]?deriv|sin[- ]?(?:obra)?[- ]?deriva|se[mn][- ]?deriva|pas de modification|keine bearbeitung"
    r"|non opere derivate|geen afgeleide|\bnot (?:be )?(?:altered|changed|transformed|modified|adapted)"
)

_CC_CODE = (
    r"(?<![\w/.-])(?:cc|creative commons)[ _-]?(?:by(?:[ /_-]?(?:nc|nd|sa)(?![a-z]))*|0|zero)"
    r"(?:[ _-]?v?\d(?:\.\d)?(?!\d))?(?:-[a-z]{2,8}\b|[ ](?:igo|international|unported|generic|universal)\b)?"
)
# A name ends at the end of the text or at a mark that is not followed by more of a number; years may follow.
_END = r"\s*(?:$|[,;:)(\]\"”](?!\s*v?[.,]?\d(?!\d{3}\b))|\.(?=$|[\s)\]\"”'(](?!\.?\d(?!\d{3}\b))))"
_AFTER_A_NAME = re.compile(rf"{_END}|\s+(?:which|that|permitting|and|as|is|terms)\b")
_AFTER_A_CODE = re.compile(
    rf"{_END}"
    r"|\s+(?:licen[sc]e|deed|which|that|permitting|and|as|is|are|terms|unless|except|by|from|for|applies"
    r"|public domain (?:dedication|waiver)|waiver|dedication)\b"
)
_AFTER_THE_WORD = re.compile(r"(?![-/+\w])")

# Licences named in words whose class the name alone decides, and whether the words themselves say that
# the text has them.
NAMED = (
    (
        re.compile(
            r"(?:(?:creative commons )?(?:cc ?0 )?(?:1\.0 )?(?:universal )?"
            r"public domain (?:dedication|waiver)|creative commons public domain mark(?: 1\.0)?)"
        ),
        LicenseClass.PUBLIC,
        "Dedicated to the public domain.",
        False,
    ),
    (
        re.compile(
            r"\b(?:article|paper|publication|work|report|document|text|content|chapter)s?(?: of [\w-]+)?"
            r" (?:is|are|lies?|was|were|(?:has|have) been (?:placed|released|dedicated))(?: \w+ly)?"
            r" (?:in|into|to) the public domain|free of all copyright"
            r"|\bworks? of the (?:u\.? ?s\.?|united states)(?: federal)? government"
            r"|\b(?:u\.s\.|us|united states)(?: federal)? government works?\b"
        ),
        LicenseClass.PUBLIC,
        "Stated to be in the public domain.",
        True,
    ),
    (
        re.compile(
            r"\b(?:uk |free )?open government licen[cs]e(?: \(ogl\)| -? ?canada)?"
            r"(?:,? (?:version |v\.? ?)?[123](?:\.0)?)?(?: - canada)?(?: licen[cs]e)?"
        ),
        LicenseClass.OPEN_COMMERCIAL,
        "Open Government Licence.",
        False,
    ),
    (
        re.compile(r"\bnon-?commercial government licen[cs]e(?:,? (?:version |v\.? ?)?[12](?:\.0)?)?"),
        LicenseClass.OPEN_NONCOMMERCIAL,
        "Non-Commercial Government Licence.",
        False,
    ),
    (
        re.compile(
            r"\bgnu free documentation licen[sc]e(?:,? (?:version |v\.? ?)?1\.[123](?: or later| only)?)?"
            r"|\bgnu (?:lesser |affero )?general public licen[sc]e"
            r"(?:,? (?:version |v\.? ?)?(?:2\.1|[123](?:\.0)?)(?: or later| only)?)?|\bmit licen[sc]e"
            r"|\bapache licen[sc]e,? (?:version |v\.? ?)?2\.0"
        ),
        LicenseClass.OPEN_COMMERCIAL,
        "Free software or documentation licence.",
        False,
    ),
)


def limits_commercial_use(words: str) -> bool:
    """Whether `words` keep commercial use from the reader."""
    return _NO_COMMERCIAL_USE.search(_BOTH_USES.sub(" ", words)) is not None


@cache
def cc_name() -> re.Pattern[str]:
    """Return the pattern of a Creative Commons licence's name: "Creative Commons Attribution ..."."""
    flavours = ["international", "unported", "generic", "universal"]
    flavours += list(jurisdictions().values())
    return re.compile(
        r"(?:\bcreative[ -]?commons(?:['’]s)?(?: \(cc\))?(?: licen[sc]e)?[ :-]*|\bcc[ :-]*"
        r"|^[\"'“(]?(?=attribution[ -][^.]*\d\.\d))attribution"
        rf"(?P<elements>(?:[ ,/-]*(?:and )?{ELEMENT}\b)*)"
        r"(?:(?: licen[sc]e)?[ ,(-]*(?:version|v\.?)?[ ]*(?P<version>\d\.\d))?"
        rf"(?:[ ,(]*(?P<flavour>{'|'.join(map(re.escape, sorted(flavours, key=len, reverse=True)))})\b\)?)?"
        r"(?: public)?(?P<word> licen[sc]es?\b)?"
    )


def name_ends(found: re.Match[str], text: str) -> bool:
    """Whether a licence's name ends where `found` does, and does not go on in words nobody knows."""
    if found["version"] and not found["word"] and not found["flavour"]:
        return after_a_code(text, found.end())
    if found["word"] or found["flavour"]:
        return _AFTER_THE_WORD.match(text, found.end()) is not None
    return _AFTER_A_NAME.match(text, found.end()) is not None


def after_a_code(text: str, end: int) -> bool:
    """Whether what stands at `end` lets a licence's code or name end there."""
    return _AFTER_A_CODE.match(text, end) is not None


def has_only_strange_words(text: str) -> bool:
    """Whether what is left of `text` beside a licence's name neither grants nor speaks of a work."""
    words = re.sub(r"[\s.,;:()\[\]\"'“”‘’|<>–—-]+", "", text)
    without = re.sub(r"\bversions?\b", " ", text)
    of_the_text = any(not found["other"] for found in SUBJECTS.finditer(without))
    return bool(words) and not (of_the_text or BEGINS_A_GRANT.search(without))


def codes(text: str) -> list[tuple[int, int, str]]:
    """Return where codes such as "cc by-nc 4.0" stand, and each as a code, "" where it goes on strangely."""
    found = re.finditer(_CC_CODE, text)
    return [
        (
            one.start(),
            one.end(),
            one[0].replace("creative commons", "cc") if after_a_code(text, one.end()) else "",
        )
        for one in found
    ]
