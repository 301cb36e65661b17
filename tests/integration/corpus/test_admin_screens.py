"""Every screen of the admin, for every role, with its exact status."""

import re
from datetime import UTC, date, datetime
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from answers.feedback import AcquisitionRequest, WrongReport
from corpus.access_requests import AccessRequest
from corpus.actions import review
from corpus.actions.editorial import record_event
from corpus.actions.rights import set_license
from corpus.models import Document, IngestionItem, RightsDecision, Source, SourceCheck
from corpus.webhooks.models import Webhook
from retrieval.models import MergeProposal
from tests.factories.corpus import (
    ChunkFactory,
    DocumentFactory,
    IngestionItemFactory,
    IngestionRunFactory,
    SourceFactory,
)
from tests.factories.graph import MentionFactory

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CURATED = [
    "admin:corpus_document_changelist",
    "admin:corpus_source_changelist",
    "admin:corpus_editorialevent_changelist",
    "admin:corpus_rightsdecision_changelist",
    "admin:corpus_ingestionrun_changelist",
    "admin:corpus_ingestionitem_changelist",
    "admin:answers_answer_changelist",
]
ADMINISTERED = ["admin:auth_user_changelist", "admin:auth_group_changelist"]


@pytest.fixture
def staff_without_role(db):
    return User.objects.create_user("staff", is_staff=True)


@pytest.fixture
def held(librarian):
    """One row on every screen."""
    document = DocumentFactory(source=SourceFactory(), license_class="public")
    record_event(
        source=document.source, kind="correction", origin="manual", happened_on=date(2020, 1, 1), by=librarian
    )
    set_license(documents=[document], license_class="restricted", by=librarian, evidence="")
    IngestionItemFactory(document=document)
    return document


@pytest.mark.parametrize("screen", CURATED)
def test_librarians_and_administrators_open_the_curated_screens(
    client, librarian, administrator, held, screen
):
    for person in (librarian, administrator):
        client.force_login(person)
        assert client.get(reverse(screen)).status_code == 200


@pytest.mark.parametrize("screen", ADMINISTERED)
def test_only_administrators_open_accounts_and_roles(client, librarian, administrator, screen):
    client.force_login(administrator)
    assert client.get(reverse(screen)).status_code == 200

    client.force_login(librarian)
    assert client.get(reverse(screen)).status_code == 403


@pytest.mark.parametrize("screen", ["admin:index", *CURATED, *ADMINISTERED])
def test_askers_and_experts_are_refused_every_screen(client, asker, expert, screen):
    for person in (asker, expert):
        client.force_login(person)
        response = client.get(reverse(screen), follow=True)
        assert response.status_code == 403


@pytest.mark.parametrize("screen", ["admin:index", *CURATED, *ADMINISTERED])
def test_visitors_are_sent_to_the_one_sign_in_page(client, screen):
    response = client.get(reverse(screen), follow=True)

    assert response.redirect_chain[-1][0].startswith(reverse("login"))


def test_staff_without_a_role_find_an_empty_desk_and_no_screen(client, staff_without_role, held):
    client.force_login(staff_without_role)

    home = client.get(reverse("admin:index"))

    assert home.status_code == 200
    assert "Nothing here is yours to manage" in home.text
    for screen in CURATED + ADMINISTERED:
        assert client.get(reverse(screen)).status_code == 403


def test_staff_with_a_permission_but_no_ceiling_see_no_document(client, staff_without_role, held):
    staff_without_role.user_permissions.add(Permission.objects.get(codename="view_document"))
    client.force_login(staff_without_role)

    response = client.get(reverse("admin:corpus_document_changelist"))

    assert response.status_code == 200
    assert held.title not in response.text


@pytest.mark.parametrize(
    "screen",
    ["document", "source", "rightsdecision", "ingestionrun", "ingestionitem", "editorialevent"],
)
def test_each_row_opens(client, librarian, held, screen):
    client.force_login(librarian)
    listed = client.get(reverse(f"admin:corpus_{screen}_changelist")).text

    (address, *_) = re.findall(rf'href="(/admin/corpus/{screen}/[^"/]+/change/)', listed)

    assert client.get(address).status_code == 200


