from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0038_text_scan_unmeasured")]

    operations = [
        migrations.AddField(
            model_name="textscan",
            name="written",
            field=models.JSONField(
                null=True,
                help_text="The same in notes of labels that were imported since the last verified scrub.",
            ),
        ),
    ]
