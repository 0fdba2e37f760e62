"""All tables of the application as they were at the first release of its schema.

Beside what the models say: the audit trail is append-only and sealed, and sessions and turns are in one
partition for each dataset (docs/decisions/0024-a-partition-for-each-dataset.md).

A seal's digest is the SHA-256 over the digest before it and the event. Seals are made one after the other,
under a lock that lasts until the commit is done. It has to be the last lock a transaction takes, or two could
wait for each other: so after the checks of foreign keys at the commit too, which wait for locks on rows.
Hence two triggers: the first is run at the commit with those checks, in the order of what was written, and
only brings about the second, which is run when all that was waiting for the commit has had its turn. They
work as the owner of the tables, so that nobody else needs rights to the seals. A function that works as its
owner must not be led to other tables: the schema of the tables comes first, and temporary tables, which
anyone can make, come last.
"""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

# A plan is made once for a connection, perhaps while a table is empty and reading all of it is cheapest: with
# enable_seqscan off it goes by index, or by the row's place, from the beginning.
# The advisory lock's number is the first eight bytes of the SHA-256 of "datasets_app_auditseal".
AUDIT_TRAIL = """
CREATE FUNCTION datasets_app_audit_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % refused', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_event_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON datasets_app_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_audit_event_is_append_only();

REVOKE UPDATE, DELETE, TRUNCATE ON datasets_app_auditevent FROM PUBLIC, CURRENT_USER;
CREATE FUNCTION datasets_app_seal_audit_event(sealed bigint) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    last_position bigint;
    last_digest text;
    event text;
BEGIN
    PERFORM pg_advisory_xact_lock(1750622210364406935);
    SELECT position, digest INTO last_position, last_digest
        FROM datasets_app_auditseal ORDER BY position DESC LIMIT 1;
    SELECT jsonb_build_array(
            id, (extract(epoch FROM at) * 1000000)::bigint, actor, action, dataset_name, details)::text
        INTO STRICT event FROM datasets_app_auditevent WHERE id = sealed;
    last_digest := coalesce(last_digest, repeat('0', 64));
    INSERT INTO datasets_app_auditseal (position, event_id, previous, digest) VALUES (
        coalesce(last_position, 0) + 1, sealed, last_digest,
        encode(sha256(convert_to(last_digest || event, 'UTF8')), 'hex'));
END $$;

CREATE UNLOGGED TABLE datasets_app_audit_unsealed (event_id bigint NOT NULL);

CREATE FUNCTION datasets_app_audit_event_seal_last() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
    place tid;
BEGIN
    INSERT INTO datasets_app_audit_unsealed VALUES (NEW.id) RETURNING ctid INTO place;
    DELETE FROM datasets_app_audit_unsealed WHERE ctid = place;
    RETURN NULL;
END $$;

CREATE FUNCTION datasets_app_audit_event_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM datasets_app_seal_audit_event(NEW.event_id);
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER audit_event_seal_last
    AFTER INSERT ON datasets_app_auditevent DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION datasets_app_audit_event_seal_last();

CREATE CONSTRAINT TRIGGER audit_event_seal
    AFTER INSERT ON datasets_app_audit_unsealed DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION datasets_app_audit_event_seal();

CREATE TRIGGER audit_seal_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON datasets_app_auditseal
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_audit_event_is_append_only();

REVOKE UPDATE, DELETE, TRUNCATE ON datasets_app_auditseal FROM PUBLIC, CURRENT_USER;
DO $$
DECLARE
    called text;
BEGIN
    FOREACH called IN ARRAY ARRAY[
        'datasets_app_seal_audit_event(bigint)',
        'datasets_app_audit_event_seal_last()',
        'datasets_app_audit_event_seal()'
    ] LOOP
        EXECUTE format(
            'ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', called, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', called);
    END LOOP;
END $$;
"""
PARTITIONED_TABLES = """
-- Defaults and not identity columns, which a table to be attached must not have.
CREATE SEQUENCE datasets_app_session_key;
CREATE TABLE datasets_app_session (
    id bigint DEFAULT nextval('datasets_app_session_key') NOT NULL,
    session_id varchar(500) NOT NULL,
    persona_id varchar(500),
    turn_count integer NOT NULL,
    dataset_id bigint NOT NULL,
    id_hashed boolean DEFAULT false NOT NULL,
    split varchar(20),
    excluded boolean DEFAULT false NOT NULL,
    CONSTRAINT datasets_app_session_pkey PRIMARY KEY (dataset_id, id),
    CONSTRAINT session_id_unique_in_dataset UNIQUE (dataset_id, session_id),
    CONSTRAINT session_has_turns CHECK (turn_count >= 1),
    CONSTRAINT session_id_not_empty CHECK (NOT (session_id = '')),
    CONSTRAINT session_persona_id_not_empty CHECK (NOT (persona_id = '' AND persona_id IS NOT NULL)),
    CONSTRAINT session_split_known CHECK (split IS NULL OR split IN ('train', 'validation', 'test'))
) PARTITION BY LIST (dataset_id);
ALTER SEQUENCE datasets_app_session_key OWNED BY datasets_app_session.id;
CREATE INDEX session_length ON datasets_app_session (turn_count, id);

CREATE SEQUENCE datasets_app_turn_key;
CREATE TABLE datasets_app_turn (
    id bigint DEFAULT nextval('datasets_app_turn_key') NOT NULL,
    turn_index integer NOT NULL,
    role varchar(9) NOT NULL,
    text text NOT NULL,
    tags text[] NOT NULL,
    timestamp text,
    metadata jsonb,
    extra jsonb,
    session_id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    CONSTRAINT datasets_app_turn_pkey PRIMARY KEY (dataset_id, id),
    CONSTRAINT turn_index_unique_in_session UNIQUE (dataset_id, session_id, turn_index),
    CONSTRAINT turn_index_from_one CHECK (turn_index >= 1),
    CONSTRAINT turn_role_known CHECK (role IN ('user', 'assistant'))
) PARTITION BY LIST (dataset_id);
ALTER SEQUENCE datasets_app_turn_key OWNED BY datasets_app_turn.id;
CREATE INDEX turn_first_timestamp ON datasets_app_turn (timestamp, session_id) WHERE turn_index = 1;
CREATE INDEX turn_search ON datasets_app_turn
    USING gin (to_tsvector('simple'::regconfig, COALESCE(LEFT(text, 50000), '')), tags);

-- The planner's statistics would repeat texts, tags and ids. Each partition sets the same for itself.
ALTER TABLE datasets_app_session ALTER session_id SET STATISTICS 0, ALTER persona_id SET STATISTICS 0;
ALTER TABLE datasets_app_turn ALTER text SET STATISTICS 0, ALTER tags SET STATISTICS 0,
    ALTER timestamp SET STATISTICS 0, ALTER metadata SET STATISTICS 0, ALTER extra SET STATISTICS 0;
CREATE TABLE datasets_app_datasetpartition (
    dataset_id bigint PRIMARY KEY REFERENCES datasets_app_dataset DEFERRABLE INITIALLY DEFERRED,
    first_session bigint, last_session bigint, first_turn bigint, last_turn bigint
);
"""
# Work as the owner, because the application's role must not change tables; each changes partitions only.
PARTITIONS = """
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
        'datasets_app_auditedturn', 'session_id', 'annotations_app_campaignitem', 'session_id',
        'datasets_app_sessioncomment', 'session_id');
CREATE TRIGGER turn_not_referenced AFTER DELETE ON datasets_app_turn REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_refuse_referenced(
        'annotations_app_annotation', 'turn_id', 'annotations_app_campaignitem', 'turn_id');
"""
CREATE_REFERENCE = """
CREATE TRIGGER {name}_session_id_added AFTER INSERT ON datasets_app_{name}
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_session', '{dataset}', 'n.session_id');
CREATE TRIGGER {name}_session_id_changed AFTER UPDATE OF session_id ON datasets_app_{name} FOR EACH ROW
    WHEN (OLD.session_id IS DISTINCT FROM NEW.session_id)
    EXECUTE FUNCTION datasets_app_require_referenced('datasets_app_session', '{dataset}', 'n.session_id');
"""
# (referring table, dataset of the new row n)
REFERRING = (
    ("auditedturn", "(SELECT a.dataset_id FROM datasets_app_scrubaudit a WHERE a.id = n.audit_id)"),
    ("checkfinding", "(SELECT c.dataset_id FROM datasets_app_checkreport c WHERE c.id = n.report_id)"),
    ("scrubfinding", "(SELECT s.dataset_id FROM datasets_app_scrubrun s WHERE s.id = n.scrub_id)"),
    ("sessioncomment", "n.dataset_id"),
)
REPLACED = """
0001_initial
0002_audit_event_append_only
0003_scrubs
0004_session_split
0005_generate_anywhere
0006_generate_dataset
0007_governance
0008_audit_chain
0009_plain_words
0010_signer_account
0011_audit_owner
0012_text_scans
0013_tombstones
0014_audit_head_places
0015_approvals
0016_read_raw
0017_restrict_raw_production
0018_job_source_address
0019_scrub_audits
0020_text_scan_canary
0021_text_scan_rules
0022_kept_terms
0023_terms_of_scrub_forms
0024_partitions
0025_sources
0026_table_mappings
0027_api_tokens
0028_session_browsing
0029_outgoing_events
0030_attention_states
0031_preferences
0032_job_tokens
0033_step_requests
0034_comment_mentions
0035_turn_selections
0036_statement_of_hashed_ids
0037_table_mapping_names
"""


