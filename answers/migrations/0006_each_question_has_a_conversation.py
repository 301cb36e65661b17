from django.db import migrations
from django.db.models import F

AT_ONCE = 500


def give(apps, schema_editor):
    """Give every question that somebody asked a conversation of its own.

    The conversation takes the answer's id, which is as unique, so that a run that was cut off can be
    repeated. An answer offered instead of a failed one goes where that one is.
    """
    alias = schema_editor.connection.alias
    answers = apps.get_model("answers", "Answer").objects.using(alias)
    conversations = apps.get_model("answers", "Conversation").objects.using(alias)
    without = answers.filter(asked_by__isnull=False, conversation__isnull=True)
    originals = without.filter(instead_of__isnull=True).order_by("pk")
    while rows := list(originals.values("pk", "asked_by_id", "created_at")[:AT_ONCE]):
        conversations.bulk_create(
            [
                conversations.model(
                    pk=row["pk"],
                    asked_by_id=row["asked_by_id"],
                    started_at=row["created_at"],
                    last_asked_at=row["created_at"],
                )
                for row in rows
            ],
            ignore_conflicts=True,
        )
        answers.filter(pk__in=[row["pk"] for row in rows]).update(conversation_id=F("pk"))
    while rows := list(
        without.filter(instead_of__conversation__isnull=False)
        .order_by("pk")
        .values("pk", "instead_of__conversation_id")[:AT_ONCE]
    ):
        for row in rows:
            answers.filter(pk=row["pk"]).update(conversation_id=row["instead_of__conversation_id"])


class Migration(migrations.Migration):
    dependencies = [("answers", "0005_conversations")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
