"""Functions and triggers of partitions, for the migration that creates them."""

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

-- Deletes all sessions and turns of a dataset at once. Rows that refer to them must be gone.
CREATE FUNCTION datasets_app_empty_partition(dataset bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
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
