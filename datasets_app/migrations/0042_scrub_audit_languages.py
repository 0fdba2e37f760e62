from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0041_received_requests")]

    operations = [
        migrations.AddField(
            model_name="scrubaudit",
            name="languages",
            field=models.JSONField(
                null=True, help_text="Of the turns; empty: others. None for a sample of an earlier version."
            ),
        ),
    ]