def test_the_answer_screen_shows_how_it_went_and_not_what_it_says(client, librarian):
    from answers.models import Answer

    answer = Answer.objects.create(
        question="How much biochar?",
        text="canary-answer-text [1]",
        state="done",
        finish="stop",
        profile="interactive",
        engine="extractive",
        scope_digest="0" * 64,
    )
    client.force_login(librarian)

    for address in (
        reverse("admin:answers_answer_changelist"),
        reverse("admin:answers_answer_change", args=[answer.pk]),
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert "How much biochar?" in page.text
        assert "canary-answer-text" not in page.text


@pytest.mark.parametrize("screen", ["rightsdecision", "ingestionrun", "ingestionitem"])
@pytest.mark.parametrize("verb", ["add", "change", "delete"])
def test_no_screen_changes_or_removes_a_record_of_what_happened(client, held, screen, verb):
    client.force_login(User.objects.create_superuser("root"))
    row = {
        "rightsdecision": RightsDecision.objects.get,
        "ingestionitem": IngestionItem.objects.get,
        "ingestionrun": lambda: IngestionItem.objects.get().run,
    }[screen]()
    arguments = [] if verb == "add" else [row.pk]

    response = client.post(reverse(f"admin:corpus_{screen}_{verb}", args=arguments), {"post": "yes"})

    assert response.status_code == 403
    assert type(row).objects.filter(pk=row.pk).exists()


def test_a_group_action_that_deletes_is_not_offered_for_the_log(client, held):
    client.force_login(User.objects.create_superuser("root"))

    client.post(
        reverse("admin:corpus_rightsdecision_changelist"),
        {"action": "delete_selected", "_selected_action": [RightsDecision.objects.get().pk], "post": "yes"},
    )

    assert RightsDecision.objects.count() == 1


class TestCeiling:
    """The admin obeys the viewer's ceiling like every other surface."""

    @pytest.fixture
    def limited(self, librarian):
        """A librarian whose role may see open documents of one bucket only."""
        ceiling = librarian.groups.get().ceiling
        ceiling.license_classes = ["public", "open_commercial"]
        ceiling.all_buckets, ceiling.buckets = False, ["local"]
        ceiling.save()
        return librarian

    @pytest.fixture
    def hidden(self, administrator):
        document = DocumentFactory(
            title="canary-title", bucket="secret", source=SourceFactory(title="canary-work")
        )
        record_event(
            source=document.source, kind="retraction", origin="crossref", happened_on=date(2020, 1, 1)
        )
        set_license(documents=[document], license_class="restricted", by=administrator, evidence="")
        IngestionItemFactory(document=document, path="canary-path.pdf", run=IngestionRunFactory(origin="x"))
        IngestionItemFactory(path="canary-failed.pdf", outcome="failed", run=IngestionRunFactory(origin="y"))
        return document

    @pytest.mark.parametrize("screen", CURATED[:-1])
    def test_no_list_shows_what_is_above_it(self, client, limited, hidden, screen):
        client.force_login(limited)

        response = client.get(reverse(screen))

        assert response.status_code == 200
        assert "canary" not in response.text
        assert "secret" not in response.text

    def test_the_front_page_counts_only_what_is_below_it(self, client, limited, hidden):
        DocumentFactory(state="needs_ocr", chunk_count=0)
        DocumentFactory(state="needs_ocr", chunk_count=0, bucket="secret")
        client.force_login(limited)

        waiting = {str(item.label): item.count for item in client.get("/admin/").context["waiting"]}

        assert waiting["Documents without readable text"] == 1
        assert waiting["Documents of retracted works"] == 0
        assert waiting["Files that could not be taken in"] == 0
        assert waiting["Licences nobody has established"] == 0

    def test_a_hidden_document_and_a_missing_one_answer_alike(self, client, limited, hidden):
        client.force_login(limited)
        missing = DocumentFactory.build().pk

        for path in ("{}/change/", "{}/history/", "{}/successor/", "change-licence/?documents={}"):
            answers = [
                client.get(reverse("admin:corpus_document_changelist") + path.format(pk))
                for pk in (hidden.pk, missing)
            ]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].status_code in {302, 404}
            assert [re.sub(r"[0-9a-f-]{32,36}", "", answer.text) for answer in answers].count("") in {0, 2}

    def test_the_successor_search_finds_nothing_above_it(self, client, limited, hidden):
        visible = DocumentFactory(title="canary in plain sight")
        client.force_login(limited)

        found = client.get(
            reverse("admin:autocomplete"),
            {
                "term": "canary",
                "app_label": "corpus",
                "model_name": "document",
                "field_name": "superseded_by",
            },
        ).json()["results"]

        assert [row["id"] for row in found] == [str(visible.pk)]


