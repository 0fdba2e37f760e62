#!/bin/sh
# manage.py with the account and the settings of the systemd units. As root: manage.sh createsuperuser
set -eu
folder=/etc/alignmenter
while IFS= read -r line; do
    case $line in '' | '#'*) ;; *) export "$line" ;; esac
done < "$folder/environment"
DATABASE_URL=$(cat "$folder/secrets/database_url")
REDIS_URL=$(cat "$folder/secrets/redis_url")
SECRET_KEY=$(cat "$folder/secrets/secret_key")
ALIGNMENTER_HASH_KEY=$(cat "$folder/secrets/hash_key")
ALIGNMENTER_RELEASE_KEY=$(cat "$folder/secrets/release_key")
export DATABASE_URL REDIS_URL SECRET_KEY ALIGNMENTER_HASH_KEY ALIGNMENTER_RELEASE_KEY
case ${1-} in migrate | restore)
    ALIGNMENTER_OWNER_DATABASE_URL=$(cat "$folder/owner_database_url")
    export ALIGNMENTER_OWNER_DATABASE_URL ;;
esac
export ALIGNMENTER_VAR_DIR=/var/lib/alignmenter HOME=/var/lib/alignmenter
umask 077
cd /opt/alignmenter
exec setpriv --reuid=alignmenter --regid=alignmenter --init-groups --no-new-privs \
    .venv/bin/python manage.py "$@"
