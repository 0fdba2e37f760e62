"""Sessions and turns move to partitions: see docs/decisions/0024-a-partition-for-each-dataset.md.

What stands already is copied dataset by dataset, each in a transaction of its own; a migration that was
interrupted continues with the first dataset that isn't copied. The old tables are dropped at the end, after
their rows have been counted again in the partitions.
"""

import sys
import time

import django.db.models.deletion
from django.db import migrations, models, transaction

from datasets_app.migrations._partition_functions import CREATE_REFERENCE, FUNCTIONS, REFERENCES, REFERRING

OLD_SESSIONS, OLD_TURNS = "datasets_app_session_unpartitioned", "datasets_app_turn_unpartitioned"

# Nothing refers to the old tables from here on. Triggers replace the constraints at the end.
SET_ASIDE = """
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT conrelid::regclass AS referring, conname FROM pg_constraint
        WHERE contype = 'f' AND confrelid IN ('datasets_app_session'::regclass, 'datasets_app_turn'::regclass)
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.referring, found.conname);
    END LOOP;
END $$;
ALTER TABLE datasets_app_session RENAME TO datasets_app_session_unpartitioned;
ALTER TABLE datasets_app_turn RENAME TO datasets_app_turn_unpartitioned;
ALTER INDEX datasets_app_session_pkey RENAME TO session_unpartitioned_pkey;
ALTER INDEX datasets_app_turn_pkey RENAME TO turn_unpartitioned_pkey;
ALTER INDEX session_id_unique_in_dataset RENAME TO session_id_unique_unpartitioned;
ALTER INDEX turn_index_unique_in_session RENAME TO turn_index_unique_unpartitioned;
ALTER INDEX turn_search RENAME TO turn_search_unpartitioned;
ALTER TABLE datasets_app_session_unpartitioned ALTER id DROP IDENTITY;
ALTER TABLE datasets_app_turn_unpartitioned ALTER id DROP IDENTITY;
"""
# Defaults and not identity columns, which a table to be attached must not have.
CREATE_PARENTS = """
CREATE SEQUENCE datasets_app_session_key;
CREATE TABLE datasets_app_session (
    LIKE datasets_app_session_unpartitioned INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE,
    CONSTRAINT datasets_app_session_pkey PRIMARY KEY (dataset_id, id),
    CONSTRAINT session_id_unique_in_dataset UNIQUE (dataset_id, session_id)
) PARTITION BY LIST (dataset_id);
ALTER TABLE datasets_app_session ALTER id SET DEFAULT nextval('datasets_app_session_key');
ALTER SEQUENCE datasets_app_session_key OWNED BY datasets_app_session.id;

CREATE SEQUENCE datasets_app_turn_key;
CREATE TABLE datasets_app_turn (
    LIKE datasets_app_turn_unpartitioned INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE,
    dataset_id bigint NOT NULL,
    CONSTRAINT datasets_app_turn_pkey PRIMARY KEY (dataset_id, id),
    CONSTRAINT turn_index_unique_in_session UNIQUE (dataset_id, session_id, turn_index)
) PARTITION BY LIST (dataset_id);
ALTER TABLE datasets_app_turn ALTER id SET DEFAULT nextval('datasets_app_turn_key');
ALTER SEQUENCE datasets_app_turn_key OWNED BY datasets_app_turn.id;
-- The planner's statistics would repeat texts, tags and ids. Each partition sets the same for itself.
ALTER TABLE datasets_app_session ALTER session_id SET STATISTICS 0, ALTER persona_id SET STATISTICS 0;
ALTER TABLE datasets_app_turn ALTER text SET STATISTICS 0, ALTER tags SET STATISTICS 0,
    ALTER timestamp SET STATISTICS 0, ALTER metadata SET STATISTICS 0, ALTER extra SET STATISTICS 0;
CREATE TABLE datasets_app_datasetpartition (
    dataset_id bigint PRIMARY KEY REFERENCES datasets_app_dataset DEFERRABLE INITIALLY DEFERRED,
    first_session bigint, last_session bigint, first_turn bigint, last_turn bigint
);
CREATE INDEX turn_search ON datasets_app_turn
    USING gin (to_tsvector('simple'::regconfig, COALESCE(LEFT(text, 50000), '')), tags);
"""
CONTINUE_KEYS = """
SELECT setval('datasets_app_session_key', (SELECT max(id) FROM datasets_app_session_unpartitioned)),
       setval('datasets_app_turn_key', (SELECT max(id) FROM datasets_app_turn_unpartitioned))
"""

