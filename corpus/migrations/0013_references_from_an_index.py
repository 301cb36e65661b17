from django.db import migrations, models


def forget_those_of_indexes(apps, schema_editor):
    """Remove what the former constraint has no place for; a check brings it again."""
    rows = apps.get_model("corpus", "DocumentCitation").objects.using(schema_editor.connection.alias)
    rows.filter(origin="index").delete()


class Migration(migrations.Migration):
    dependencies = [("corpus", "0012_source_checks")]

    operations = [
        migrations.RemoveConstraint(
            model_name="documentcitation", name="corpus_documentcitation_ordinal_is_unique"
        ),
        migrations.AddField(
            model_name="documentcitation",
            name="origin",
            field=models.CharField(
                choices=[("document", "The document's own list"), ("index", "Deposited with an index")],
                default="document",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            model_name="documentcitation",
            constraint=models.UniqueConstraint(
                fields=("citing", "origin", "ordinal"), name="corpus_documentcitation_ordinal_is_unique"
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_those_of_indexes),
    ]
