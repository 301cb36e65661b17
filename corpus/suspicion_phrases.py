"""How orders to models are worded. Each pattern is bounded: no nested or unbounded repetition. Pure."""

from __future__ import annotations

import re
from typing import Final

# Between a verb and its object stand a few words at most.
_FEW = r"(?:[\w'’]{1,20}[ ,:-]{1,3}){0,6}"
_FEWER = r"(?:[\w'’]{1,20}[ ,:-]{1,3}){0,3}"
_MODEL = (
    r"(?:ai|a\.i\.|llms?|(?:large )?language models?|chat ?bots?|chatgpt|gpt(?:-?\d)?|claude|gemini|copilot|"
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
        r"\b(?:ignore|disregard|skip) (?:everything|anything|whatever|all(?: of (?:the|this))?(?: text)?) "
        r"(?:(?:that )?(?:stands |is )?(?:above|before|previous)(?=[ ]?(?:[.,;:!?)\"'”’]|and\b|this\b|$))"
        r"|(?:that )?you (?:were|have been|had been) (?:told|given|asked))"
    ),
    r"\bforget (?:everything|all|what) (?:you(?:'ve| have| were)|above|before|said)\b",
    r"\bforget what the system (?:prompt|message) (?:says|said)\b",
    (
        rf"\b(?:earlier|previous|prior|preceding|former|initial) {_RULES} (?:are|is) (?:now |all )?"
        r"(?:cancelled|canceled|void|no longer valid|null)\b"
    ),
    (
        rf"\b(?:do not|don't|never|stop) follow(?:ing)? {_FEWER}{_RULES} {_FEWER}"
        r"(?:before|above|so far|previously|until now)\b"
    ),
    (rf"\b(?:do not|don't|never) (?:pay attention|listen|adhere|stick) to (?:your|these|those) {_RULES}\b"),
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
    r"(?:以前|これまで|上記|前)[^。]{0,6}指示[^。]{0,4}無視",
    r"\bignora(?:re)? (?:\w{1,12} ){0,4}(?:istruzioni|regole|indicazioni) (?:precedenti|sopra)\b",
    (
        r"\b(?:ignor[ea]|desconsider[ea]|esque[cç]a) (?:\w{1,12} ){0,4}(?:instruções|ordens|regras) "
        r"(?:anteriores|prévias|acima)"
    ),
    r"\b(?:игнорируй(?:те)?|забудь(?:те)?) (?:\w{1,16} ){0,4}(?:инструкции|указания|правила)",
    r"\bnegeer (?:\w{1,12} ){0,3}(?:vorige|eerdere|bovenstaande) (?:instructies|regels|opdrachten)\b",
    r"\b(?:zignoruj|ignoruj) (?:\w{1,14} ){0,3}(?:poprzednie|wcześniejsze) (?:instrukcje|polecenia)",
    # Roles.
    (
        rf"\byou are (?:now|no longer|henceforth) (?:an?|the|in|my)?\b[ ]?{_FEW}(?:{_MODEL}|assistant"
        rf"|mode|unrestricted|jailbroken|dan|persona|pirate)\b"
    ),
    r"\bfrom (?:now|here|this point) on,? you (?:are|will|must|should|shall|only)\b",
    (
        r"\bpretend (?:that )?you(?: are|'re) (?:an? |the )?(?:system )?(?:administrator|root|developer|owner"
        r"|unrestricted|unfiltered)"
    ),
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
    rf"\bif you are (?:an? |the )?{_MODEL} (?:reading|processing|and|who|that|summari[sz]ing)\b",
    (
        rf"\b{_MODEL}(?: systems?| tools?)? (?:that|which|who) "
        r"(?:read|process|summari[sz]e|review|evaluate|use)(?:s|es)? this "
        r"(?:text|document|paper|passage|page|source|report)\b"
    ),
    r"\bto the (?:automated|automatic|machine) reader\b",
    r"\battention,? (?:assistant|model|chat ?bot)s?[.,:!]",
    (
        r"\bbefore (?:you (?:reply|answer|respond)|replying|answering|responding)\b[^.]{0,40}\b"
        r"(?:replace|send|append|print|insert|visit|call|delete)\b"
    ),
    (
        r"\bassistants? (?:is|are) (?:kindly |hereby )?(?:asked|requested|instructed|ordered) to "
        r"(?:speak|say|answer|call|describe|recommend|state|omit|leave|reply)\b"
    ),
    (
        rf"\bif you are (?:an? |the )?(?:{_MODEL}|assistant|model)\b[^.]{{0,60}}\b(?:must|should|please"
        rf"|then|say|write|reply|answer|output)\b"
    ),
    (
        rf"\b(?:{_MODEL}|assistant|model)s?(?: systems?| tools?)? (?:reading|processing|summari[sz]ing"
        rf"|reviewing|evaluating|grading) this (?:text|document|paper|passage|page|source)\b"
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
    (
        r"\b(?:whatever|no matter what|regardless of what) the question(?: is| may be| was)?,? "
        r"(?:cite|say|answer|reply)\b"
    ),
    r"\byour (?:answer|reply) (?:must|has to|should) (?:end|begin|start)\b",
    r"\bsay that the (?:sources|passages|documents|collection) (?:do|does) not (?:contain|hold|have|cover)\b",
    (
        r"\b(?:never|do not|don't) cite any (?:other )?(?:source|passage|document)s? "
        r"(?:except|but|other than) this\b"
    ),
    (
        r"\bwhen(?:ever)? (?:a|the|any) user asks\b[^.]{0,60}\bthe (?:correct|right|only) "
        r"(?:reply|answer|response) is that\b"
    ),
    # Judges and reviewers.
    r"\bif you are asked to (?:rate|grade|score|judge|evaluate)\b",
    (
        r"\b(?:grader|judge|evaluator|reviewer)\b[^.]{0,40}\b(?:must|has to|shall) "
        r"(?:award|give|assign|return|output) (?:the |an? )?(?:json|highest|maximum|full|top|perfect)\b"
    ),
    (
        r"\bmark this (?:submission|paper|answer|document|text|response) as (?:accepted|correct|excellent"
        r"|perfect|supported)\b"
    ),
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
    r"\b(?:print|repeat|output|write out|show|return|recite) everything (?:above|before|that precedes)\b",
    (
        r"\b(?:reveal|print|repeat|show|output|disclose|write out|recite) (?:\w{1,12} ){0,2}"
        r"(?:hidden|initial|secret|original) (?:instructions|prompt|rules|message)\b"
    ),
    (
        r"\b(?:send|post|upload|transmit|forward) (?:\w{1,12} ){0,2}(?:texts?|contents?|sources?|questions?"
        r"|conversation|passages|context|answer)\b[^.]{0,60}\bhttps?://"
    ),
    r"\bcall the (?:\w{1,20} )?tool\b[^.]{0,100}\b(?:reply|answer|response)\b",
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
        r"|</(?:source|document)>\s{0,3}(?:user|assistant|system)\b"
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
    r"\b(?:begin|end|start)(?: of)?(?: the)? system (?:message|prompt)\b",
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

# How a text that tells of an order leads up to it: "strings such as", "the prompt was".
REPORTED: Final = re.compile(
    r"(?:such as|phrases?|strings?|sentences?|reading|reads|words|prompts?|instructions?|like|called|inputs?)"
    r"(?: used| of this kind| was| is| were| are| by \w{1,20}){0,3}[,:]? ?$",
    re.IGNORECASE,
)
OPENING: Final = re.compile(r"(?<!\w)[\"'“‘«„](?=\S)")
CLOSING: Final = "\"'”’»“"

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
