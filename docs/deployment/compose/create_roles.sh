#!/bin/sh
# The roles and the database, when PostgreSQL starts for the first time: docs/deployment.md.
set -eu
secrets=${SECRETS_DIR:-/run/secrets}
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
    --set owner="$(cat "$secrets/owner_password")" \
    --set application="$(cat "$secrets/application_password")" \
    --set backup="$(cat "$secrets/backup_password")" <<'SQL'
CREATE ROLE alignmenter_owner LOGIN PASSWORD :'owner';
CREATE ROLE alignmenter LOGIN PASSWORD :'application';
CREATE ROLE alignmenter_backup LOGIN PASSWORD :'backup';
GRANT pg_read_all_data TO alignmenter_backup;
CREATE DATABASE alignmenter OWNER alignmenter_owner;
\connect alignmenter
GRANT pg_checkpoint TO alignmenter;
GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO alignmenter;
GRANT MAINTAIN ON pg_statistic, pg_statistic_ext_data TO alignmenter;
SQL
