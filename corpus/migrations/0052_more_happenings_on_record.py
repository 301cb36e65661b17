"""Two more kinds of happenings: a search that found too much, and a kept file that changed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0051_documents_know_their_passages"),
    ]

    operations = [
        migrations.AlterField(
            model_name="auditevent",
            name="kind",
            field=models.CharField(
                choices=[
                    ("sign_in.succeeded", "Signed in"),
                    ("sign_in.failed", "Could not sign in"),
                    ("denied", "Was refused"),
                    ("uploaded", "Sent files"),
                    ("exported", "Took a file away"),
                    ("overridden", "Looked past a rule"),
                    ("configured", "The configuration is another one"),
                    ("evaluation.published", "An evaluation has its report"),
                    ("retrieval.recheck_dropped", "A search found what its scope does not allow"),
                    ("fixity.changed", "A kept file is not what it was"),
                ],
                max_length=30,
            ),
        ),
    ]
