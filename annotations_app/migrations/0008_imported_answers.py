"""Unknown keys of lines under a schema, and one adjudicated decision a reply. No row is rewritten."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotations_app", "0007_label_schemas"),
        ("datasets_app", "0042_scrub_audit_languages"),
    ]

    operations = [
        migrations.AddField(
            model_name="judgment",
            name="extra",
            field=models.JSONField(blank=True, help_text="As that of a label.", null=True),
        ),
        migrations.AddConstraint(
            model_name="judgment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "adjudicated")),
                fields=("turn", "persona_id", "schema"),
                name="judgment_adjudicated_once",
            ),
        ),
    ]
