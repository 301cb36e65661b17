"""Attempts to sign in are counted by the site itself. What django-axes kept, names and all, goes."""

from django.db import migrations

DROP = """
DROP TABLE IF EXISTS axes_accessattemptexpiration, axes_accessattempt, axes_accessfailurelog, axes_accesslog;
DELETE FROM django_migrations WHERE app = 'axes';
"""


class Migration(migrations.Migration):
    dependencies = [("corpus", "0032_administrators_map_groups")]

    # There is no way back to what was kept, and nothing reads it: going back does nothing.
    operations = [migrations.RunSQL(DROP, migrations.RunSQL.noop)]
