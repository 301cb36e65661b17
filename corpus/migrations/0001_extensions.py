from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.utils import DatabaseError

EXTENSIONS = ("vector", "pg_trgm", "unaccent")


def create_extensions(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension")
        present = {name for (name,) in cursor.fetchall()}
        for name in EXTENSIONS:
            if name in present:
                continue
            try:
                cursor.execute(f"CREATE EXTENSION {name}")
            except DatabaseError as error:
                raise RuntimeError(
                    f"PostgreSQL cannot create the extension '{name}'. Install it on the server (pgvector 0.8.4 "
                    f"or newer for 'vector'), let a superuser run CREATE EXTENSION {name}, and migrate again."
                ) from error


class Migration(migrations.Migration):
    dependencies = []
    # Dropping an extension drops what others built on it, so going back leaves them in place.
    operations = [migrations.RunPython(create_extensions, migrations.RunPython.noop)]
