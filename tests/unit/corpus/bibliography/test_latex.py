"""LaTeX of bibliographies reads as it is typeset."""

import pytest

from corpus.bibliography.latex import to_text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"M{\"u}ller", "Müller"),
        (r"M\"uller", "Müller"),
        (r"{\v S}eva and {\v{S}}eva", "Ševa and Ševa"),
        (r"{\v R}eh{\r u}{\v r}ek", "Řehůřek"),
        (r"Sa{\"\i}d, \'{\i}", "Saïd, í"),
        (r"{\o}re {\AA}ngstr\"om \L{}\'od\'z stra\ss e", "øre Ångström Łódź straße"),
        (r"\'{\^e}", "ế"),
        (r"\~{}x \^{} \'", "~x ^ '"),
        (r"O\'{}Brien", "O'Brien"),
        (r"Oil \& Gas, 50\% of a\_b", "Oil & Gas, 50% of a_b"),
        (r"\emph{in vitro} {\em and} {\bf bold}", "in vitro and bold"),
        (r"\href{http://example.org/}{The text}", "The text"),
        (r"Cu$_2$O at 10$^{-6}$ m$^2$", "Cu₂O at 10⁻⁶ m²"),
        (r"$\alpha$-cellulose, {$\mu$J}", "α-cellulose, μJ"),
        (r"the 19\textsuperscript{th}, CO\textsubscript{2}", "the 19th, CO₂"),
        ("Why ``so'' -- or---not~now", "Why “so” – or—not now"),
        (r"{{\BibTeX}}ing", "BibTeXing"),
        (r"\aap", "Astronomy and Astrophysics"),
        (r"\nobodyknows{kept}", "kept"),
        ("plain", "plain"),
    ],
)
def test_latex_becomes_unicode(latex: str, text: str) -> None:
    assert to_text(latex) == text


def test_addresses_keep_their_dashes_tildes_and_underscores() -> None:
    assert to_text(r"http://a.b/~c\_d--e\%20{\_}f", verbatim=True) == "http://a.b/~c_d--e%20_f"


@pytest.mark.parametrize("piece", ["{", "}", r"\"", r"\"{", "$^{", r"\href{", "--", "``", "\\"])
def test_no_nesting_is_too_deep(piece: str) -> None:
    text = to_text(piece * 50_000 + "x" + "}" * 50_000)

    assert piece == r"\href{" or text.rstrip("}\u0308")[-1:] in ("x", "\u1e8d")
