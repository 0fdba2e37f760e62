import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0034_comment_mentions"),
    ]

    operations = [
        migrations.AddField(
            model_name="savedview",
            name="page",
            field=models.CharField(
                choices=[("sessions", "Sessions"), ("turns", "Turns")], db_default="sessions", max_length=20
            ),
        ),
        migrations.AddField(
            model_name="sessionselection",
            name="turns",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(), blank=True, null=True, size=None
            ),
        ),
    ]
