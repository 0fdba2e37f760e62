import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotations_app", "0009_judges"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="revealed_judge",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="annotations_app.judge",
            ),
        ),
        migrations.AddField(
            model_name="decision",
            name="revealed",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
