import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# Take the place of a foreign key to a partition: see the first migration.
CREATE_REFERENCE = """
CREATE TRIGGER verdict_turn_id_added AFTER INSERT ON annotations_app_verdict
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_turn', 'n.dataset_id', 'n.turn_id');
CREATE TRIGGER verdict_turn_id_changed AFTER UPDATE OF turn_id ON annotations_app_verdict FOR EACH ROW
    WHEN (OLD.turn_id IS DISTINCT FROM NEW.turn_id)
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_turn', 'n.dataset_id', 'n.turn_id');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotations_app", "0008_imported_answers"),
        ("datasets_app", "0044_judge_endpoints"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Judge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("version", models.PositiveIntegerField()),
                (
                    "digest",
                    models.CharField(help_text="Changes with what can change a judgment.", max_length=64),
                ),
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
        migrations.CreateModel(
            name="JudgeRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("prompt_digest", models.CharField(max_length=64)),
                ("persona_digest", models.CharField(max_length=64)),
                ("guidelines_digest", models.CharField(blank=True, max_length=64)),
                ("repeats", models.PositiveSmallIntegerField(default=1)),
                ("examples", models.JSONField(default=list)),
                ("used", models.JSONField(default=dict)),
                ("sent", models.BigIntegerField(default=0)),
                ("stopped", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judge_runs",
                        to="annotations_app.campaign",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="annotations_app.judge",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("repeat", models.PositiveSmallIntegerField(db_default=0)),
                ("codes", models.JSONField(default=dict)),
                ("rationale", models.TextField(blank=True, null=True)),
                ("failure", models.CharField(blank=True, db_default="", max_length=200)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="annotations_app.judgerun",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="datasets_app.turn",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
            },
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.UniqueConstraint(fields=("name", "version"), name="judge_version_once"),
        ),
        migrations.AddConstraint(
            model_name="judgerun",
            constraint=models.UniqueConstraint(
                fields=("campaign", "judge", "prompt_digest"), name="judge_run_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.UniqueConstraint(fields=("run", "turn", "repeat"), name="verdict_once"),
        ),
        migrations.RunSQL(CREATE_REFERENCE, migrations.RunSQL.noop),
    ]
