"""Sessions and turns move to partitions: see docs/decisions/0024-a-partition-for-each-dataset.md.

What stands already is copied dataset by dataset, each in a transaction of its own; a migration that was
interrupted continues with the first dataset that isn't copied. The old tables are dropped at the end, after
their rows have been counted again in the partitions.
"""

import sys
import time

import django.db.models.deletion
from django.db import migrations, models, transaction

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

# Work as the owner, because the application's role must not change tables; each changes partitions only.
FUNCTIONS = """
-- Tables that rows are loaded into before they become partitions: without indexes, which then are built at
-- once.
CREATE FUNCTION datasets_app_create_partition(dataset bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    kind text;
    part text;
    granted record;
BEGIN
    FOREACH kind IN ARRAY ARRAY['session', 'turn'] LOOP
        part := format('datasets_app_%s_%s', kind, dataset);
        EXECUTE format('CREATE TABLE %I (LIKE datasets_app_%s INCLUDING CONSTRAINTS INCLUDING DEFAULTS '
            'INCLUDING STORAGE, CONSTRAINT %I CHECK (dataset_id = %s))',
            part, kind, part || '_only', dataset);
        FOR granted IN
            SELECT grantee::regrole AS role, string_agg(privilege_type, ', ') AS rights
            FROM pg_class, aclexplode(relacl)
            WHERE pg_class.oid = format('datasets_app_%s', kind)::regclass
              AND grantee NOT IN (0, relowner)
            GROUP BY grantee
        LOOP
            EXECUTE format('GRANT %s ON %I TO %s', granted.rights, part, granted.role);
        END LOOP;
    END LOOP;
    EXECUTE format('ALTER TABLE datasets_app_session_%s ALTER session_id SET STATISTICS 0, '
        'ALTER persona_id SET STATISTICS 0', dataset);
    EXECUTE format('ALTER TABLE datasets_app_turn_%s ALTER text SET STATISTICS 0, '
        'ALTER tags SET STATISTICS 0, ALTER timestamp SET STATISTICS 0, ALTER metadata SET STATISTICS 0, '
        'ALTER extra SET STATISTICS 0', dataset);
END $$;

CREATE FUNCTION datasets_app_attach_partition(dataset bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    sessions text := format('datasets_app_session_%s', dataset);
    turns text := format('datasets_app_turn_%s', dataset);
    search text := format('datasets_app_turn_%s_search', dataset);
BEGIN
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (dataset_id, id), ADD UNIQUE (dataset_id, session_id)',
        sessions);
    EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (dataset_id, id), '
        'ADD UNIQUE (dataset_id, session_id, turn_index)', turns);
    EXECUTE format('ALTER TABLE %I ADD FOREIGN KEY (dataset_id, session_id) REFERENCES %I (dataset_id, id)',
        turns, sessions);
    EXECUTE format('CREATE INDEX %I ON %I USING gin '
        '(to_tsvector(''simple''::regconfig, COALESCE(LEFT(text, 50000), '''')), tags)', search, turns);
    EXECUTE format('ALTER INDEX %I ALTER COLUMN 1 SET STATISTICS 0', search);
    EXECUTE format('ALTER TABLE datasets_app_session ATTACH PARTITION %I FOR VALUES IN (%s)',
        sessions, dataset);
    EXECUTE format('ALTER TABLE datasets_app_turn ATTACH PARTITION %I FOR VALUES IN (%s)', turns, dataset);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', sessions, sessions || '_only');
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', turns, turns || '_only');
    INSERT INTO datasets_app_datasetpartition (dataset_id) VALUES (dataset);
END $$;

-- Deletes all sessions and turns of an expired dataset at once. Rows that refer to them must be gone.
CREATE FUNCTION datasets_app_empty_partition(dataset bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM datasets_app_dataset WHERE id = dataset AND (status <> 'expired' OR legal_hold);
    IF FOUND THEN
        RAISE object_in_use USING MESSAGE = 'the partition belongs to a dataset that is in use';
    END IF;
    EXECUTE format('LOCK TABLE datasets_app_session_%s, datasets_app_turn_%s', dataset, dataset);
    IF EXISTS (SELECT FROM annotations_app_annotation WHERE dataset_id = dataset)
        OR EXISTS (SELECT FROM annotations_app_campaignitem i JOIN annotations_app_campaign c
                   ON c.id = i.campaign_id WHERE c.dataset_id = dataset)
        OR EXISTS (SELECT FROM datasets_app_scrubfinding f JOIN datasets_app_scrubrun r
                   ON r.id = f.scrub_id WHERE r.dataset_id = dataset)
        OR EXISTS (SELECT FROM datasets_app_checkfinding f JOIN datasets_app_checkreport r
                   ON r.id = f.report_id WHERE r.dataset_id = dataset AND f.session_id IS NOT NULL)
        OR EXISTS (SELECT FROM datasets_app_auditedturn t JOIN datasets_app_scrubaudit a
                   ON a.id = t.audit_id WHERE a.dataset_id = dataset)
    THEN
        RAISE foreign_key_violation USING MESSAGE = 'rows still refer to sessions of this dataset';
    END IF;
    EXECUTE format('TRUNCATE datasets_app_session_%s, datasets_app_turn_%s', dataset, dataset);
    UPDATE datasets_app_datasetpartition
    SET first_session = NULL, last_session = NULL, first_turn = NULL, last_turn = NULL
    WHERE dataset_id = dataset;
END $$;

-- Drops the empty partitions of a dataset that has expired or is gone. To drop a partition locks its parent,
-- so this gives up (lock_not_available) rather than keep the readers of other datasets waiting.
CREATE FUNCTION datasets_app_drop_partition(dataset bigint) RETURNS void LANGUAGE plpgsql
SET lock_timeout = '50ms' AS $$
DECLARE
    is_filled boolean;
BEGIN
    PERFORM FROM datasets_app_dataset WHERE id = dataset AND status <> 'expired';
    IF FOUND THEN
        RAISE object_in_use USING MESSAGE = 'the partition belongs to a dataset that is in use';
    END IF;
    EXECUTE format('LOCK TABLE ONLY datasets_app_session, ONLY datasets_app_turn, datasets_app_session_%s, '
        'datasets_app_turn_%s', dataset, dataset);
    EXECUTE format('SELECT EXISTS (SELECT FROM datasets_app_session_%s) OR EXISTS '
        '(SELECT FROM datasets_app_turn_%s)', dataset, dataset) INTO is_filled;
    IF is_filled THEN
        RAISE object_in_use USING MESSAGE = 'the partition has rows';
    END IF;
    EXECUTE format('DROP TABLE datasets_app_turn_%s, datasets_app_session_%s', dataset, dataset);
    DELETE FROM datasets_app_datasetpartition WHERE dataset_id = dataset;
END $$;

DO $$
DECLARE
    called text;
BEGIN
    FOREACH called IN ARRAY ARRAY['create', 'attach', 'empty', 'drop'] LOOP
        called := format('datasets_app_%s_partition(bigint)', called);
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', called,
            current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', called);
    END LOOP;
END $$;
"""

