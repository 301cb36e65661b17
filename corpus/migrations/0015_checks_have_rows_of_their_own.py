from django.db import migrations


class Migration(migrations.Migration):
    """Drop two columns that nothing has written to: `SourceCheck` says it for each provider."""

    dependencies = [("corpus", "0014_claimed_retractions")]

    operations = [
        migrations.RemoveField(model_name="source", name="check_outcome"),
        migrations.RemoveField(model_name="source", name="last_checked_at"),
    ]
