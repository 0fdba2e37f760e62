"""Campaigns that compare replies of two datasets: the other reply of an item."""

import django.db.models.deletion
from django.db import migrations, models

# Take the place of a foreign key to a partition: see the first migration.
CREATE_REFERENCE = """
CREATE TRIGGER pairedreply_turn_id_added AFTER INSERT ON annotations_app_pairedreply
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_turn', 'n.dataset_id', 'n.turn_id');
CREATE TRIGGER pairedreply_turn_id_changed AFTER UPDATE OF turn_id ON annotations_app_pairedreply FOR EACH ROW
    WHEN (OLD.turn_id IS DISTINCT FROM NEW.turn_id)
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_turn', 'n.dataset_id', 'n.turn_id');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotations_app", "0010_revealed_judge"),
        ("datasets_app", "0042_scrub_audit_languages"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="other_dataset",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="compared_campaigns",
                to="datasets_app.dataset",
            ),
        ),
        migrations.AddField(
            model_name="campaign",
            name="unpaired",
            field=models.JSONField(blank=True, editable=False, null=True),
        ),
        migrations.CreateModel(
            name="PairedReply",
            fields=[
                (
                    "item",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="pair",
                        serialize=False,
                        to="annotations_app.campaignitem",
                    ),
                ),
                ("swapped", models.BooleanField()),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="paired_replies",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="paired_replies",
                        to="datasets_app.turn",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.RunSQL(CREATE_REFERENCE, migrations.RunSQL.noop),
    ]
