from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0042_scrub_audit_languages"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("persona_id__isnull", False)),
                fields=["persona_id"],
                name="session_persona",
            ),
        ),
    ]
