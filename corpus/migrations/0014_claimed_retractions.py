from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0013_references_from_an_index")]

    operations = [
        migrations.AlterField(
            model_name="reviewitem",
            name="kind",
            field=models.CharField(
                choices=[
                    ("looser_license", "Licence that allows more"),
                    ("supersession_proposed", "Newer version of the same work"),
                    ("claimed_retraction", "Retraction that nothing asserts"),
                ],
                max_length=32,
            ),
        ),
    ]
