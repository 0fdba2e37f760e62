"""What campaigns ask beside the built-in criterion, who judges, and what they answer.

Labels by the built-in criterion stay where they are, and a campaign without a schema asks it: nothing is
rewritten.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# Take the place of a foreign key to a partition: see the first migration.
CREATE_REFERENCE = """
CREATE TRIGGER judgment_turn_id_added AFTER INSERT ON annotations_app_judgment
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_turn', 'n.dataset_id', 'n.turn_id');
CREATE TRIGGER judgment_turn_id_changed AFTER UPDATE OF turn_id ON annotations_app_judgment FOR EACH ROW
    WHEN (OLD.turn_id IS DISTINCT FROM NEW.turn_id)
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_turn', 'n.dataset_id', 'n.turn_id');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotations_app", "0006_decision_time"),
        ("datasets_app", "0042_scrub_audit_languages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="codes",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="decision",
            name="texts",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="LabelSchema",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("version", models.PositiveIntegerField()),
                ("digest", models.CharField(help_text="Changes with the meaning of a label.", max_length=64)),
                ("document", models.JSONField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "-version"],
                "default_permissions": (),
            },
        ),
        migrations.AddField(
            model_name="campaign",
            name="schema",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="campaigns",
                to="annotations_app.labelschema",
            ),
        ),
        migrations.CreateModel(
            name="Rater",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("person", "Person"), ("model", "Model"), ("import", "Import")], max_length=6
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200, null=True)),
                ("version", models.CharField(blank=True, db_default="", max_length=200)),
                ("prompt_digest", models.CharField(blank=True, db_default="", max_length=64)),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="raters",
                        to="datasets_app.dataset",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Judgment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("label", "Label"),
                            ("repeat", "Hidden repeat"),
                            ("adjudicated", "Adjudicated"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        db_default="label",
                        max_length=11,
                    ),
                ),
                ("codes", models.JSONField(default=dict)),
                ("texts", models.JSONField(blank=True, null=True)),
                ("persona_id", models.CharField(max_length=500)),
                ("persona_digest", models.CharField(blank=True, db_default="", max_length=64)),
                ("guidelines_digest", models.CharField(blank=True, db_default="", max_length=64)),
                ("notes", models.TextField(blank=True, null=True)),
                ("confidence", models.FloatField(blank=True, null=True)),
                ("seconds", models.FloatField(blank=True, help_text="Time on task.", null=True)),
                ("timestamp", models.TextField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "assignment",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="judgment",
                        to="annotations_app.assignment",
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="judgments",
                        to="annotations_app.campaign",
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="datasets_app.turn",
                    ),
                ),
                (
                    "schema",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="annotations_app.labelschema",
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="annotations_app.rater",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
            },
        ),
        migrations.AddConstraint(
            model_name="labelschema",
            constraint=models.UniqueConstraint(fields=("name", "version"), name="label_schema_version_once"),
        ),
        migrations.AddConstraint(
            model_name="rater",
            constraint=models.UniqueConstraint(
                fields=("dataset", "kind", "name", "version", "prompt_digest"),
                name="rater_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddIndex(
            model_name="judgment",
            index=models.Index(fields=["campaign", "kind", "turn"], name="judgment_agreement"),
        ),
        migrations.AddConstraint(
            model_name="judgment",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["label", "repeat", "adjudicated", "withdrawn"])),
                name="judgment_kind_known",
            ),
        ),
        migrations.RunSQL(CREATE_REFERENCE, migrations.RunSQL.noop),
    ]
