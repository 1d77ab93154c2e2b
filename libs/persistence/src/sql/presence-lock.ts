/** Class of our advisory locks: presence numbers are the second key (K12). */
export const PRESENCE_LOCK_CLASS = 7_270_736;

/**
 * SQL: the row `l` of `pg_locks` is a lock of our class that somebody holds. The databases of one server share `pg_locks` and count
 * their processes alike, so only locks of the current database count.
 */
export const PRESENCE_HELD = `l.locktype = 'advisory' AND l.classid = ${PRESENCE_LOCK_CLASS} AND l.objsubid = 2 AND l.granted
    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())`;

/** SQL that asks whether a live process holds the presence number, given as SQL too. */
export function isPresent(presence: string): string {
  return `EXISTS (SELECT 1 FROM pg_locks l WHERE ${PRESENCE_HELD} AND l.objid = (${presence})::oid)`;
}
