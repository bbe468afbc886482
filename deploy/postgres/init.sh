#!/bin/bash
# Runs once, when the image of PostgreSQL makes a new database: creates the roles of the service and of the backup. The
# superuser `postgres` then has no password: it can connect only inside the container.
set -euo pipefail
psql --no-psqlrc --username=postgres --dbname="$POSTGRES_DB" --file=/etc/phm/roles.sql
psql --no-psqlrc --username=postgres --dbname="$POSTGRES_DB" --command='ALTER ROLE postgres PASSWORD NULL'
