import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# A dataset whose last scrub was verified stays scrubbed. It is searched again before its text leaves.
KEEP_SCRUBBED = """
INSERT INTO datasets_app_textscan
    (dataset_id, revision, scanned_to, scrubbed_to, turn_count, found, exempt, names_searched)
SELECT d.id, 0, 0, s.last, 0, '{}', '{}', false
FROM datasets_app_dataset d
JOIN LATERAL (
    SELECT max(id) AS last FROM datasets_app_session WHERE dataset_id = d.id
) s ON s.last IS NOT NULL
JOIN LATERAL (
    SELECT verified_at FROM datasets_app_scrubrun
    WHERE dataset_id = d.id AND NOT dry_run ORDER BY id DESC LIMIT 1
) r ON r.verified_at IS NOT NULL
WHERE d.status IN ('scrubbed', 'released')
"""


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0011_audit_owner"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="scrubmark",
            name="reason",
            field=models.TextField(blank=True),
        ),
        migrations.CreateModel(
            name="TextScan",
            fields=[
                (
                    "dataset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text_scan",
                        serialize=False,
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "revision",
                    models.BigIntegerField(default=0, help_text="Grows whenever stored text changes."),
                ),
                (
                    "scanned_to",
                    models.BigIntegerField(default=0, help_text="Highest session key that was searched."),
                ),
                (
                    "scrubbed_to",
                    models.BigIntegerField(
                        default=0, help_text="Highest session key of the last verified scrub of all types."
                    ),
                ),
                ("turn_count", models.BigIntegerField(default=0, help_text="Number of turns searched.")),
                ("found", models.JSONField(default=dict, help_text="Number of values found for each type.")),
                (
                    "exempt",
                    models.JSONField(
                        default=dict,
                        help_text="Ignored terms and their occurrences, for each type that matches them.",
                    ),
                ),
                (
                    "names_searched",
                    models.BooleanField(default=False, help_text="Whether a model searched for names."),
                ),
                ("scanned_at", models.DateTimeField(null=True)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("scanned_to__gte", 0), ("scrubbed_to__gte", 0), ("turn_count__gte", 0)
                        ),
                        name="text_scan_counts_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Attestation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "last_session",
                    models.BigIntegerField(help_text="Highest session key that the statement covers."),
                ),
                ("reason", models.TextField()),
                ("created_by_name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
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
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attestations",
                        to="datasets_app.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": (),
                "indexes": [models.Index(fields=["dataset", "-id"], name="attestation_of_dataset")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("dataset",),
                        name="attestation_one_in_force",
                    )
                ],
            },
        ),
        migrations.RunSQL(KEEP_SCRUBBED, migrations.RunSQL.noop),
    ]
