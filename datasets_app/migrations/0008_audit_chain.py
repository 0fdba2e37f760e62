"""Every event of the audit trail is sealed as it is committed; those that stand already are sealed now.

A seal's digest is the SHA-256 over the digest before it and the event. Seals are made one after the other,
under a lock that lasts until the commit is done. It has to be the last lock a transaction takes, or two could
wait for each other: so after the checks of foreign keys at the commit too, which wait for locks on rows.
Hence two triggers: the first is run at the commit with those checks, in the order of what was written, and
only brings about the second, which is run when all that was waiting for the commit has had its turn.
"""

from django.db import migrations, models

# A plan is made once for a connection, perhaps while a table is empty and reading all of it is cheapest: with
# enable_seqscan off it goes by index, or by the row's place, from the beginning.
# The advisory lock's number is the first eight bytes of the SHA-256 of "datasets_app_auditseal".
FORWARD = """
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

-- Before PostgreSQL 17, the owner needs a right for this that it has given away.
GRANT UPDATE ON datasets_app_auditevent TO CURRENT_USER;
LOCK TABLE datasets_app_auditevent IN SHARE ROW EXCLUSIVE MODE;
REVOKE UPDATE ON datasets_app_auditevent FROM CURRENT_USER;
DO $$
DECLARE
    standing bigint;
BEGIN
    FOR standing IN SELECT id FROM datasets_app_auditevent ORDER BY id LOOP
        PERFORM datasets_app_seal_audit_event(standing);
    END LOOP;
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
"""

BACKWARD = """
GRANT UPDATE, DELETE, TRUNCATE ON datasets_app_auditseal TO CURRENT_USER;
DROP TRIGGER audit_seal_append_only ON datasets_app_auditseal;
DROP TRIGGER audit_event_seal_last ON datasets_app_auditevent;
DROP TABLE datasets_app_audit_unsealed;
DROP FUNCTION datasets_app_audit_event_seal_last();
DROP FUNCTION datasets_app_audit_event_seal();
DROP FUNCTION datasets_app_seal_audit_event(bigint);
DELETE FROM datasets_app_auditseal;
"""

# Any filter of the page, with the newest first; see the model.
INDEXES = {
    "audit_event_by_time": ["at", "id"],
    "audit_event_of_action": ["action", "at", "id"],
    "audit_event_of_actor": ["actor", "at", "id"],
    "audit_event_of_dataset": ["dataset_name", "at", "id"],
}


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0007_governance")]

    operations = [
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.AlterModelOptions(
            name="auditevent", options={"default_permissions": ("view",), "ordering": ["-at", "-id"]}
        ),
        migrations.RemoveIndex(model_name="auditevent", name="audit_event_of_dataset"),
        *(
            migrations.AddIndex(model_name="auditevent", index=models.Index(fields=fields, name=name))
            for name, fields in INDEXES.items()
        ),
    ]