class TestSearch:
    @pytest.fixture(autouse=True)
    def _signed_in(self, client, librarian):
        client.force_login(librarian)

    def _found(self, client, term):
        page = client.get(reverse("admin:corpus_document_changelist"), {"q": term})
        return [document.title for document in page.context["cl"].result_list]

    def test_a_doi_in_any_form_finds_exactly_its_document(self, client):
        DocumentFactory(title="Right", doi="10.1234/abc.1")
        DocumentFactory(title="Longer", doi="10.1234/abc.12")
        DocumentFactory(title="Cites 10.1234/abc.1 in its title")

        for term in ("10.1234/abc.1", "https://doi.org/10.1234/ABC.1", "doi:10.1234/abc.1"):
            assert self._found(client, term) == ["Right"]

    def test_an_id_finds_exactly_its_document(self, client):
        document = DocumentFactory(title="Right")
        DocumentFactory()

        assert self._found(client, str(document.pk)) == ["Right"]

    def test_words_search_titles_and_authors(self, client):
        DocumentFactory(title="Biochar and soil", authors=["Møller, Åse"])
        DocumentFactory(title="Methane", authors=["Doe, Jane"])

        assert self._found(client, "soil") == ["Biochar and soil"]
        assert self._found(client, "ase biochar") == ["Biochar and soil"]


@pytest.mark.parametrize(
    "query",
    [
        "year__exact=abc",
        "year__exact=99999999999999999999",
        "bucket=%00",
        "q=%00",
        "q=" + "-" * 60,
        "ingested_at__year=999999",
        "ingested_at__year=abc",
        "standing=nonsense",
        "license_class__exact=cc-by-xyz",
        "o=99.-3.x",
        "p=abc",
        "p=999",
        "chunks__body__contains=secret",
        "source__events__note__contains=x",
    ],
)
def test_a_damaged_address_never_fails_on_our_side(client, librarian, query):
    DocumentFactory()
    client.force_login(librarian)

    response = client.get(f"{reverse('admin:corpus_document_changelist')}?{query}")

    assert response.status_code in {200, 302, 400}


@pytest.mark.parametrize("address", ["search/?s=doc&page=abc", "search/?s=doc&page=7", "search/?s=doc"])
def test_the_screen_search_never_fails_on_our_side(client, librarian, address):
    client.force_login(librarian)

    assert client.get(reverse("admin:index") + address).status_code == 200


@pytest.mark.parametrize("screen", CURATED + ADMINISTERED)
def test_a_list_costs_as_many_queries_for_thirty_rows_as_for_three(client, administrator, screen):
    client.force_login(administrator)

    def cost():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(reverse(screen)).status_code == 200
        return len(queries)

    _fill(3, administrator)
    few = cost()
    _fill(27, administrator)

    assert cost() == few


def _fill(number, by):
    from answers.models import Answer

    run = IngestionRunFactory(started_by=by)
    documents = DocumentFactory.create_batch(number, license_class="public")
    for document in documents:
        document.source = SourceFactory()
        document.save()
        record_event(
            source=document.source, kind="correction", origin="manual", happened_on=date(2020, 1, 1), by=by
        )
        IngestionItemFactory(document=document, run=run)
        IngestionRunFactory(started_by=by)
        user = User.objects.create_user(f"u{document.pk}")
        user.groups.add(Group.objects.get(name="asker"))
        Group.objects.create(name=str(document.pk))
        Answer.objects.create(
            asked_by=by, question="q", profile="interactive", engine="extractive", scope_digest="0" * 64
        )
    set_license(documents=documents, license_class="restricted", by=by, evidence="")


