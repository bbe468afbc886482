#!/bin/sh
# Backs up the database of the service to a verified dump, /backup/phm-<UTC time>.dump.
#   backup.sh once    one backup; the exit code is 0 if the dump is complete, verified and on disk
#   backup.sh repeat  one backup every BACKUP_EVERY_HOURS, for a container; after a failure again in ten minutes
#   backup.sh check   exit code 0 if the last successful backup is at most BACKUP_EVERY_HOURS plus two hours old
# The connection comes from libpq's variables (PGHOST, PGUSER, PGDATABASE, …), the password from BACKUP_PASSWORD_FILE.
set -eu
umask 077

folder=${BACKUP_DIR:-/backup}
every_hours=${BACKUP_EVERY_HOURS:-24}
keep_days=${BACKUP_KEEP_DAYS:-14}
success=$folder/last-success

log() { echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) backup: $*"; }

back_up() {
  # Only one at a time. The lock ends with the process.
  exec 9> "$folder/.lock"
  flock --nonblock 9 || { log 'another backup is running' >&2; return 1; }
  rm -f "$folder"/.*.new

  name=phm-$(date -u +%Y%m%dT%H%M%SZ).dump
  new=$folder/.$name.new
  pg_dump --format=custom --no-owner --no-password --lock-wait-timeout=60s --file="$new" || return 1
  # The table of contents must name the ledger; then every block must decompress.
  pg_restore --list "$new" | grep -q ' TABLE DATA public schema_version ' || return 1
  pg_restore --file=/dev/null "$new" || return 1
  # A dump has its name only when it is complete and on disk.
  sync "$new" && mv "$new" "$folder/$name" && sync "$folder" || return 1

  bytes=$(wc -c < "$folder/$name")
  sum=$(sha256sum "$folder/$name") || return 1
  echo "$name $bytes bytes sha256 ${sum%% *}" > "$success.new" && mv "$success.new" "$success" || return 1
  # Old dumps go only after a success, so failures never remove the last good one.
  find "$folder" -maxdepth 1 -name 'phm-*.dump' -mtime "+$keep_days" -delete
  log "$(cat "$success")"
}

check() {
  test -n "$(find "$success" -mmin "-$(((every_hours + 2) * 60))" 2> /dev/null)"
}

# In the background, so that a signal ends the script at once. Its container ends with it.
interruptibly() { "$@" & wait $!; }

# A restarted container waits until the next backup is due.
repeat() {
  trap 'exit 0' TERM INT
  # A new database gets its tables first.
  [ -e "$success" ] || interruptibly sleep 30
  while true; do
    last=$(stat --format=%Y "$success" 2> /dev/null || echo 0)
    due=$((last + every_hours * 3600 - $(date +%s)))
    if [ "$due" -gt 0 ]; then
      interruptibly sleep "$due"
    elif ! interruptibly back_up; then
      log 'failed; next attempt in ten minutes' >&2
      interruptibly sleep 600
    fi
  done
}

if [ -n "${BACKUP_PASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$BACKUP_PASSWORD_FILE")
  export PGPASSWORD
fi

case ${1:-} in
  once) back_up ;;
  repeat) repeat ;;
  check) check ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
