"""What somebody disabled who does not own it, before that was kept, is held from now on."""

from django.db import migrations

# The reason names who did it.
HELD = """
UPDATE corpus_webhook AS hook SET is_held = true FROM auth_user AS owner
WHERE owner.id = hook.owner_id AND NOT hook.is_active AND EXISTS (
    SELECT FROM auth_user AS other
    WHERE other.id <> owner.id AND hook.disabled_reason = 'Disabled by ' || other.username || '.')
"""


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0042_campaign_runs_can_be_capped"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        # The way back loses the column itself, one migration earlier.
        migrations.RunSQL(HELD, migrations.RunSQL.noop),
    ]