# A foreign key to (dataset_id, id) would add a constraint and two triggers for each partition, and lock the
# referring tables whenever a partition is attached.
REFERENCES = """
-- Arguments: the table referred to; expressions of the dataset and of the key, of the new row n.
CREATE FUNCTION datasets_app_require_referenced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    one record;
    held bigint;
    source text := CASE TG_LEVEL WHEN 'ROW' THEN '(SELECT ($1).*)' ELSE 'added' END;
BEGIN
    FOR one IN EXECUTE format('SELECT dataset, array_agg(DISTINCT key) AS keys FROM '
        '(SELECT %s, %s FROM %s n) r (dataset, key) WHERE key IS NOT NULL GROUP BY dataset',
        TG_ARGV[1], TG_ARGV[2], source) USING NEW
    LOOP
        EXECUTE format('SELECT count(*) FROM (SELECT FROM %I t JOIN unnest($1) AS k (id) ON k.id = t.id '
            'WHERE t.dataset_id = %L::bigint FOR KEY SHARE OF t) held', TG_ARGV[0], one.dataset)
            INTO held USING one.keys;
        IF held < cardinality(one.keys) THEN
            RAISE foreign_key_violation USING
                MESSAGE = format('a row of %s refers to a row of %s that does not exist',
                    TG_TABLE_NAME, TG_ARGV[0]),
                TABLE = TG_TABLE_NAME;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Arguments: pairs of a referring table and its column. One look-up in its index for each deleted row.
CREATE FUNCTION datasets_app_refuse_referenced() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_referenced boolean;
BEGIN
    FOR argument IN 0 .. TG_NARGS - 1 BY 2 LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM removed o CROSS JOIN LATERAL '
            '(SELECT FROM %I r WHERE r.%I = o.id LIMIT 1) found)', TG_ARGV[argument], TG_ARGV[argument + 1])
            INTO is_referenced;
        IF is_referenced THEN
            RAISE foreign_key_violation USING
                MESSAGE = format('rows of %s still refer to a deleted row of %s',
                    TG_ARGV[argument], TG_TABLE_NAME),
                TABLE = TG_TABLE_NAME;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE FUNCTION datasets_app_refuse_dataset_with_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_filled boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM datasets_app_session WHERE dataset_id = %s)', OLD.id)
        INTO is_filled;
    IF is_filled THEN
        RAISE foreign_key_violation USING MESSAGE = 'the dataset still has sessions';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER dataset_without_sessions AFTER DELETE ON datasets_app_dataset
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION datasets_app_refuse_dataset_with_sessions();

CREATE TRIGGER session_not_referenced AFTER DELETE ON datasets_app_session REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_refuse_referenced(
        'datasets_app_scrubfinding', 'session_id', 'datasets_app_checkfinding', 'session_id',
        'datasets_app_auditedturn', 'session_id', 'annotations_app_campaignitem', 'session_id');
CREATE TRIGGER turn_not_referenced AFTER DELETE ON datasets_app_turn REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_refuse_referenced(
        'annotations_app_annotation', 'turn_id', 'annotations_app_campaignitem', 'turn_id');
"""
# (referring table, column, table referred to, dataset of the new row)
REFERRING = (
    ("annotations_app_annotation", "turn_id", "datasets_app_turn", "n.dataset_id"),
    (
        "annotations_app_campaignitem",
        "turn_id",
        "datasets_app_turn",
        "(SELECT c.dataset_id FROM annotations_app_campaign c WHERE c.id = n.campaign_id)",
    ),
    (
        "annotations_app_campaignitem",
        "session_id",
        "datasets_app_session",
        "(SELECT c.dataset_id FROM annotations_app_campaign c WHERE c.id = n.campaign_id)",
    ),
    (
        "datasets_app_scrubfinding",
        "session_id",
        "datasets_app_session",
        "(SELECT s.dataset_id FROM datasets_app_scrubrun s WHERE s.id = n.scrub_id)",
    ),
    (
        "datasets_app_checkfinding",
        "session_id",
        "datasets_app_session",
        "(SELECT c.dataset_id FROM datasets_app_checkreport c WHERE c.id = n.report_id)",
    ),
    (
        "datasets_app_auditedturn",
        "session_id",
        "datasets_app_session",
        "(SELECT a.dataset_id FROM datasets_app_scrubaudit a WHERE a.id = n.audit_id)",
    ),
)
CREATE_REFERENCE = """
CREATE TRIGGER {name}_added AFTER INSERT ON {table} REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('{target}', '{dataset}', 'n.{column}');
CREATE TRIGGER {name}_changed AFTER UPDATE OF {column} ON {table} FOR EACH ROW
    WHEN (OLD.{column} IS DISTINCT FROM NEW.{column})
    EXECUTE FUNCTION datasets_app_require_referenced('{target}', '{dataset}', 'n.{column}');
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


# In one transaction, without progress: for databases that have just been moved.
MOVE_BACK = """
CREATE TABLE datasets_app_session_together
    (LIKE datasets_app_session INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE);
