from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0001_knowledge_graph"),
    ]

    operations = [
        migrations.AddField(
            model_name="extractionrun",
            name="is_for_workers",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="extractionrun",
            name="parameters",
            field=models.JSONField(default=dict, help_text="What was asked for"),
        ),
        migrations.AddField(
            model_name="extractionrun",
            name="touched_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
