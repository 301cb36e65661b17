from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0003_documents_read_for_a_build"),
    ]

    operations = [
        migrations.AddField(
            model_name="community",
            name="evidence_sha256",
            field=models.CharField(
                blank=True, default="", help_text="Hash of what the summary was written from", max_length=64
            ),
        ),
        migrations.AddField(
            model_name="communitybuild",
            name="size",
            field=models.PositiveIntegerField(
                default=0, help_text="How many communities it had when it was finished"
            ),
        ),
        migrations.AddField(
            model_name="communitybuild",
            name="touched_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="communitybuild",
            constraint=models.UniqueConstraint(
                condition=models.Q(("finished_at__isnull", True)),
                fields=("scope_name",),
                name="retrieval_communitybuild_one_is_being_made",
            ),
        ),
    ]
