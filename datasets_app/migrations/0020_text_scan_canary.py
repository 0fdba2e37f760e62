from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0019_scrub_audits"),
    ]

    operations = [
        migrations.AddField(
            model_name="textscan",
            name="canary",
            field=models.JSONField(
                blank=True,
                help_text="How many planted values of each type a scrub of this text leaves.",
                null=True,
            ),
        ),
    ]
