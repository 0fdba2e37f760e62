import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

# Of a trigger, only the whole can be replaced. The last pair is new.
REFUSE_REFERENCED = """
DROP TRIGGER session_not_referenced ON datasets_app_session;
CREATE TRIGGER session_not_referenced AFTER DELETE ON datasets_app_session REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_refuse_referenced(
        'datasets_app_scrubfinding', 'session_id', 'datasets_app_checkfinding', 'session_id',
        'datasets_app_auditedturn', 'session_id', 'annotations_app_campaignitem', 'session_id'{added});
"""
COMMENT_TRIGGERS = """
CREATE TRIGGER sessioncomment_session_id_added AFTER INSERT ON datasets_app_sessioncomment
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_session', 'n.dataset_id', 'n.session_id');
CREATE TRIGGER sessioncomment_session_id_changed AFTER UPDATE OF session_id ON datasets_app_sessioncomment
    FOR EACH ROW WHEN (OLD.session_id IS DISTINCT FROM NEW.session_id)
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_session', 'n.dataset_id', 'n.session_id');
"""
DROP_COMMENT_TRIGGERS = """
DROP TRIGGER sessioncomment_session_id_added ON datasets_app_sessioncomment;
DROP TRIGGER sessioncomment_session_id_changed ON datasets_app_sessioncomment;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0027_api_tokens"),
        ("annotations_app", "0004_references_to_partitions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="excluded",
            field=models.BooleanField(db_default=False, editable=False),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["turn_count", "id"], name="session_length"),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                condition=models.Q(("turn_index", 1)),
                fields=["timestamp", "session"],
                name="turn_first_timestamp",
            ),
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("query", models.TextField(blank=True)),
                ("has_text", models.BooleanField()),
                ("shared", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "owner", "name"), name="saved_view_name_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SessionSelection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "keys",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"default_permissions": ()},
        ),
        migrations.CreateModel(
            name="SessionComment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("turn_index", models.IntegerField(blank=True, null=True)),
                ("author_name", models.CharField(max_length=150)),
                ("text", models.TextField()),
                (
                    "mentions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "author",
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
                        related_name="+",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="datasets_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": ("add",),
                "indexes": [models.Index(fields=["dataset", "-id"], name="session_comment_of_dataset")],
            },
        ),
        migrations.RunSQL(COMMENT_TRIGGERS, DROP_COMMENT_TRIGGERS),
        migrations.RunSQL(
            REFUSE_REFERENCED.format(added=", 'datasets_app_sessioncomment', 'session_id'"),
            REFUSE_REFERENCED.format(added=""),
        ),
    ]