def test_a_document_page_never_loads_its_passages_or_vectors(client, librarian):
    document = DocumentFactory()
    ChunkFactory.create_batch(3, document=document)
    client.force_login(librarian)

    with CaptureQueriesContext(connection) as queries:
        client.get(reverse("admin:corpus_document_change", args=[document.pk]))

    touched = " ".join(query["sql"] for query in queries)
    assert "corpus_chunk" not in touched
    assert "vector" not in touched


def test_the_policy_loosens_for_the_admin_only(client, librarian):
    client.force_login(librarian)

    policy = client.get(reverse("admin:index"))["Content-Security-Policy"]
    elsewhere = client.get(reverse("documents"))["Content-Security-Policy"]

    assert "'unsafe-eval'" in policy
    assert "'unsafe-inline'" not in re.search(r"script-src[^;]*", policy)[0]
    assert "unsafe" not in elsewhere


def test_the_front_page_counts_and_links_to_exactly_what_it_counts(client, administrator):
    unknown = DocumentFactory(license_class="unknown")
    DocumentFactory(state="needs_ocr", chunk_count=0)
    retracted = DocumentFactory(source=SourceFactory())
    good = {"outcome": "good", "checked_at": NOW, "last_good_at": NOW}
    SourceCheck.objects.create(source=retracted.source, provider="crossref", **good)
    failed = DocumentFactory(source=SourceFactory())
    lost = {**good, "outcome": "check_failed", "reason": "timeout"}
    SourceCheck.objects.create(source=failed.source, provider="crossref", **lost)
    record_event(source=retracted.source, kind="retraction", origin="crossref", happened_on=date(2020, 1, 1))
    DocumentFactory(title="RETRACTED: Biochar", source=SourceFactory(title="Never checked"))
    IngestionItemFactory(path="a.pdf", outcome="failed")
    IngestionItemFactory(path="b.pdf", outcome="failed")
    IngestionItemFactory(path="b.pdf", outcome="ready", document=unknown)
    AccessRequest.objects.create(asked_by=administrator, wanted="A paper", wanted_key="a paper")
    DocumentFactory(fixity=Document.Fixity.ORIGINAL_MISSING)
    review.suggest_license(document=unknown, license_class="public", signal="CC0 1.0")
    DocumentFactory(state="quarantined", chunk_count=0)
    Webhook.objects.create(
        owner=administrator, url="https://lab.example.org/", events=["run_finished"], is_active=False
    )
    AcquisitionRequest.objects.create(question="What of kelp?", asked_by=administrator)
    WrongReport.objects.create(
        answer_ref=uuid4(), question="What of kelp?", searched_question="What of kelp?", engine="model",
        answer_sha256="0" * 64, comment="It is not so.", reported_by=administrator,
    )  # fmt: skip
    User.objects.create_user("nobody")
    low, high = sorted((MentionFactory().entity, MentionFactory().entity), key=lambda one: one.pk)
    MergeProposal.objects.create(low=low, high=high, tier=1, method="name", confidence=1)
    client.force_login(administrator)

    waiting = client.get(reverse("admin:index")).context["waiting"]

    counts = {str(item.label): item.count for item in waiting}
    # The one about answers: no answer is affected.
    assert counts.pop("Answers that cite a work retracted or doubted since") == 0
    assert list(counts.values()) == [1] * 17
    for item in waiting:
        listed = client.get(item.url)
        assert listed.status_code == 200, item.label
        rows = listed.context["cl"].result_list if "cl" in listed.context else listed.context["rows"]
        assert len(rows) == item.count, item.label


def test_a_librarian_corrects_a_documents_description_and_the_history_says_so(client, librarian):
    document = DocumentFactory(year=2019)
    client.force_login(librarian)

    response = client.post(
        reverse("admin:corpus_document_change", args=[document.pk]),
        {
            "title": "Right title",
            "authors": "Lovelace, Ada\n\n Hopper, Grace ",
            "year": "2021",
            "doi": "https://doi.org/10.1234/X",
            "journal": "Fuel",
            "url": "",
            "language": "en",
            "version_label": "",
            "source": "",
            "license_class": "public",
        },
    )

    assert response.status_code == 302
    document.refresh_from_db()
    assert (document.title, document.year, document.doi_normalised) == ("Right title", 2021, "10.1234/x")
    assert document.authors == ["Lovelace, Ada", "Hopper, Grace"]
    assert document.license_class == "open_commercial"
    history = client.get(reverse("admin:corpus_document_history", args=[document.pk])).text
    assert "librarian" in history
    assert "2019" in history


