"""The triggers that seal audit events work as the owner of the tables: nobody else needs rights to the seals.

A function that works as its owner must not be led to other tables: the schema of the tables comes first, and
temporary tables, which anyone can make, come last.
"""

from django.db import migrations

FORWARD = """
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

BACKWARD = """
DO $$
DECLARE
    called text;
BEGIN
    FOREACH called IN ARRAY ARRAY[
        'datasets_app_seal_audit_event(bigint)',
        'datasets_app_audit_event_seal_last()',
        'datasets_app_audit_event_seal()'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY INVOKER RESET search_path', called);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', called);
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("datasets_app", "0010_signer_account")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
