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
    r"|not (?:yet|a|an|in|the|under(?! (?:[\w.]+ )?copyright)|licen[cs]ed|distributed|published"
    r"|released|available|covered|open|subject(?! to (?:[\w.]+ )?copyright))"
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
_NO_COMMERCIAL_USE = re.compile(
    r"non[- ]?commercial|\b(?:not?|non) (?:for |be used for |permit |allow )?(?:any )?commercial"
    r"|(?<!non-)commercial (?:re-?)?use[^.]{0,60}(?:contact|permission|prohibited|not (?:permitted|allowed))"
    r"|(?:prohibit|exclud|forbid|restrict)\w*[^.]{0,30}commercial"
)
NO_DERIVATIVES = re.compile(r"no[- ]?deriv|\bnot (?:be )?(?:altered|changed|transformed|modified|adapted)")

_CC_CODE = (
    r"(?<![\w/.-])(?:cc|creative commons)[ _-]?(?:by(?:[ /_-]?(?:nc|nd|sa)(?![a-z]))*|0|zero)"
    r"(?:[ _-]?v?\d(?:\.\d)?(?!\d))?(?:-[a-z]{2,8}\b|[ ](?:igo|international|unported|generic|universal)\b)?"
)
_AFTER_A_NAME = re.compile(r"\s*(?:$|[.,;:)(\]\"”])|\s+(?:which|that|permitting|and|as|is|terms)\b")
_AFTER_A_CODE = re.compile(
    r"\s*(?:$|[.,;:)(\]\"”])"
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
            r"(?:uk |free )?open government licen[cs]e(?: -? ?canada)?(?:,? (?:version |v\.? ?)?\d(?:\.\d)?)?"
        ),
        LicenseClass.OPEN_COMMERCIAL,
        "Open Government Licence.",
        False,
    ),
    (
        re.compile(r"non-?commercial government licen[cs]e"),
        LicenseClass.OPEN_NONCOMMERCIAL,
        "Non-Commercial Government Licence.",
        False,
    ),
    (
        re.compile(
            r"\bgnu (?:free documentation|(?:lesser |affero )?general public) licen[sc]e|\bmit licen[sc]e"
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
    if found["word"] or found["version"] or found["flavour"]:
        return _AFTER_THE_WORD.match(text, found.end()) is not None
    return _AFTER_A_NAME.match(text, found.end()) is not None


def codes(text: str) -> list[tuple[int, int, str]]:
    """Return where codes such as "cc by-nc 4.0" stand, and each as a code, "" where it goes on strangely."""
    found = re.finditer(_CC_CODE, text)
    return [
        (
            one.start(),
            one.end(),
            one[0].replace("creative commons", "cc") if _AFTER_A_CODE.match(text, one.end()) else "",
        )
        for one in found
    ]
