"""All tables of campaigns and labels as they were at the first release of the schema.

Triggers take the place of foreign keys to sessions and turns: see the first migration of datasets_app.
"""

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

CREATE_REFERENCE = """
CREATE TRIGGER {name}_{target}_id_added AFTER INSERT ON annotations_app_{name}
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_{target}', '{dataset}', 'n.{target}_id');
CREATE TRIGGER {name}_{target}_id_changed AFTER UPDATE OF {target}_id ON annotations_app_{name} FOR EACH ROW
    WHEN (OLD.{target}_id IS DISTINCT FROM NEW.{target}_id)
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_{target}', '{dataset}', 'n.{target}_id');
"""
CAMPAIGN = "(SELECT c.dataset_id FROM annotations_app_campaign c WHERE c.id = n.campaign_id)"
# (referring table, table referred to, dataset of the new row n)
REFERRING = (
    ("annotation", "turn", "n.dataset_id"),
    ("campaignitem", "turn", CAMPAIGN),
    ("campaignitem", "session", CAMPAIGN),
)
REPLACED = """
0001_initial
0002_campaigns
0003_plain_words
0004_references_to_partitions
0005_max_replies
"""


class Migration(migrations.Migration):
    initial = True

    # Databases of before have these.
    replaces = [("annotations_app", name) for name in REPLACED.split()]

    dependencies = [
        ("datasets_app", "0001_squashed_0037"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        max_length=100,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
                                "Use letters, digits, dots, dashes and underscores only.",
                            )
                        ],
                    ),
                ),
                ("guidelines", models.TextField(blank=True, help_text="Markdown, shown next to the reply.")),
                (
                    "overlap",
                    models.PositiveSmallIntegerField(
                        default=2,
                        help_text="How many annotators label each reply.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(50),
                        ],
                        verbose_name="annotators per reply",
                    ),
                ),
                (
                    "gold_share",
                    models.FloatField(
                        default=0.0,
                        help_text="Share of replies with a known label (0 to 0.5).",
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(0.5),
                        ],
                    ),
                ),
                (
                    "repeat_share",
                    models.FloatField(
                        default=0.0,
                        help_text="Share of replies that an annotator labels twice (0 to 0.5).",
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(0.5),
                        ],
                    ),
                ),
                (
                    "order",
                    models.CharField(
                        choices=[
                            ("random", "Random"),
                            ("session", "Session by session"),
                            ("disputed", "Most disputed first"),
                        ],
                        default="random",
                        max_length=8,
                    ),
                ),
                ("tag", models.TextField(blank=True, help_text="Only replies with this tag.")),
                (
                    "split",
                    models.CharField(blank=True, help_text="Only sessions of this split.", max_length=20),
                ),
                (
                    "lease_minutes",
                    models.PositiveSmallIntegerField(
                        default=15,
                        help_text="A reply goes to another annotator after this many minutes of inactivity.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1440),
                        ],
                        verbose_name="lock timeout (minutes)",
                    ),
                ),
                (
                    "seed",
                    models.BigIntegerField(
                        default=42, help_text="Seed for the random order, gold items and repeats."
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("preparing", "Preparing"),
                            ("open", "Open"),
                            ("paused", "Paused"),
                            ("closed", "Closed"),
                        ],
                        default="preparing",
                        editable=False,
                        max_length=9,
                    ),
                ),
                ("overridden", models.BooleanField(default=False, editable=False)),
                ("item_count", models.BigIntegerField(default=0, editable=False)),
                ("gold_count", models.BigIntegerField(default=0, editable=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("closed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "max_replies",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The first of the order; empty for all.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="number of replies",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="campaigns",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "persona",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="campaigns",
                        to="datasets_app.persona",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "permissions": [
                    ("annotate", "Can label in the campaigns they are a member of"),
                    ("adjudicate", "Can resolve disagreements between annotators"),
                ],
                "default_permissions": ("view", "add", "change"),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("overlap__gte", 1)), name="campaign_overlap_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gold_share__gte", 0),
                            ("gold_share__lte", 0.5),
                            ("repeat_share__gte", 0),
                            ("repeat_share__lte", 0.5),
                        ),
                        name="campaign_shares_in_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("order__in", ["random", "session", "disputed"])),
                        name="campaign_order_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["preparing", "open", "paused", "closed"])),
                        name="campaign_status_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.SmallIntegerField(choices=[(0, "Off-brand"), (1, "On-brand")])),
                ("persona_id", models.CharField(max_length=500)),
                ("annotator", models.CharField(blank=True, max_length=200, null=True)),
                ("notes", models.TextField(blank=True, null=True)),
                ("confidence", models.FloatField(blank=True, null=True)),
                ("timestamp", models.TextField(blank=True, null=True)),
                (
                    "extra",
                    models.JSONField(
                        blank=True,
                        help_text="Keys of the line that the file format doesn't define.",
                        null=True,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
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
                        editable=False,
                        max_length=11,
                    ),
                ),
                (
                    "persona_digest",
                    models.CharField(
                        blank=True,
                        db_default="",
                        editable=False,
                        help_text="Digest of the persona's YAML that the annotator saw.",
                        max_length=64,
                    ),
                ),
                (
                    "seconds",
                    models.FloatField(blank=True, editable=False, help_text="Time on task.", null=True),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="annotations",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="annotations",
                        to="datasets_app.turn",
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="annotations",
                        to="annotations_app.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "permissions": [
                    ("import_annotation", "Can import labels"),
                    ("export_annotation", "Can export labels"),
                ],
                "indexes": [
                    models.Index(fields=["dataset", "persona_id", "id"], name="annotation_export"),
                    models.Index(
                        fields=["dataset", "persona_id", "kind", "turn"],
                        include=("annotator", "label", "campaign"),
                        name="annotation_agreement",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("label__in", [0, 1])), name="annotation_label_0_or_1"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("persona_id", ""), _negated=True),
                        name="annotation_persona_id_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["label", "repeat", "adjudicated", "withdrawn"])),
                        name="annotation_kind_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "adjudicated")),
                        fields=("turn", "persona_id"),
                        name="annotation_adjudicated_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CampaignItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("open", models.SmallIntegerField()),
                ("gold", models.BooleanField(db_default=False)),
                ("returned_at", models.DateTimeField(null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="annotations_app.campaign",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="campaign_items",
                        to="datasets_app.session",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="campaign_items",
                        to="datasets_app.turn",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["session", "campaign", "position"], name="campaign_item_of_session"),
                    models.Index(
                        condition=models.Q(("open__gt", 0)),
                        fields=["campaign", "position"],
                        name="campaign_item_to_give",
                    ),
                    models.Index(
                        condition=models.Q(("open__gt", 0), ("returned_at__isnull", False)),
                        fields=["campaign", "returned_at"],
                        name="campaign_item_returned",
                    ),
                    models.Index(
                        condition=models.Q(("gold", True)),
                        fields=["campaign", "position"],
                        name="campaign_item_gold",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("turn", "campaign"), name="campaign_item_once"),
                    models.CheckConstraint(
                        condition=models.Q(("open__gte", 0)), name="campaign_item_open_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("repeat", models.BooleanField(db_default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("leased", "In progress"),
                            ("labelled", "Labeled"),
                            ("skipped", "Skipped"),
                            ("flagged", "Flagged"),
                            ("released", "Returned"),
                        ],
                        default="leased",
                        max_length=8,
                    ),
                ),
                ("ordinal", models.BigIntegerField()),
                (
                    "persona_digest",
                    models.CharField(help_text="Digest of the persona's YAML shown.", max_length=64),
                ),
                ("served_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("leased_until", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotation",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="assignment",
                        to="annotations_app.annotation",
                    ),
                ),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="annotations_app.campaign",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="annotations_app.campaignitem",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "leased")),
                        fields=["campaign", "leased_until"],
                        name="assignment_leases",
                    ),
                    models.Index(fields=["campaign", "annotator", "-decided_at"], name="assignment_decided"),
                    models.Index(
                        condition=models.Q(("state", "flagged")),
                        fields=["campaign", "-decided_at"],
                        name="assignment_flagged",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("item", "annotator", "repeat"), name="assignment_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["leased", "labelled", "skipped", "flagged", "released"])
                        ),
                        name="assignment_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CampaignMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("active", models.BooleanField(db_default=True)),
                ("cursor", models.BigIntegerField(db_default=0)),
                ("gold_cursor", models.BigIntegerField(db_default=0)),
                ("returned_seen", models.DateTimeField(null=True)),
                ("searched_at", models.DateTimeField(null=True)),
                ("served", models.BigIntegerField(db_default=0)),
                ("labelled", models.BigIntegerField(db_default=0)),
                ("gold_labelled", models.BigIntegerField(db_default=0)),
                ("repeated", models.BigIntegerField(db_default=0)),
                ("skipped", models.BigIntegerField(db_default=0)),
                ("flagged", models.BigIntegerField(db_default=0)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="annotations_app.campaign",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets_app.session",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="campaign_memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "user"), name="campaign_member_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.UUIDField(unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("label", "Label"),
                            ("skip", "Skip"),
                            ("flag", "Flag"),
                            ("undo", "Undo"),
                            ("requeue", "Requeued"),
                        ],
                        max_length=7,
                    ),
                ),
                (
                    "label",
                    models.SmallIntegerField(
                        blank=True, choices=[(0, "Off-brand"), (1, "On-brand")], null=True
                    ),
                ),
                (
                    "notes",
                    models.TextField(blank=True, help_text="The note, or the reason for a flag.", null=True),
                ),
                ("confidence", models.FloatField(blank=True, null=True)),
                ("seconds", models.FloatField(blank=True, null=True)),
                ("persona_digest", models.CharField(max_length=64)),
                ("counted", models.BooleanField(db_default=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="decisions",
                        to="annotations_app.assignment",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": ("view",),
            },
        ),
        *(
            migrations.RunSQL(CREATE_REFERENCE.format(name=name, target=target, dataset=dataset))
            for name, target, dataset in REFERRING
        ),
    ]