NEXT_DATASETS = """
SELECT d.id, d.turn_count FROM datasets_app_dataset d
WHERE EXISTS (SELECT FROM datasets_app_session_unpartitioned s WHERE s.dataset_id = d.id)
  AND NOT EXISTS (SELECT FROM datasets_app_datasetpartition p WHERE p.dataset_id = d.id)
ORDER BY d.id
"""
COPY_SESSIONS = """
INSERT INTO datasets_app_session_{dataset} ({columns})
SELECT {columns} FROM datasets_app_session_unpartitioned WHERE dataset_id = {dataset} ORDER BY id
"""
COPY_TURNS = """
INSERT INTO datasets_app_turn_{dataset} (dataset_id, {columns})
SELECT {dataset}, t.* FROM (SELECT id FROM datasets_app_session_{dataset} ORDER BY id) s
CROSS JOIN LATERAL (
    SELECT {columns} FROM datasets_app_turn_unpartitioned t WHERE t.session_id = s.id ORDER BY t.turn_index
) t
"""
RECORD_KEYS = """
UPDATE datasets_app_datasetpartition SET (first_session, last_session, first_turn, last_turn) = (
    SELECT (SELECT min(id) FROM datasets_app_session_{dataset} WHERE dataset_id = {dataset}),
           (SELECT max(id) FROM datasets_app_session_{dataset} WHERE dataset_id = {dataset}),
           (SELECT min(id) FROM datasets_app_turn_{dataset} WHERE dataset_id = {dataset}),
           (SELECT max(id) FROM datasets_app_turn_{dataset} WHERE dataset_id = {dataset})
) WHERE dataset_id = {dataset}
"""
COUNT_ROWS = """
SELECT (SELECT count(*) FROM datasets_app_session_unpartitioned), (SELECT count(*) FROM datasets_app_session),
       (SELECT count(*) FROM datasets_app_turn_unpartitioned), (SELECT count(*) FROM datasets_app_turn)
"""
DROP_OLD_TABLES = "DROP TABLE datasets_app_turn_unpartitioned, datasets_app_session_unpartitioned"


def move_to_partitions(apps, schema_editor):
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if not _exists(cursor, OLD_TURNS):
            if _exists(cursor, "datasets_app_turn_key"):
                return  # everything is done but the record of this migration
            with transaction.atomic(using=connection.alias):
                for statements in (SET_ASIDE, CREATE_PARENTS, FUNCTIONS, CONTINUE_KEYS):
                    cursor.execute(statements)
        cursor.execute(NEXT_DATASETS)
        _copy_datasets(cursor, cursor.fetchall(), connection.alias)
        with transaction.atomic(using=connection.alias):
            cursor.execute(f"LOCK TABLE {OLD_SESSIONS}, {OLD_TURNS}")
            _require_all_rows(cursor)
            cursor.execute(DROP_OLD_TABLES)
            cursor.execute(REFERENCES)
            for table, column, target, dataset in REFERRING:
                name = f"{table.split('_', 2)[2]}_{column}"
                cursor.execute(
                    CREATE_REFERENCE.format(
                        name=name, table=table, column=column, target=target, dataset=dataset
                    )
                )


def _exists(cursor, relation):
    cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [relation])
    return cursor.fetchone()[0]


