#!/bin/sh
# Makes the passwords of compose.yaml, for people's address <public address>:
#   sh make-env.sh https://files.example.org
# They are written to .env beside this script, once: the database and the store keep what they were made with.
set -eu
cd "$(dirname "$0")"

case "${1:-}" in
http://*|https://*) ;;
*)
  echo "usage: sh make-env.sh <public address, such as https://files.example.org>" >&2
  exit 2
  ;;
esac

if [ -e .env ]; then
  echo "error: .env is there already; the database and the store know its passwords. Nothing was changed." >&2
  exit 1
fi

# Hexadecimal digits: safe in an address, in YAML and in a shell.
random() {
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

umask 077
# Written whole or not at all.
cat >.env.new <<END
HOLDFAST_PUBLIC_URL=$1
POSTGRES_PASSWORD=$(random 32)
S3_ACCESS_KEY_ID=GK$(random 12)
S3_SECRET_ACCESS_KEY=$(random 32)
GARAGE_RPC_SECRET=$(random 32)
END
mv .env.new .env
echo "deploy/.env is made. Keep a copy of it with the backups."
