from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0004_roles_and_calibration")]

    operations = [
        migrations.AddField(
            model_name="retrievaloutcome",
            name="stages",
            field=models.JSONField(default=dict, help_text="What became of each stage"),
        )
    ]