class Migration(migrations.Migration):
    initial = True

    # Databases of before have these.
    replaces = [("datasets_app", name) for name in REPLACED.split()]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Dataset",
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
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("synthetic", "Synthetic"),
                            ("production", "Production"),
                            ("external", "External"),
                        ],
                        default="external",
                        max_length=20,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("raw", "Raw"),
                            ("scrubbed", "Scrubbed"),
                            ("released", "Released"),
                            ("expired", "Expired"),
                        ],
                        default="raw",
                        editable=False,
                        max_length=20,
                    ),
                ),
                (
                    "license",
                    models.CharField(
                        blank=True, help_text="SPDX identifier, for example CC-BY-4.0.", max_length=100
                    ),
                ),
                ("source", models.TextField(blank=True, help_text="Where the conversations come from.")),
                ("attribution", models.TextField(blank=True)),
                (
                    "provenance",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Other metadata, such as generator, seed and dates.",
                    ),
                ),
                (
                    "legal_hold",
                    models.BooleanField(default=False, help_text="Prevents all deletion while set."),
                ),
                ("session_count", models.BigIntegerField(default=0, editable=False)),
                ("turn_count", models.BigIntegerField(default=0, editable=False)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("expired_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("hold_reason", models.TextField(blank=True, editable=False)),
                ("restricted", models.BooleanField(default=False, editable=False)),
                ("split_settings", models.JSONField(blank=True, editable=False, null=True)),
                (
                    "warned_of",
                    models.DateField(
                        blank=True, editable=False, null=True, verbose_name="deletion announced for"
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
            ],
            options={
                "ordering": ["name"],
                "permissions": [
                    ("import_dataset", "Can import conversation files"),
                    ("export_dataset", "Can export datasets and download the files"),
                    ("check_dataset", "Can run checks"),
                    ("scrub_dataset", "Can scrub datasets, preview scrubs and correct findings"),
                    ("read_raw", "Can read raw text"),
                    ("override_gate", "Can override scrub, test split and release checks, giving a reason"),
                    ("generate_anywhere", "Can generate sessions with a model at any address"),
                    (
                        "generate_dataset",
                        "Can generate sessions, offline or with a configured model endpoint",
                    ),
                    ("split_dataset", "Can split datasets"),
                    ("release_dataset", "Can create and download releases"),
                    ("sign_review", "Can sign the legal review that sharing requires"),
                    ("hold_dataset", "Can set and lift legal holds"),
                    ("erase_session", "Can erase sessions from a dataset and its releases"),
                    ("apply_retention", "Can delete data that is due for deletion"),
                    ("limit_access", "Can restrict datasets and see all restricted datasets"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name__regex", "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")),
                        name="dataset_name_format",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("origin__in", ["synthetic", "production", "external"])),
                        name="dataset_origin_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["raw", "scrubbed", "released", "expired"])),
                        name="dataset_status_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("session_count__gte", 0), ("turn_count__gte", 0)),
                        name="dataset_counts_not_negative",
                    ),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(PARTITIONED_TABLES, migrations.RunSQL.noop)],
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
                    options={
                        "default_permissions": (),
                    },
                ),
                migrations.CreateModel(
                    name="Session",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("session_id", models.CharField(max_length=500)),
                        ("persona_id", models.CharField(blank=True, max_length=500, null=True)),
                        ("turn_count", models.IntegerField()),
                        ("id_hashed", models.BooleanField(db_default=False, editable=False)),
                        (
                            "split",
                            models.CharField(
                                blank=True,
                                choices=[("train", "Train"), ("validation", "Validation"), ("test", "Test")],
                                editable=False,
                                max_length=20,
                                null=True,
                            ),
                        ),
                        ("excluded", models.BooleanField(db_default=False, editable=False)),
                        (
                            "dataset",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="sessions",
                                to="datasets_app.dataset",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["turn_count", "id"], name="session_length")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("dataset", "session_id"), name="session_id_unique_in_dataset"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("session_id", ""), _negated=True),
                                name="session_id_not_empty",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("persona_id", ""), _negated=True),
                                name="session_persona_id_not_empty",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("turn_count__gte", 1)), name="session_has_turns"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("split__isnull", True),
                                    ("split__in", ["train", "validation", "test"]),
                                    _connector="OR",
                                ),
                                name="session_split_known",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Turn",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("turn_index", models.IntegerField()),
                        (
                            "role",
                            models.CharField(
                                choices=[("user", "User"), ("assistant", "Assistant")], max_length=9
                            ),
                        ),
                        ("text", models.TextField(blank=True)),
                        (
                            "tags",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.TextField(), blank=True, default=list, size=None
                            ),
                        ),
                        ("timestamp", models.TextField(blank=True, null=True)),
                        ("metadata", models.JSONField(blank=True, null=True)),
                        (
                            "extra",
                            models.JSONField(
                                blank=True,
                                help_text="Keys of the line that the file format doesn't define.",
                                null=True,
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="turns",
                                to="datasets_app.dataset",
                            ),
                        ),
                        (
                            "session",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="turns",
                                to="datasets_app.session",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            django.contrib.postgres.indexes.GinIndex(
                                django.contrib.postgres.search.SearchVector(
                                    django.db.models.functions.text.Left("text", 50000), config="simple"
                                ),
                                models.F("tags"),
                                name="turn_search",
                            ),
                            models.Index(
                                condition=models.Q(("turn_index", 1)),
                                fields=["timestamp", "session"],
                                name="turn_first_timestamp",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("turn_index__gte", 1)), name="turn_index_from_one"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("role__in", ["user", "assistant"])),
                                name="turn_role_known",
                            ),
                            models.UniqueConstraint(
                                fields=("dataset", "session", "turn_index"),
                                name="turn_index_unique_in_session",
                            ),
                        ],
                    },
                ),
            ],
        ),
        migrations.CreateModel(
            name="AuditHeadPlace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=200, unique=True)),
                ("position", models.BigIntegerField(default=0)),
                (
                    "digest",
                    models.CharField(
                        default="0000000000000000000000000000000000000000000000000000000000000000",
                        max_length=64,
                    ),
                ),
                ("recorded_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
                ("failing_since", models.DateTimeField(null=True)),
                ("failure", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ["label"],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("position", models.BigIntegerField(primary_key=True, serialize=False)),
                ("event_id", models.BigIntegerField(unique=True)),
                ("previous", models.CharField(max_length=64, unique=True)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["position"],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Persona",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("persona_id", models.CharField(max_length=500, unique=True)),
                ("display_name", models.CharField(blank=True, max_length=500)),
                ("description", models.TextField(blank=True)),
                ("yaml", models.TextField()),
                ("digest", models.CharField(editable=False, max_length=64)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["persona_id"],
            },
        ),
        migrations.CreateModel(
            name="Preferences",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="preferences",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("language", models.CharField(blank=True, max_length=10)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="TableMapping",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("columns", models.JSONField()),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("erased_at", models.DateTimeField()),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("prefix", models.CharField(max_length=12)),
                ("digest", models.CharField(max_length=64, unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30), size=None
                    ),
                ),
                ("is_limited", models.BooleanField(default=False)),
                ("second_factor", models.BooleanField(default=False)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_from", models.CharField(blank=True, default="", max_length=45)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("datasets", models.ManyToManyField(blank=True, related_name="+", to="datasets_app.dataset")),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "actor",
                    models.CharField(
                        help_text="Username, or the system account that ran a command.", max_length=200
                    ),
                ),
                ("action", models.CharField(max_length=50)),
                ("dataset_name", models.CharField(blank=True, max_length=100)),
                ("details", models.JSONField(default=dict)),
            ],
            options={
                "ordering": ["-at", "-id"],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["at", "id"], name="audit_event_by_time"),
                    models.Index(fields=["action", "at", "id"], name="audit_event_of_action"),
                    models.Index(fields=["actor", "at", "id"], name="audit_event_of_actor"),
                    models.Index(fields=["dataset_name", "at", "id"], name="audit_event_of_dataset"),
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
        migrations.CreateModel(
            name="DatasetGrant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("granted_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grants",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "granted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="dataset_grants",
                        to="auth.group",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="dataset_grants",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("group__isnull", True), ("user__isnull", False)),
                            models.Q(("group__isnull", False), ("user__isnull", True)),
                            _connector="OR",
                        ),
                        name="dataset_grant_to_user_or_group",
                    ),
                    models.UniqueConstraint(fields=("dataset", "user"), name="dataset_grant_once_for_user"),
                    models.UniqueConstraint(fields=("dataset", "group"), name="dataset_grant_once_for_group"),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("operation", models.CharField(max_length=50)),
                ("dataset_name", models.CharField(blank=True, max_length=100)),
                ("parameters", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("prepared", "Not started"),
                            ("approval", "Waiting for approval"),
                            ("queued", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Canceled"),
                        ],
                        default="prepared",
                        max_length=10,
                    ),
                ),
                ("done", models.BigIntegerField(default=0)),
                ("total", models.BigIntegerField(blank=True, null=True)),
                ("result", models.JSONField(blank=True, null=True)),
                (
                    "error",
                    models.TextField(
                        blank=True,
                        help_text="Shown to the person who started the job: what happened and what to do.",
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempt", models.IntegerField(default=0)),
                ("attempts_before", models.IntegerField(default=0)),
                ("worker", models.CharField(blank=True, max_length=200)),
                ("foreground", models.BooleanField(default=False)),
                ("queued_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "source_address",
                    models.CharField(blank=True, db_default="", default="", editable=False, max_length=45),
                ),
                ("api_token", models.BigIntegerField(blank=True, editable=False, null=True)),
                (
                    "actor",
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
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="job_runs",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "decided_by",
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
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=["state", "heartbeat_at"],
                        name="job_run_unfinished",
                    ),
                    models.Index(fields=["dataset", "-id"], name="job_run_of_dataset"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["prepared", "approval", "queued", "running", "done", "failed", "cancelled"],
                            )
                        ),
                        name="job_run_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JobFile",
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
                            ("upload", "Uploaded file"),
                            ("part", "Part of an upload"),
                            ("export", "Export"),
                            ("metadata", "Metadata"),
                            ("quarantine", "Quarantined lines"),
                        ],
                        max_length=10,
                    ),
                ),
                ("file", models.FileField(max_length=500, upload_to="jobs")),
                ("name", models.CharField(max_length=255)),
                ("size", models.BigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "job_run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="datasets_app.jobrun",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="CheckReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("turn_count", models.BigIntegerField(default=0)),
                ("error_count", models.BigIntegerField(default=0)),
                ("warning_count", models.BigIntegerField(default=0)),
                ("totals", models.JSONField(default=dict, help_text="Number of findings for each code.")),
                (
                    "names_looked_for",
                    models.BooleanField(
                        default=False,
                        help_text="Whether the name model searched for names of people.",
                        verbose_name="names detected",
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="check_reports",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "job_run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets_app.jobrun",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="NotificationPreference",
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
                            ("import.finished", "Import finished"),
                            ("scrub.finished", "Scrub finished"),
                            ("check.finished", "Checks finished"),
                            ("campaign.assigned", "Campaign assigned"),
                            ("campaign.finished", "Campaign finished"),
                            ("disputes.waiting", "Disagreements waiting"),
                            ("release.created", "Release created"),
                            ("job.failed", "Job failed"),
                            ("deletion.ahead", "Deletion ahead"),
                            ("approval.requested", "Approval requested"),
                            ("step.requested", "Next step requested"),
                            ("comment.mention", "Mentioned in a comment"),
                            ("test", "Test"),
                        ],
                        max_length=30,
                    ),
                ),
                ("shown", models.BooleanField(default=True)),
                (
                    "mail",
                    models.CharField(
                        choices=[("off", "Off"), ("daily", "Daily"), ("immediate", "Immediately")],
                        max_length=9,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("user", "kind"), name="notification_preference_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="OutgoingEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("message_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("import.finished", "Import finished"),
                            ("scrub.finished", "Scrub finished"),
                            ("check.finished", "Checks finished"),
                            ("campaign.assigned", "Campaign assigned"),
                            ("campaign.finished", "Campaign finished"),
                            ("disputes.waiting", "Disagreements waiting"),
                            ("release.created", "Release created"),
                            ("job.failed", "Job failed"),
                            ("deletion.ahead", "Deletion ahead"),
                            ("approval.requested", "Approval requested"),
                            ("step.requested", "Next step requested"),
                            ("comment.mention", "Mentioned in a comment"),
                            ("test", "Test"),
                        ],
                        max_length=30,
                    ),
                ),
                ("dataset_name", models.CharField(blank=True, max_length=100)),
                ("data", models.JSONField(default=dict)),
                ("recipients", models.JSONField(default=list)),
                ("key", models.CharField(max_length=150, null=True, unique=True)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("dispatched_at", models.DateTimeField(null=True)),
                (
                    "dataset",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="datasets_app.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("dispatched_at", None)),
                        fields=["id"],
                        name="outgoing_event_waiting",
                    ),
                    models.Index(fields=["at"], name="outgoing_event_by_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("shown", models.BooleanField(default=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("mail_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to="datasets_app.outgoingevent",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("shown", True)),
                        fields=["user", "-id"],
                        name="notification_of_user",
                    ),
                    models.Index(
                        condition=models.Q(("read_at", None), ("shown", True)),
                        fields=["user"],
                        name="notification_unread",
                    ),
                    models.Index(
                        condition=models.Q(("mail_at__isnull", False)),
                        fields=["mail_at"],
                        name="notification_to_mail",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("event", "user"), name="notification_once")],
            },
        ),
        migrations.CreateModel(
            name="Release",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("major", models.IntegerField()),
                ("minor", models.IntegerField()),
                ("patch", models.IntegerField()),
                ("session_count", models.BigIntegerField()),
                ("turn_count", models.BigIntegerField()),
                ("splits", models.JSONField(default=dict, help_text="Number of sessions in each split.")),
                ("fields", models.JSONField(default=list, help_text="The schema: the fields of its lines.")),
                (
                    "sha256",
                    models.CharField(help_text="Digest of the data file as downloaded.", max_length=64),
                ),
                (
                    "content_digest",
                    models.CharField(
                        help_text="Digest of the records, as in Alignmenter's manifest.", max_length=64
                    ),
                ),
                ("notes", models.TextField(blank=True)),
                ("changelog", models.TextField(blank=True)),
                (
                    "checks",
                    models.JSONField(default=dict, help_text="Check results for exactly these turns."),
                ),
                (
                    "sharing",
                    models.JSONField(default=list, help_text="The sharing checklist at the time of release."),
                ),
                ("override_reason", models.TextField(blank=True)),
                ("created_by_name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("destroyed_at", models.DateTimeField(blank=True, null=True)),
                ("destroyed_reason", models.TextField(blank=True)),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                ("fault", models.TextField(blank=True, help_text="Problem found by the last verification.")),
                ("raw", models.BooleanField(default=False, editable=False)),
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
                        related_name="releases",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "replaces",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="replaced_by",
                        to="datasets_app.release",
                    ),
                ),
            ],
            options={
                "ordering": ["dataset", "-major", "-minor", "-patch"],
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("dataset", "major", "minor", "patch"), name="release_version_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("major__gte", 0), ("minor__gte", 0), ("patch__gte", 0)),
                        name="release_version_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReleaseFile",
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
                            ("data", "Conversations"),
                            ("metadata", "Metadata"),
                            ("manifest", "Manifest"),
                            ("changelog", "Changelog"),
                            ("signature", "Digests and signature"),
                        ],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("file", models.FileField(blank=True, max_length=500, upload_to="releases")),
                ("size", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                (
                    "release",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="datasets_app.release",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("release", "kind"), name="release_file_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="RetentionPolicy",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "position",
                    models.PositiveIntegerField(
                        help_text="Policies apply in this order, lowest first.", unique=True
                    ),
                ),
                (
                    "pattern",
                    models.CharField(
                        help_text="Pattern for the dataset's name plus .jsonl, with * and ? as wildcards.",
                        max_length=255,
                    ),
                ),
                (
                    "retention",
                    models.CharField(
                        help_text='"90 days", "18 months", "1 year", "P90D" or "indefinite".', max_length=50
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("activated_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("active", models.BooleanField(default=False, editable=False)),
            ],
            options={
                "verbose_name_plural": "retention policies",
                "ordering": ["position"],
                "permissions": [
                    ("activate_retentionpolicy", "Can activate and deactivate retention policies")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pattern", ""), _negated=True), name="retention_pattern_not_empty"
                    )
                ],
            },
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
                    "page",
                    models.CharField(
                        choices=[("sessions", "Sessions"), ("turns", "Turns")],
                        db_default="sessions",
                        max_length=20,
                    ),
                ),
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
            name="ScrubAudit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "last_session",
                    models.BigIntegerField(help_text="Highest session key when the sample was drawn."),
                ),
                (
                    "turn_count",
                    models.BigIntegerField(help_text="Number of turns that the sample stands for."),
                ),
                ("strata", models.JSONField(help_text="Number of turns in each stratum.")),
                (
                    "seed",
                    models.BigIntegerField(help_text="Draws the same sample again from the same turns."),
                ),
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
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scrub_audits",
                        to="datasets_app.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": (),
                "indexes": [models.Index(fields=["dataset", "-id"], name="scrub_audit_of_dataset")],
            },
        ),
        migrations.CreateModel(
            name="ScrubMark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[("not_personal", "Not personal"), ("missed", "Missed")], max_length=12
                    ),
                ),
                ("kind", models.CharField(blank=True, max_length=100)),
                ("term", models.TextField(blank=True)),
                ("digest", models.CharField(blank=True, max_length=64)),
                ("words", models.IntegerField(blank=True, null=True)),
                ("length", models.IntegerField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("reason", models.TextField(blank=True)),
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
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scrub_marks",
                        to="datasets_app.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": ("view",),
                "permissions": (
                    ("keep_terms_everywhere", "Can change the terms that scrubs keep in all datasets"),
                ),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("digest", ""),
                                ("verdict", "not_personal"),
                                models.Q(("term", ""), _negated=True),
                            ),
                            models.Q(
                                ("term", ""),
                                ("verdict", "missed"),
                                ("words__gte", 1),
                                models.Q(("digest", ""), _negated=True),
                                models.Q(("kind", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="scrub_mark_term_or_digest",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("dataset__isnull", False), ("verdict", "not_personal"), _connector="OR"
                        ),
                        name="scrub_mark_everywhere_is_term",
                    ),
                    models.UniqueConstraint(
                        fields=("dataset", "verdict", "kind", "term", "digest"),
                        name="scrub_mark_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScrubRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "dry_run",
                    models.BooleanField(
                        default=False,
                        help_text="A preview: changes nothing; positions refer to the raw text.",
                    ),
                ),
                (
                    "sample",
                    models.IntegerField(blank=True, help_text="Number of sessions to preview.", null=True),
                ),
                ("policy", models.JSONField(help_text="Types to look for and how to replace each of them.")),
                (
                    "key_fingerprint",
                    models.CharField(
                        blank=True,
                        help_text="Fingerprint of the key used to hash session ids.",
                        max_length=16,
                    ),
                ),
                ("session_count", models.BigIntegerField(default=0)),
                ("turn_count", models.BigIntegerField(default=0, help_text="Number of turns to scrub.")),
                (
                    "last_session",
                    models.BigIntegerField(
                        default=0,
                        help_text="Highest session key in the scrub; later sessions aren't part of it.",
                    ),
                ),
                ("totals", models.JSONField(default=dict, help_text="Number of findings for each type.")),
                (
                    "changed_turns",
                    models.BigIntegerField(
                        default=0, help_text="Number of changed turns; in a preview, turns that would change."
                    ),
                ),
                (
                    "verification",
                    models.JSONField(
                        blank=True,
                        help_text="Findings of the verification, which reads the stored turns again.",
                        null=True,
                    ),
                ),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                (
                    "traces",
                    models.JSONField(
                        blank=True, help_text="Old copies that could not be removed from the disk.", null=True
                    ),
                ),
                (
                    "error",
                    models.TextField(
                        blank=True, help_text="Why the scrub stopped; shown when it is resumed."
                    ),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "proposals",
                    models.JSONField(
                        blank=True,
                        help_text="Findings of a preview whose values may be brands, with counts.",
                        null=True,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scrubs",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "job_run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="scrubs",
                        to="datasets_app.jobrun",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": ("view",),
                "indexes": [models.Index(fields=["dataset", "-id"], name="scrub_run_of_dataset")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("sample__isnull", True),
                            models.Q(("dry_run", True), ("sample__gte", 1)),
                            _connector="OR",
                        ),
                        name="scrub_run_sample_only_in_preview",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verified_at__isnull", True),
                            models.Q(("dry_run", False), ("verification__isnull", False)),
                            _connector="OR",
                        ),
                        name="scrub_run_verified_by_verification",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScrubChunk",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "session_keys",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                ),
                ("turn_count", models.IntegerField()),
                ("done", models.BooleanField(db_default=False)),
                ("totals", models.JSONField(db_default=models.Value({}, models.JSONField()))),
                ("changed_turns", models.IntegerField(db_default=0)),
                (
                    "scrub",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chunks",
                        to="datasets_app.scrubrun",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["scrub", "id"], name="scrub_chunk_of_scrub"),
                    models.Index(
                        condition=models.Q(("done", False)), fields=["scrub", "id"], name="scrub_chunk_to_do"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ScrubFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "turn_index",
                    models.IntegerField(
                        blank=True, help_text="Empty if the value is outside the turns.", null=True
                    ),
                ),
                ("field", models.TextField()),
                ("kind", models.CharField(max_length=100)),
                ("start", models.IntegerField()),
                ("length", models.IntegerField()),
                ("original_length", models.IntegerField()),
                ("score", models.FloatField()),
                (
                    "scrub",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="datasets_app.scrubrun",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scrub_findings",
                        to="datasets_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["session", "scrub", "turn_index"], name="scrub_finding_in_session"),
                    models.Index(fields=["scrub", "kind", "id"], name="scrub_finding_page"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("length__gte", 0), ("original_length__gte", 0), ("start__gte", 0)
                        ),
                        name="scrub_finding_place_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CheckFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.CharField(max_length=4)),
                ("message", models.TextField()),
                ("turn_index", models.IntegerField(blank=True, null=True)),
                ("field", models.CharField(blank=True, max_length=50)),
                (
                    "report",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="datasets_app.checkreport",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="datasets_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["report", "code", "id"], name="check_finding_page")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("code__regex", "^[EW][0-9]{3}$")),
                        name="check_finding_code_format",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditedTurn",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("turn_index", models.IntegerField()),
                (
                    "position",
                    models.IntegerField(
                        help_text="In random order, so that those read so far are a sample, too."
                    ),
                ),
                ("stratum", models.SmallIntegerField()),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[("clean", "Clean"), ("leak", "Something is left")],
                        default="",
                        max_length=5,
                    ),
                ),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                (
                    "read_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "audit",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="turns",
                        to="datasets_app.scrubaudit",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="datasets_app.session",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("audit", "position"), name="audited_turn_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["", "clean", "leak"])),
                        name="audited_turn_verdict",
                    ),
                ],
            },
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
                    "turns",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, null=True, size=None
                    ),
                ),
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
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="SharingReview",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(help_text="Name and account of the person who signed.", max_length=500),
                ),
                ("statement", models.TextField(blank=True)),
                ("signed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("last_session", models.BigIntegerField()),
                ("last_scrub", models.BigIntegerField(blank=True, null=True)),
                ("turn_count", models.BigIntegerField()),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reviews",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "signed_by",
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
                "ordering": ["-id"],
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Source",
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
                        help_text="Letters, digits, dots, dashes and underscores.",
                        max_length=100,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator("^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
                        ],
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("folder", "Folder or bucket"),
                            ("langfuse", "Langfuse"),
                            ("langsmith", "LangSmith"),
                            ("phoenix", "Phoenix"),
                            ("otlp", "OpenTelemetry receiver"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "dataset_name",
                    models.CharField(
                        help_text="The production dataset to add to; the first conversations create it.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator("^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
                        ],
                        verbose_name="dataset",
                    ),
                ),
                (
                    "location",
                    models.CharField(
                        blank=True,
                        help_text="The folder, s3://bucket/prefix, or the address of the tool, such as https://cloud.langfuse.com.",
                        max_length=500,
                    ),
                ),
                (
                    "project",
                    models.CharField(
                        blank=True,
                        help_text="LangSmith and Phoenix: the name of the project.",
                        max_length=200,
                    ),
                ),
                ("credential", models.TextField(blank=True, editable=False)),
                (
                    "token_digest",
                    models.CharField(blank=True, editable=False, max_length=64, null=True, unique=True),
                ),
                (
                    "active",
                    models.BooleanField(
                        default=True,
                        help_text="Pulls every night, and receives traces; if off, it does neither.",
                    ),
                ),
                (
                    "rate",
                    models.FloatField(
                        default=100.0,
                        help_text="Percent of conversations to keep, chosen by ID: the same ones each time.",
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(100.0),
                        ],
                        verbose_name="sampling rate",
                    ),
                ),
                (
                    "only_models",
                    models.CharField(
                        blank=True,
                        help_text="Keep conversations with these models only: gpt-5, claude-*.",
                        max_length=500,
                        verbose_name="models",
                    ),
                ),
                (
                    "only_tags",
                    models.CharField(
                        blank=True,
                        help_text="Keep conversations with one of these tags only: support, billing.",
                        max_length=500,
                        verbose_name="tags",
                    ),
                ),
                (
                    "max_conversations",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Conversations with negative feedback come first; empty keeps all.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="maximum per pull",
                    ),
                ),
                (
                    "skip_near_duplicates",
                    models.BooleanField(
                        default=False,
                        help_text="Leave out conversations that say nearly the same as another one.",
                    ),
                ),
                (
                    "scrub",
                    models.BooleanField(
                        default=False,
                        help_text="Scrub and check the dataset after each pull.",
                        verbose_name="scrub and check",
                    ),
                ),
                (
                    "quiet_minutes",
                    models.PositiveIntegerField(
                        default=10,
                        help_text="Minutes without news after which a trace counts as complete.",
                        validators=[django.core.validators.MaxValueValidator(1440)],
                    ),
                ),
                ("pulled_until", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
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
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["folder", "langfuse", "langsmith", "phoenix", "otlp"])
                        ),
                        name="source_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rate__gte", 0), ("rate__lte", 100)),
                        name="source_rate_is_percent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SeenTrace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.BinaryField(max_length=16)),
                ("seen_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="datasets_app.source",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("source", "digest"), name="seen_trace_once")],
            },
        ),
        migrations.CreateModel(
            name="ReceivedSpan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("trace", models.BinaryField(max_length=16)),
                ("conversation", models.BinaryField(max_length=16, null=True)),
                ("size", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                ("received_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spans",
                        to="datasets_app.source",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["source", "trace"], name="received_span_of_trace")],
            },
        ),
        migrations.CreateModel(
            name="SourceFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                (
                    "size",
                    models.BigIntegerField(
                        help_text="Size of the imported file in bytes, before decompression."
                    ),
                ),
                ("format", models.CharField(max_length=20)),
                ("session_count", models.BigIntegerField()),
                ("turn_count", models.BigIntegerField()),
                ("quarantined_sessions", models.BigIntegerField(default=0)),
                ("imported_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="source_files",
                        to="datasets_app.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["imported_at"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "sha256"), name="source_file_once_per_dataset")
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "url",
                    models.CharField(
                        help_text="Where messages are sent, such as https://example.org/hooks/datasets.",
                        max_length=500,
                        verbose_name="address",
                    ),
                ),
                ("kinds", models.JSONField(default=list, verbose_name="events")),
                ("active", models.BooleanField(default=True, help_text="If off, nothing is sent.")),
                ("secret", models.TextField(editable=False)),
                ("previous_secret", models.TextField(blank=True, editable=False)),
                ("previous_until", models.DateTimeField(editable=False, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only events of this dataset; empty for all datasets that you can see.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="datasets_app.dataset",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("delivered", "Delivered"),
                            ("dead", "Given up"),
                            ("dropped", "Not sent"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("attempts_before", models.PositiveSmallIntegerField(default=0)),
                (
                    "next_attempt_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("log", models.JSONField(default=list)),
                (
                    "event",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="datasets_app.outgoingevent",
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="datasets_app.webhookendpoint",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["next_attempt_at"],
                        name="webhook_delivery_waiting",
                    ),
                    models.Index(fields=["endpoint", "-id"], name="webhook_delivery_of_endpoint"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("endpoint", "event"), name="webhook_delivery_once"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "delivered", "dead", "dropped"])),
                        name="webhook_delivery_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("request", models.CharField(max_length=64)),
                ("status", models.IntegerField(default=0)),
                ("body", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "token",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="datasets_app.apitoken",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("token", "key"), name="api_answer_once")],
            },
        ),
        migrations.CreateModel(
            name="AttentionState",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("is_assigned", models.BooleanField(default=False)),
                ("snoozed_until", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("key", "user"), name="attention_state_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_assigned", True)),
                        fields=("key",),
                        name="attention_assigned_once",
                    ),
                ],
            },
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
                (
                    "audit",
                    models.JSONField(
                        help_text="What people found in a sample of the scrubbed text.", null=True
                    ),
                ),
                (
                    "canary",
                    models.JSONField(
                        blank=True,
                        help_text="How many planted values of each type a scrub of this text leaves.",
                        null=True,
                    ),
                ),
                ("rules", models.IntegerField(default=1, help_text="Version of the rules that searched it.")),
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
        migrations.RunSQL(AUDIT_TRAIL),
        migrations.RunSQL(PARTITIONS),
        migrations.RunSQL(REFERENCES),
        *(
            migrations.RunSQL(CREATE_REFERENCE.format(name=name, dataset=dataset))
            for name, dataset in REFERRING
        ),
    ]
