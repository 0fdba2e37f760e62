"""The audit trail can be added to, and nothing else: not even by the role that owns the table."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION datasets_app_audit_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % refused', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_event_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON datasets_app_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION datasets_app_audit_event_is_append_only();

REVOKE UPDATE, DELETE, TRUNCATE ON datasets_app_auditevent FROM PUBLIC, CURRENT_USER;
"""

BACKWARD = """
GRANT UPDATE, DELETE, TRUNCATE ON datasets_app_auditevent TO CURRENT_USER;
DROP TRIGGER audit_event_append_only ON datasets_app_auditevent;
DROP FUNCTION datasets_app_audit_event_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
