"""A run over a campaign that used what it may says so, as other runs do."""

from django.db import migrations, models

# Beside the state, `last_error_code` says the same: nothing is lost on the way back.
CAPPED = "UPDATE corpus_campaignrun SET state = 'capped' WHERE state = 'failed' AND last_error_code = 'cap_reached'"
FAILED = "UPDATE corpus_campaignrun SET state = 'failed' WHERE state = 'capped'"


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0041_webhooks_can_be_held"),
    ]

    operations = [
        migrations.AlterField(
            model_name="campaignrun",
            name="state",
            field=models.CharField(
                choices=[
                    ("running", "Running"),
                    ("finished", "Finished"),
                    ("failed", "Ended early"),
                    ("capped", "Stopped at the cap"),
                    ("cancelled", "Cancelled"),
                ],
                default="running",
                max_length=9,
            ),
        ),
        migrations.RunSQL(CAPPED, FAILED),
    ]
