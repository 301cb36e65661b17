"""The librarian's pages of merges: decided by plain forms, previewed in bulk, for who may see everything."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from corpus.models import GroupCeiling
from retrieval.graph import merge_queue
from retrieval.graph.actions import resolution
from retrieval.graph.naming import entity_id
from retrieval.models import Entity, Mention, MergeProposal, ResolutionAudit
from tests.integration.retrieval.graph.merging import (
    canonical,
    dump,
    edge,
    entity,
    mention,
    passage,
    propose,
)

pytestmark = pytest.mark.django_db

QUEUE = "/admin/retrieval/mergeproposal/queue/"
DECIDE = f"{QUEUE}decide/"
UNDO = f"{QUEUE}undo/"


@pytest.fixture
def signed_in(librarian, client):
    client.force_login(librarian)
    return client


def pair(number=1, **fields):
    first = passage(
        f"Rice <b>straw</b> {number} yields gas. Rice straw {number} is dry.", title=f"One {number}"
    )
    edge(f"Rice straw {number}", "gas", first, f"Rice straw {number} is dry.")
    mention(f"Rice straw {number}", passage(f"Rice straw {number}!", title=f"Two {number}"))
    mention(f"Paddy straw {number}", passage(f"Paddy straw {number} rots & smells.", title=f"Three {number}"))
    return propose(f"Rice straw {number}", f"Paddy straw {number}", **fields)


def page_of(client, address=QUEUE):
    return client.get(address).content.decode()


def test_the_page_shows_both_sides_with_their_sentences_and_escapes_them(signed_in):
    pair(tier=2, confidence=0.93, method="similar names")

    page = page_of(signed_in)

    assert "1 pair waits" in page
    assert "<mark>Rice straw 1</mark> is dry." in page
    assert "<mark>Paddy straw 1</mark> rots &amp; smells." in page
    assert "<b>straw</b>" not in page
    assert "Three 1" in page
    assert "found by similar names · confidence 0.93" in page
    assert "2 mentions" in page
    assert "1 edge<" in page
    assert "produces" in page


def test_one_press_makes_a_pair_one_and_stays_in_the_narrowed_list(signed_in):
    proposal = pair(tier=2)

    answer = signed_in.post(DECIDE, {"one": f"{proposal.pk}:approve", "filters": "tier=2", "page": "1"})

    assert answer.url == f"{QUEUE}?tier=2&page=1"
    assert canonical("Paddy straw 1") == "Rice straw 1"
    assert "1 pair was made one." in page_of(signed_in)


def test_the_other_side_stays_when_somebody_says_so(signed_in):
    proposal = pair()

    signed_in.post(DECIDE, {"one": f"{proposal.pk}:swap={entity('Paddy straw 1').pk}"})

    assert canonical("Rice straw 1") == "Paddy straw 1"


@pytest.mark.parametrize(("choice", "state"), [("reject", "rejected"), ("never", "never")])
def test_a_refusal_is_kept_and_can_be_taken_back(signed_in, choice, state):
    proposal = pair()

    signed_in.post(DECIDE, {"one": f"{proposal.pk}:{choice}"})
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by_name) == (state, "librarian")
    signed_in.post(UNDO, {"at": proposal.decided_at.isoformat()})

    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_at) == ("proposed", None)


def test_all_of_a_tier_become_one_after_the_number_was_shown(signed_in):
    before_all = [pair(number, tier=1) for number in range(3)] + [pair(9, tier=2)]
    before = dump()

    shown = signed_in.post(DECIDE, {"tier": "1", "choice": "approve", "filters": ""})
    page = shown.content.decode()
    assert "Make 3 pairs one?" in page
    assert not Entity.objects.filter(canonical_entity__isnull=False).exists()
    chosen = ",".join(str(one.pk) for one in before_all[:3])
    assert f'value="{chosen}"' in page

    signed_in.post(DECIDE, {"pairs": chosen, "choice": "approve", "apply": "1"})
    assert Entity.objects.filter(canonical_entity__isnull=False).count() == 3
    signed_in.post(UNDO, {"at": ResolutionAudit.objects.latest("pk").happened_at.isoformat()})
    assert dump() == before
    assert MergeProposal.objects.filter(state="proposed").count() == 4


def test_what_cannot_become_one_is_counted_before_and_after(signed_in):
    first = pair()
    mention("Stalks", passage("Stalks."))
    second = propose("Stalks", "Rice straw 1")
    never = propose("Stalks", "Paddy straw 1")
    resolution.never(proposals=[never], by=None)
    form = {"pairs": [first.pk, second.pk], "choice": "approve"}

    shown = signed_in.post(DECIDE, form).content.decode()
    assert "Make 1 pair one?" in shown
    assert "two of their names are different things" in shown

    signed_in.post(DECIDE, form | {"apply": "1"})
    page = page_of(signed_in)
    assert "1 pair was left as it is" in page
    assert "Marked as different" in page


@pytest.mark.parametrize(
    "form",
    [
        {"one": "x:approve"},
        {"one": "1:swap=no"},
        {"one": "99999:approve"},
        {"pairs": "1,2,x", "choice": "approve", "apply": "1"},
        {"pairs": "9" * 40, "choice": "approve", "apply": "1"},
        {"choice": "nonsense"},
        {"tier": "7", "choice": "approve"},
        {},
    ],
)
def test_a_form_that_names_nothing_changes_nothing_and_says_so(signed_in, form):
    pair()

    assert signed_in.post(DECIDE, form).status_code == 302

    assert "Choose" in page_of(signed_in)
    assert not ResolutionAudit.objects.exists()


def test_a_moment_that_is_none_takes_nothing_back(signed_in):
    for at in ("", "yesterday", "2026-13-77", "2026-01-01T00:00:00"):
        signed_in.post(UNDO, {"at": at})
    assert "Nothing was taken back" in page_of(signed_in)


def test_the_list_is_narrowed_by_tier_type_and_name(signed_in):
    pair(1, tier=1)
    pair(2, tier=2)
    process = [entity(f"Ashing {one}", type="process") for one in "ab"]
    for each in process:
        mention(each.name, passage(f"{each.name}."), of=each)
    propose(*process, tier=3)

    def narrowed(query):
        page = page_of(signed_in, f"{QUEUE}?{query}")
        return [name for name in ("straw 1", "straw 2", "Ashing a") if f"{name}</span>" in page]

    assert narrowed("tier=2") == ["straw 2"]
    assert narrowed("type=process") == ["Ashing a"]
    assert narrowed("q=paddy+STRAW+1") == ["straw 1"]
    assert narrowed("tier=9") == ["straw 1", "straw 2", "Ashing a"]


def test_a_pair_found_with_a_tombstone_waits_as_what_that_is_part_of(signed_in, librarian):
    first = pair()
    mention("Stalks", passage("Stalks are tall."))
    propose("Stalks", "Paddy straw 1")
    resolution.approve(proposals=[first], by=librarian)

    page = page_of(signed_in)

    assert "Found as “Paddy straw 1”, which is part of it by now." in page
    assert canonical("Stalks") == "Stalks"
    row = merge_queue.rows(merge_queue.waiting().select_related("low", "high"))[0]
    assert {row.kept.entity.name, row.other.entity.name} == {"Rice straw 1", "Stalks"}


def crowd(size):
    """As many things that might be gas."""
    page = passage("T is named.")
    keys = [(entity_id(entity_type="material", key=f"t{number}"), f"t{number}") for number in range(size)]
    Entity.objects.bulk_create(Entity(pk=pk, name=key.upper(), key=key, type="material") for pk, key in keys)
    Mention.objects.bulk_create(
        Mention(entity_id=pk, chunk=page, document=page.document, surface="T", surface_key="t", start=0)
        for pk, _ in keys
    )
    gas = entity("gas").pk
    ends = [sorted([pk, gas]) for pk, _ in keys]
    MergeProposal.objects.bulk_create(
        MergeProposal(low_id=low, high_id=high, tier=2, method="crowd", confidence=1) for low, high in ends
    )


def test_a_thousand_pairs_take_no_more_statements_than_two(signed_in):
    for number in range(2):
        pair(number)
    with CaptureQueriesContext(connection) as few:
        page_of(signed_in)
    crowd(1000)

    with CaptureQueriesContext(connection) as many:
        assert "1002 pairs wait" in page_of(signed_in)

    assert len(many) == len(few)


def test_a_merge_is_undone_from_the_log_unless_a_later_one_builds_on_it(signed_in, librarian):
    first = pair()
    mention("Stalks", passage("Stalks."))
    second = propose("Stalks", "Rice straw 1")
    resolution.approve(proposals=[first], by=librarian)
    resolution.approve(proposals=[second], by=librarian)
    early, late = ResolutionAudit.objects.order_by("pk")

    def address(audit):
        return reverse("admin:retrieval_resolutionaudit_undo", args=[audit.pk])

    assert f"undo number {late.pk} first" in page_of(signed_in, address(early))
    assert signed_in.post(address(early)).status_code == 409
    assert signed_in.post(address(late)).status_code == 302
    assert signed_in.post(address(early)).status_code == 302
    assert not Entity.objects.filter(canonical_entity__isnull=False).exists()
    assert "Undone" in page_of(signed_in, reverse("admin:retrieval_resolutionaudit_changelist"))


def test_a_refused_pair_is_asked_about_again_from_the_list(signed_in, librarian):
    proposal = pair()
    resolution.never(proposals=[proposal], by=librarian)
    changelist = reverse("admin:retrieval_mergeproposal_changelist")

    signed_in.post(changelist, {"action": "ask_again", "_selected_action": [proposal.pk]})

    proposal.refresh_from_db()
    assert proposal.state == "proposed"


def test_whoever_may_not_see_every_document_is_shown_none_of_it(signed_in, librarian):
    proposal = pair()
    resolution.approve(proposals=[pair(2)], by=librarian)
    GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["public", "unknown"])
    audit = ResolutionAudit.objects.get()

    assert "Nothing to decide for you" in page_of(signed_in)
    for name in ("mergeproposal", "resolutionaudit", "entity"):
        page = page_of(signed_in, reverse(f"admin:retrieval_{name}_changelist"))
        assert "straw" not in page.lower()
    for address, form in (
        (DECIDE, {"one": f"{proposal.pk}:approve"}),
        (UNDO, {"at": audit.happened_at.isoformat()}),
        (reverse("admin:retrieval_resolutionaudit_undo", args=[audit.pk]), {}),
        (reverse("admin:retrieval_entity_split", args=[entity("gas").pk]), {"spellings": "gas"}),
    ):
        assert signed_in.post(address, form).status_code == 403
    assert "Entities that may be one" not in page_of(signed_in, reverse("admin:index")).split("</nav>")[-1]
    assert ResolutionAudit.objects.count() == 1


@pytest.mark.parametrize("who", ["asker", "expert"])
def test_only_librarians_reach_the_pages(who, client, request):
    client.force_login(request.getfixturevalue(who))
    proposal = pair()

    for address in (QUEUE, DECIDE, UNDO):
        client.post(address, {"one": f"{proposal.pk}:approve"})
        assert client.get(address).status_code in {302, 403}
    assert not ResolutionAudit.objects.exists()


def test_what_waits_is_counted_on_the_front_page(signed_in):
    pair()

    page = page_of(signed_in, reverse("admin:index"))

    assert "Names that look like the same thing" in page
