-- The two roles of the ledger's database. Run it as a superuser, in the database of the service; run it again to change
-- a password. With psql 15 or newer, whose environment names the files of the passwords:
--   SERVICE_PASSWORD_FILE=… BACKUP_PASSWORD_FILE=… psql --dbname=phm --file=roles.sql
\set ON_ERROR_STOP on
\set service_password `cat "$SERVICE_PASSWORD_FILE"`
\set backup_password `cat "$BACKUP_PASSWORD_FILE"`
SELECT current_database() AS database \gset

-- The server logs a statement that fails: passwords must not reach its log.
SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_error_statement = panic;
SET client_min_messages = warning;

-- The service owns its tables, because servers create partitions and `phm migrate` alters tables (docs/ledger.md#postgresql).
SELECT 'CREATE ROLE phm' WHERE to_regrole('phm') IS NULL \gexec
ALTER ROLE phm LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'service_password';
ALTER DATABASE :"database" OWNER TO phm;

-- Backups read everything and change nothing.
SELECT 'CREATE ROLE phm_backup' WHERE to_regrole('phm_backup') IS NULL \gexec
ALTER ROLE phm_backup LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 2
  PASSWORD :'backup_password';
ALTER ROLE phm_backup SET default_transaction_read_only = on;
GRANT pg_read_all_data TO phm_backup;

-- No other role, but a superuser, can connect.
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO phm_backup;

RESET log_statement;
RESET log_min_duration_statement;
RESET log_min_error_statement;
RESET client_min_messages;
