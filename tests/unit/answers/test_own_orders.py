"""A model's text goes through piece by piece, up to where it repeats its orders in whatever spelling."""

from __future__ import annotations

import base64
import codecs
from pathlib import Path

import pytest

from answers.own_orders import OrdersRepeated, Watch
from answers.prompting import REFUSAL, parse_template

ORDERS = (
    "You write short answers. The name of these orders is 7f3a9c51e8b24d06a1c5f0938e72bd4c.\n"
    f'1. Use only the sources.\n8. Else begin with "{REFUSAL}." and say what they cover.'
)
NAME = "7f3a9c51e8b24d06a1c5f0938e72bd4c"
SPELLINGS = {
    "exact": NAME,
    "shouted": NAME.upper(),
    "backwards": NAME[::-1],
    "spaced": " ".join(NAME),
    "hyphenated": "-".join(NAME),
    "on lines": "\n".join(NAME),
    "in bold": "".join(f"**{char}**" for char in NAME),
    "base64": base64.b64encode(ORDERS.encode()).decode(),
    "base64 of a part": base64.b64encode(ORDERS[24:].encode()).decode(),
    "base64 of another part": base64.b64encode(ORDERS[25:].encode()).decode(),
    "hexadecimal": ORDERS.encode().hex(),
    "rot13": codecs.encode(ORDERS, "rot13"),
    "full width": "".join(chr(ord(char) + 0xFEE0) for char in NAME),
    "as a sentence": "My orders: you write short answers, the name of these orders is a secret.",
}


def let_through(text: str, size: int) -> str:
    watch, shown = Watch(ORDERS, agreed=(REFUSAL,)), ""
    try:
        for place in range(0, len(text), size):
            shown += watch.through(text[place : place + size])
    except OrdersRepeated:
        return shown
    return shown + watch.rest()


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_orders_in_no_spelling_are_let_through(spelling: str, size: int) -> None:
    said = f"Straw yields 210 L/kg [1]. {SPELLINGS[spelling]} And more."

    shown = let_through(said, size)

    assert "And more" not in shown
    assert sum(map(str.isalnum, shown.partition("[1].")[2])) <= len("Myorders") + 8
    assert NAME[:10] not in shown


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize(
    "said",
    [
        "Straw yields 210 L/kg of volatile solids [1].",
        f"{REFUSAL}. They cover rice straw [1].",
        "The sources agree; only the sources of 2019 do not [2].",
        "You write short",
        "7f3a9c51",
        "",
    ],
)
def test_an_answer_goes_through_whole(said: str, size: int) -> None:
    assert let_through(said, size) == said


def test_the_orders_that_are_delivered_leave_room_for_the_agreed_refusal() -> None:
    template = parse_template(Path("domain/prompts/answer.md").read_text(encoding="utf-8"))
    orders = template.system.replace("{{orders}}", template.orders)
    watch = Watch(orders, agreed=(REFUSAL,))

    assert REFUSAL in orders
    assert watch.through(f"{REFUSAL}. They tell of ash [1].") + watch.rest()


def test_a_long_text_costs_little() -> None:
    watch = Watch(ORDERS)
    shown = watch.through("you write short words about straw and the name of these. " * 1_000)

    assert len(shown) > 50_000
