"""How orders to models are worded. Each pattern is bounded: no nested or unbounded repetition. Pure."""

from __future__ import annotations

import re
from typing import Final

# Between a verb and its object stand a few words at most.
_FEW = r"(?:[\w'’]{1,20}[ ,:-]{1,3}){0,6}"
_FEWER = r"(?:[\w'’]{1,20}[ ,:-]{1,3}){0,3}"
_MODEL = (
    r"(?:ai|a\.i\.|llms?|language models?|chat ?bots?|chatgpt|gpt(?:-?\d)?|claude|gemini|copilot|"
    r"(?:ai|virtual|digital) assistants?|ai agents?)"
)
_RULES = (
    r"(?:instructions?|prompts?|rules|guidelines|directions|directives|commands?|orders|constraints|"
    r"programming|safety (?:rules|guidelines))"
)

_WORDED: Final = (
    # Override: "ignore all previous instructions".
    (
        r"\b(?:ignore|disregard|forget|override|bypass|discard|do not follow|stop following)\b"
        rf"[ ,:]{{1,3}}{_FEW}"
        rf"(?:previous|prior|above|preceding|earlier|other|system|your|original|existing|initial|all)"
        rf"\b[ ,:-]{{1,3}}{_FEWER}"
        rf"{_RULES}\b"
    ),
    (
        r"\bignore (?:everything|anything|all(?: of (?:the|this))?(?: text)?) (?:above|before|previous"
        r"|you (?:were|have been) told)\b"
    ),
    r"\bforget (?:everything|all|what) (?:you(?:'ve| have| were)|above|before|said)\b",
    # Other languages.
    (
        r"\b(?:ignoriere?n?|missachte) (?:\w{1,12} ){0,4}(?:vorherigen|bisherigen|obigen|früheren) "
        r"(?:\w{1,12} ){0,2}(?:anweisungen|regeln|befehle)\b"
    ),
    (
        r"\b(?:ignore[zr]?|oublie[zr]?) (?:\w{1,12} ){0,4}(?:instructions|consignes|règles) "
        r"(?:précédentes|antérieures|ci-dessus)\b"
    ),
    (
        r"\b(?:ignor[ae]|olvid[ae]|ignor[ae]r) (?:\w{1,12} ){0,4}(?:instrucciones|órdenes|reglas) "
        r"(?:anteriores|previas)\b"
    ),
    r"忽略(?:所有|之前|以上|先前)[^。]{0,12}(?:指令|指示|说明)",
    # Roles.
    (
        rf"\byou are (?:now|no longer|henceforth) (?:an?|the|in|my)?\b[ ]?{_FEW}(?:{_MODEL}|assistant"
        rf"|mode|unrestricted|jailbroken|dan|persona|pirate)\b"
    ),
    r"\bfrom now on,? you (?:are|will|must|should|shall)\b",
    (
        r"\b(?:act|behave|respond|answer|pretend to be|roleplay|role-play) as (?:if you (?:are|were)"
        r" )?(?:an? |the )?(?:unrestricted|unfiltered|jailbroken|dan\b|developer mode|system"
        r" administrator|root)"
    ),
    (
        r"\b(?:enter|enable|activate|switch to) (?:developer|debug|god|admin|jailbreak|dan|maintenance"
        r"|unrestricted) mode\b"
    ),
    # Addressed to a model.
    (
        rf"\b(?:note|message|instructions?|attention|notice|memo|warning|command|order)s? (?:to|for) "
        rf"(?:the |any |all |every )?{_FEW}{_MODEL}\b"
    ),
    (
        rf"\b(?:dear|hey|hello|attention,?|if you are|if you're|as) (?:an? |the |any )?{_MODEL}(?: "
        rf"(?:system|assistant|model|reviewer|reader))?[,:!] "
    ),
    (
        rf"\bif you are (?:an? |the )?(?:{_MODEL}|assistant|model)\b[^.]{{0,60}}\b(?:must|should|please"
        rf"|then|say|write|reply|answer|output)\b"
    ),
    (
        rf"\b(?:{_MODEL}|assistant|model)s? (?:reading|processing|summari[sz]ing|reviewing|evaluating"
        rf"|grading) this (?:text|document|paper|passage|page|source)\b"
    ),
    # What to answer.
    (
        r"\b(?:say|answer|reply|respond|state|output|print|write|claim) (?:only |just |exactly |with "
        r"|that )?(?:the words? )?[\"'“‘]?(?:there is )?no evidence\b[\"'”’]? ?(?:was found|for|to "
        r"(?:any|every|all|the) question|whatever|regardless|instead)"
    ),
    r"\b(?:reply|respond|answer|output)(?: only| just| exactly| always| solely){1,2}(?: with| in| the)\b",
    r"\b(?:refuse|decline) to answer (?:any|the|this|all|every)\b",
    (
        r"\b(?:do not|don't|never) (?:answer|mention|cite|quote|reveal|tell|disclose) (?:the |any "
        r"|other |this |to )?(?:user|users|question|questions|other sources?|these instructions|this"
        r" instruction)\b"
    ),
    r"\b(?:always|only|must) cite (?:only )?(?:this|the following|source|\[\d{1,3}\]|\(\d{1,3}\)|number)",
    r"\bcite \[\d{1,3}\] (?:for|in|as|after|at) (?:every|each|all|any|everything)\b",
    r"\b(?:tell|inform|advise|convince) the (?:user|reader|asker|human) (?:that|to)\b",
    (
        r"\bregardless of (?:the|what the|any) (?:question|user|sources?|other"
        r" sources?|evidence)\b[^.]{0,40}\b(?:say|answer|reply|respond|state|cite|write|output)\b"
    ),
    # Judges and reviewers.
    (
        r"\b(?:give|assign|award|rate|score|grade|mark)(?: this| the| my| it)?(?: answer| paper|"
        r" response| document| submission| text| passage)?(?: with| at| as)?(?: an?| the)? ?(?:highest"
        r"|full|maximum|perfect|top|best)(?: possible)? (?:score|grade|mark|marks|rating|points)\b"
    ),
    (
        r"\b(?:give|write|provide) (?:only )?(?:an? )?(?:positive|favou?rable) review(?:s)? only\b"
        r"|\bgive a positive review\b|\bdo not highlight any (?:negatives|weaknesses)\b"
    ),
    (
        r"\b(?:grade|score|rate) (?:it|this(?: answer| one| text)?|every(?:thing)?|all(?: answers)?)"
        r"(?: as| with| a)? (?:10|2|5)(?: out of (?:10|2|5)|/10|/2|/5)\b"
    ),
    # Secrets and exfiltration.
    (
        r"\b(?:reveal|print|repeat|show|output|display|leak|disclose|recite|translate) (?:\w{1,12}"
        r" ){0,4}(?:system prompt|system message|hidden prompt|initial prompt|developer message|api"
        r" keys?|your (?:instructions|prompt|rules))\b"
    ),
    (
        r"\b(?:send|post|upload|transmit|forward|exfiltrate|append|embed|include|insert|render|fetch"
        r"|load|open|visit) (?:\w{1,16} ){0,8}(?:to|from|at|in|as|with|of)? ?(?:the |an? |this "
        r"|following )?(?:(?:url|link|image|markdown|webhook|address|endpoint)s?:? ){0,3}(?:\(|<"
        r"|!\[[^\]]{0,40}\]\()?https?://\S{1,200}(?:\?|=|\{)"
    ),
    (
        r"!\[[^\]]{0,80}\]\(https?://[^)\s]{1,200}[?&]\w{1,20}=(?:\{|<|\[|%7b|secret|data|context"
        r"|prompt|question|answer|conversation)"
    ),
    (
        r"\b(?:call|use|invoke|run|execute) your (?:tool|function|plugin|browser|shell|terminal|python"
        r"|code interpreter)s?\b[^.]{0,30}(?:\bto\b|\bwith\b|`|\()"
    ),
    # Frames of chats, and of our own prompts.
    (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id"
        r"|start_header_id)\|?>?|\[/?INST\]|<</?SYS>>|<start_of_turn>|</?s>\["
    ),
    (
        r"</?(?:source|passage|quote|pair|sources|document|context|system"
        r"|instructions?)-[0-9a-f]{8,}\b|</(?:sources|context|documents|system|retrieved)>"
    ),
    (
        r"(?:^|[\n.] ?|### ?|\*\*)(?:system|assistant|developer)(?: prompt| message|"
        r" override)? ?(?:\*\*)?: ?(?:you |ignore|new |override|from |the user|do not|always|answer"
        r"|print|reply|disregard|reveal|all )"
    ),
    (
        r"(?:#{2,4}|={3,}|-{3,}) ?(?:new |system |updated |begin |end (?:of )?)?(?:system prompt"
        r"|instructions?(?: for the| to the| update)|sources? end|end of (?:sources|context|documents"
        r"|prompt)|begin (?:system|new) )"
    ),
    (
        r"\bend of (?:the )?(?:sources|retrieved (?:documents|context)|context window|user (?:input"
        r"|message))\b[^.]{0,40}\b(?:new|now|instructions?|system|begin)\b"
    ),
    (
        r"\b(?:new|updated|revised|real|actual|true|additional|important) (?:system"
        r" )?(?:instructions?|directives?) ?(?:for you|for the (?:ai|model|assistant))?: ?(?:you "
        r"|ignore|answer|say|reply|always|never|do |print|cite|stop)"
    ),
)
ORDERS: Final = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _WORDED)

# Letters of other scripts that look like Latin ones; digits and signs that stand for letters.
LOOKALIKES: Final = str.maketrans(
    "аеорсухіѕјԁһοαερτνικυΑΒΕΗΙΚΜΝΟΡΤΧАВЕКМНОРСТХ", "aeopcyxisjdhoaeptvikuABEHIKMNOPTXABEKMHOPCTX"
)
DIGITS: Final = str.maketrans("013457@$", "oieastas")

_VERBS = ("ignore", "disregard", "forget", "override", "bypass", "reveal")
_OBJECTS = ("instructions", "instruction", "prompt", "prompts", "guidelines", "previous")


def _inner(word: str) -> str:
    return f"{word[0]}{''.join(sorted(word[1:-1]))}{word[-1]}"


SCRAMBLED_VERBS: Final = {_inner(word): word for word in _VERBS}
SCRAMBLED_OBJECTS: Final = {_inner(word): word for word in _OBJECTS}
# A verb by its ends and its length: what else a text says is not looked at word by word.
VERB_SHAPES: Final = re.compile(
    "|".join(rf"\b{word[0]}[a-z]{{{len(word) - 2}}}{word[-1]}\b" for word in _VERBS), re.IGNORECASE
)
