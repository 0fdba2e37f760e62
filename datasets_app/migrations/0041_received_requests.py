import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0040_sharing_requirements"),
    ]

    operations = [
        migrations.AddField(
            model_name="source",
            name="rejected_spans",
            field=models.BigIntegerField(
                db_default=0, default=0, editable=False, help_text="Received spans that were not valid."
            ),
        ),
        migrations.CreateModel(
            name="ReceivedRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content_type", models.CharField(max_length=30)),
                ("spans", models.PositiveIntegerField()),
                ("size", models.PositiveIntegerField()),
                ("body", models.BinaryField()),
                ("received_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="requests",
                        to="datasets_app.source",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
    ]
