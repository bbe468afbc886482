-- Moves the database of an earlier compose.yaml from its superuser `phm` to a role `phm` without privileges:
-- ../README.md#from-the-superuser-phm
-- The first superuser of a cluster must stay one, so it is renamed to `postgres`, and a new role takes the name and the
-- objects. All in one transaction: after an error nothing has changed but the role `phm_move`, which you may drop.
\set ON_ERROR_STOP on
-- A session cannot rename its own role.
CREATE ROLE phm_move LOGIN SUPERUSER;
\connect - phm_move
BEGIN;
SET LOCAL lock_timeout = '5s';
ALTER ROLE phm RENAME TO postgres;
\ir roles.sql
DO $$
DECLARE
  object record;
BEGIN
  FOR object IN
    SELECT format('ALTER TABLE %s OWNER TO phm', oid::regclass) AS command
      FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relowner = 'postgres'::regrole AND relkind IN ('r', 'p')
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO phm', oid::regprocedure)
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner = 'postgres'::regrole
  LOOP
    EXECUTE object.command;
  END LOOP;
END $$;
ALTER ROLE postgres PASSWORD NULL;
COMMIT;
\connect - postgres
DROP ROLE phm_move;
