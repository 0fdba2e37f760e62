"""What was last recorded of the audit log in each place outside the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0013_tombstones")]

    operations = [
        migrations.CreateModel(
            name="AuditHeadPlace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=200, unique=True)),
                ("position", models.BigIntegerField(default=0)),
                ("digest", models.CharField(default="0" * 64, max_length=64)),
                ("recorded_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
                ("failing_since", models.DateTimeField(null=True)),
                ("failure", models.CharField(blank=True, max_length=200)),
            ],
            options={"ordering": ["label"], "default_permissions": ()},
        ),
    ]
