"""A turn that answers or verdicts still refer to can't be deleted, as it can't below a label."""

from django.db import migrations

HOLD_TURNS = """
CREATE TRIGGER turn_not_judged AFTER DELETE ON datasets_app_turn REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_refuse_referenced(
        'annotations_app_judgment', 'turn_id', 'annotations_app_verdict', 'turn_id',
        'annotations_app_pairedreply', 'turn_id');
"""
RELEASE_TURNS = "DROP TRIGGER turn_not_judged ON datasets_app_turn;"


class Migration(migrations.Migration):
    dependencies = [("annotations_app", "0022_juries")]

    operations = [migrations.RunSQL(HOLD_TURNS, RELEASE_TURNS)]
