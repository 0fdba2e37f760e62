#!/bin/sh
# Makes the secrets that compose.yaml mounts: random, one a file, in the folder "secrets" or the one named.
# A secret that exists stays. Containers run as other users, so files are readable and their folder is not.
set -eu
folder=${1:-secrets}
mkdir -p "$folder"
chmod 700 "$folder"
umask 022

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
write() { [ -s "$folder/$1" ] || printf '%s\n' "$2" > "$folder/$1"; }
value() { cat "$folder/$1"; }

for name in postgres_password owner_password application_password backup_password valkey_password storage_password \
    secret_key hash_key release_key metrics_token; do
    write "$name" "$(random)"
done
write database_url "postgresql://alignmenter:$(value application_password)@/alignmenter?host=/run/sockets"
write owner_database_url "postgresql://alignmenter_owner:$(value owner_password)@/alignmenter?host=/run/sockets"
write backup_database_url "postgresql://alignmenter_backup:$(value backup_password)@/alignmenter?host=/run/sockets"
write redis_url "unix://:$(value valkey_password)@/run/sockets/valkey.sock"
write valkey_conf "port 0
unixsocket /run/sockets/valkey.sock
unixsocketperm 777
requirepass $(value valkey_password)
dir /data
appendonly yes
appendfsync everysec
save \"\"
hide-user-data-from-log yes"
write aws_credentials "[default]
aws_access_key_id = alignmenter
aws_secret_access_key = $(value storage_password)"
write s3_identities "{\"identities\": [{\"name\": \"alignmenter\", \"actions\": [\"Admin\", \"Read\", \"Write\", \"List\"],
  \"credentials\": [{\"accessKey\": \"alignmenter\", \"secretKey\": \"$(value storage_password)\"}]}]}"
echo "The secrets are in $folder. Keep a copy of secret_key, hash_key and release_key apart from the data."