CREATE TABLE datasets_app_turn_together
    (LIKE datasets_app_turn INCLUDING CONSTRAINTS INCLUDING DEFAULTS INCLUDING STORAGE);
INSERT INTO datasets_app_session_together SELECT * FROM datasets_app_session ORDER BY id;
INSERT INTO datasets_app_turn_together SELECT * FROM datasets_app_turn ORDER BY id;
ALTER TABLE datasets_app_session_together ALTER id DROP DEFAULT;
ALTER TABLE datasets_app_turn_together ALTER id DROP DEFAULT, DROP COLUMN dataset_id;
ALTER TABLE datasets_app_session_together ALTER id ADD GENERATED BY DEFAULT AS IDENTITY;
ALTER TABLE datasets_app_turn_together ALTER id ADD GENERATED BY DEFAULT AS IDENTITY;
SELECT setval('datasets_app_session_together_id_seq', nextval('datasets_app_session_key')),
       setval('datasets_app_turn_together_id_seq', nextval('datasets_app_turn_key'));
DROP TABLE datasets_app_turn, datasets_app_session, datasets_app_datasetpartition;
ALTER TABLE datasets_app_session_together RENAME TO datasets_app_session;
ALTER TABLE datasets_app_turn_together RENAME TO datasets_app_turn;
ALTER TABLE datasets_app_session ADD CONSTRAINT datasets_app_session_pkey PRIMARY KEY (id),
    ADD CONSTRAINT session_id_unique_in_dataset UNIQUE (dataset_id, session_id),
    ADD FOREIGN KEY (dataset_id) REFERENCES datasets_app_dataset DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX session_dataset_page ON datasets_app_session (dataset_id, id);
ALTER TABLE datasets_app_turn ADD CONSTRAINT datasets_app_turn_pkey PRIMARY KEY (id),
    ADD CONSTRAINT turn_index_unique_in_session UNIQUE (session_id, turn_index),
    ADD FOREIGN KEY (session_id) REFERENCES datasets_app_session DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX turn_search ON datasets_app_turn
    USING gin (to_tsvector('simple'::regconfig, COALESCE(LEFT(text, 50000), '')), tags);
DROP FUNCTION datasets_app_create_partition, datasets_app_attach_partition, datasets_app_empty_partition,
    datasets_app_drop_partition, datasets_app_require_referenced, datasets_app_refuse_referenced,
    datasets_app_refuse_dataset_with_sessions CASCADE;
"""


def move_back(apps, schema_editor):
    connection = schema_editor.connection
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(MOVE_BACK)
        for table, column, target, _ in REFERRING:
            cursor.execute(
                f"ALTER TABLE {table} ADD FOREIGN KEY ({column}) REFERENCES {target} "
                "DEFERRABLE INITIALLY DEFERRED"
            )


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
            database_operations=[migrations.RunPython(move_to_partitions, move_back)],
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
