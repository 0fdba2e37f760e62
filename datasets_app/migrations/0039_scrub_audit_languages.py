from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0038_text_scan_unmeasured")]

    operations = [
        migrations.AddField(
            model_name="scrubaudit",
            name="languages",
            field=models.JSONField(
                null=True, help_text="Of the turns; empty: others. None for a sample of an earlier version."
            ),
        ),
    ]
