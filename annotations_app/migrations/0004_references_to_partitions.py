"""Triggers replace the constraints of references to partitions: see 0024_partitions of datasets_app."""

import django.db.models.deletion
from django.db import migrations, models


def _reference(model, **options):
    return models.ForeignKey(
        db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to=model, **options
    )


class Migration(migrations.Migration):
    dependencies = [("annotations_app", "0003_plain_words"), ("datasets_app", "0024_partitions")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="annotation",
                    name="turn",
                    field=_reference("datasets_app.turn", related_name="annotations"),
                ),
                migrations.AlterField(
                    model_name="campaignitem",
                    name="turn",
                    field=_reference("datasets_app.turn", related_name="campaign_items", db_index=False),
                ),
                migrations.AlterField(
                    model_name="campaignitem",
                    name="session",
                    field=_reference("datasets_app.session", related_name="campaign_items", db_index=False),
                ),
            ]
        )
    ]
