"""Rewords what scrubs stated of hashed session ids: later scrubs took the old words for a user name."""

from django.db import migrations

REWORD = r"""
UPDATE datasets_app_dataset
SET provenance = regexp_replace(
    provenance::text,
    'session ids replaced by keyed hashes \((HMAC-SHA-256|\[HANDLE(_[0-9]+)?\])\)',
    'session ids replaced by keyed SHA-256 hashes',
    'g'
)::jsonb
WHERE provenance::text LIKE '%session ids replaced by keyed hashes (%'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0035_turn_selections"),
    ]

    operations = [migrations.RunSQL(REWORD, migrations.RunSQL.noop)]
