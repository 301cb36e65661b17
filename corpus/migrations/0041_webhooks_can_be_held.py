"""What another than its owner disabled is held: its owner may not enable it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0040_administrators_see_backups"),
    ]

    operations = [
        migrations.AddField(
            model_name="webhook",
            name="is_held",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text="Disabled by who oversees: its owner may not enable it",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_active", False), ("is_held", False), _connector="OR"),
                name="corpus_webhook_held_is_not_active",
            ),
        ),
    ]