def test_a_doi_that_is_none_is_refused_with_what_was_typed_kept(client, librarian):
    document = DocumentFactory()
    client.force_login(librarian)

    response = client.post(
        reverse("admin:corpus_document_change", args=[document.pk]),
        {"title": "Half-typed title", "authors": "A", "doi": "not a doi", "language": "en"},
    )

    assert response.status_code == 200
    assert "This is not a DOI" in response.text
    assert "Half-typed title" in response.text
    assert Document.objects.get().title != "Half-typed title"


class TestEvents:
    @pytest.fixture(autouse=True)
    def _signed_in(self, client, librarian):
        client.force_login(librarian)

    def _post(self, client, source, **event):
        return client.post(
            reverse("admin:corpus_source_change", args=[source.pk]),
            {
                "title": source.title,
                "authors": "",
                "identifier_type": "doi",
                "identifier_value": source.identifier_value,
                "events-TOTAL_FORMS": "1",
                "events-INITIAL_FORMS": "0",
                **{f"events-0-{name}": value for name, value in event.items()},
            },
        )

    def test_recording_a_retraction_on_the_works_page_marks_it_and_says_who(self, client, librarian):
        source = SourceFactory()

        response = self._post(
            client, source, kind="retraction", happened_on="2021-05-04", notice_doi="10.1234/N", note="Letter"
        )

        assert response.status_code == 302
        assert Source.objects.get().is_retracted
        event = source.events.get()
        assert (event.origin, event.recorded_by, event.notice_doi) == ("manual", librarian, "10.1234/n")

    def test_a_day_to_come_is_refused(self, client):
        source = SourceFactory()

        response = self._post(client, source, kind="retraction", happened_on="2999-01-01")

        assert response.status_code == 200
        assert "still to come" in response.text
        assert not Source.objects.get().is_retracted

    def test_an_event_entered_by_mistake_is_withdrawn_and_the_standing_follows(self, client, librarian):
        source = SourceFactory()
        event = record_event(
            source=source, kind="retraction", origin="manual", happened_on=date(2020, 1, 1), by=librarian
        )

        response = client.post(
            reverse("admin:corpus_editorialevent_delete", args=[event.pk]), {"post": "yes"}
        )

        assert response.status_code == 302
        assert not Source.objects.get().is_retracted

    def test_what_an_index_asserted_is_not_withdrawn(self, client):
        source = SourceFactory()
        event = record_event(
            source=source, kind="retraction", origin="crossref", happened_on=date(2020, 1, 1)
        )

        response = client.post(
            reverse("admin:corpus_editorialevent_delete", args=[event.pk]), {"post": "yes"}
        )

        assert response.status_code == 403
        assert Source.objects.get().is_retracted


class TestSuccessor:
    def test_naming_and_taking_back_a_successor(self, client, librarian):
        old, new = DocumentFactory(), DocumentFactory()
        address = reverse("admin:corpus_document_successor", args=[old.pk])
        client.force_login(librarian)

        assert client.get(address).status_code == 200
        assert client.post(address, {"successor": str(new.pk), "note": "2022"}).status_code == 302
        old.refresh_from_db()
        assert old.superseded_by == new

        assert client.get(address).status_code == 200
        assert client.post(address, {"undo": "1"}).status_code == 302
        old.refresh_from_db()
        assert (old.status, old.superseded_by) == ("current", None)

    def test_a_circle_is_refused_in_words(self, client, librarian):
        old, new = DocumentFactory(), DocumentFactory()
        client.force_login(librarian)
        client.post(reverse("admin:corpus_document_successor", args=[old.pk]), {"successor": str(new.pk)})

        response = client.post(
            reverse("admin:corpus_document_successor", args=[new.pk]), {"successor": str(old.pk)}
        )

        assert response.status_code == 422
        assert "comes after" in response.text