def _copy_datasets(cursor, datasets, alias):
    total, done, start = sum(turns for _, turns in datasets), 0, time.monotonic()
    for number, (dataset, turns) in enumerate(datasets, 1):
        with transaction.atomic(using=alias):
            cursor.execute("SELECT datasets_app_create_partition(%s)", [dataset])
            columns = ", ".join(_columns(cursor, OLD_SESSIONS))
            cursor.execute(COPY_SESSIONS.format(dataset=dataset, columns=columns))
            columns = ", ".join(_columns(cursor, OLD_TURNS))
            cursor.execute(COPY_TURNS.format(dataset=dataset, columns=columns))
            cursor.execute("SELECT datasets_app_attach_partition(%s)", [dataset])
            cursor.execute(RECORD_KEYS.format(dataset=dataset))
        done += turns
        cursor.execute(f"ANALYZE datasets_app_session_{dataset}, datasets_app_turn_{dataset}")
        sys.stdout.write(
            f"\n    moved dataset {number:,} of {len(datasets):,}: {done:,} of {total:,} turns"
            f" in {time.monotonic() - start:.0f} s"
        )
        sys.stdout.flush()


def _columns(cursor, table):
    cursor.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped "
        "ORDER BY attnum",
        [table],
    )
    return [f'"{name}"' for (name,) in cursor.fetchall()]


def _require_all_rows(cursor):
    cursor.execute(COUNT_ROWS)
    old_sessions, sessions, old_turns, turns = cursor.fetchone()
    if (old_sessions, old_turns) != (sessions, turns):
        raise RuntimeError(
            f"{old_sessions:,} sessions and {old_turns:,} turns were to be moved, but the partitions have "
            f"{sessions:,} and {turns:,}. Nothing was deleted. Stop everything that works with this database "
            "and migrate again."
        )


def _reference(model, **options):
    return models.ForeignKey(
        db_constraint=False, on_delete=django.db.models.deletion.CASCADE, to=model, **options
    )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("datasets_app", "0023_terms_of_scrub_forms"), ("annotations_app", "0003_plain_words")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(move_to_partitions)],
            state_operations=[
                migrations.CreateModel(
                    name="DatasetPartition",
                    fields=[
                        (
                            "dataset",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="partition",
                                serialize=False,
                                to="datasets_app.dataset",
                            ),
                        ),
                        ("first_session", models.BigIntegerField(null=True)),
                        ("last_session", models.BigIntegerField(null=True)),
                        ("first_turn", models.BigIntegerField(null=True)),
                        ("last_turn", models.BigIntegerField(null=True)),
                    ],
                    options={"default_permissions": ()},
                ),
                migrations.RemoveConstraint(model_name="turn", name="turn_index_unique_in_session"),
                migrations.RemoveIndex(model_name="session", name="session_dataset_page"),
                migrations.AlterField(
                    model_name="session",
                    name="dataset",
                    field=_reference("datasets_app.dataset", related_name="sessions", db_index=False),
                ),
                migrations.AddField(
                    model_name="turn",
                    name="dataset",
                    field=_reference("datasets_app.dataset", related_name="turns", db_index=False),
                ),
                migrations.AlterField(
                    model_name="turn",
                    name="session",
                    field=_reference("datasets_app.session", related_name="turns", db_index=False),
                ),
                migrations.AddConstraint(
                    model_name="turn",
                    constraint=models.UniqueConstraint(
                        fields=("dataset", "session", "turn_index"), name="turn_index_unique_in_session"
                    ),
                ),
                migrations.AlterField(
                    model_name="auditedturn",
                    name="session",
                    field=_reference("datasets_app.session", related_name="+"),
                ),
                migrations.AlterField(
                    model_name="checkfinding",
                    name="session",
                    field=_reference("datasets_app.session", related_name="+", blank=True, null=True),
                ),
                migrations.AlterField(
                    model_name="scrubfinding",
                    name="session",
                    field=_reference("datasets_app.session", related_name="scrub_findings", db_index=False),
                ),
            ],
        )
    ]
