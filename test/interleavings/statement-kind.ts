/** Which statements of two transactions can change places without anybody noticing, under READ COMMITTED. */

type Kind =
  /** Begins a transaction: touches nothing. */
  | 'begin'
  /** Sees what is committed, and neither waits nor is waited for. */
  | 'read'
  /** Adds a row to a table that refers to no other and that no decision reads. */
  | 'append'
  /** Writes or locks. */
  | 'write'
  /** Makes a transaction's writes visible and gives its locks back. */
  | 'end';

const APPENDED = /^INSERT INTO (event|outbox|audit)\b/;
const WRITES = /\b(INSERT INTO|UPDATE|DELETE FROM|FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|advisory)\b/;

function kindOf(text: string): Kind {
  const statement = text.trim();
  if (statement === 'BEGIN') return 'begin';
  if (statement === 'COMMIT' || statement === 'ROLLBACK') return 'end';
  if (APPENDED.test(statement)) return 'append';
  return WRITES.test(statement) ? 'write' : 'read';
}

/** Whether both orders of the two statements, of one transaction each, come to the same. */
export function commute(one: string, other: string): boolean {
  const kinds = [kindOf(one), kindOf(other)];
  const both = (a: Kind, b: Kind) => (kinds[0] === a && kinds[1] === b) || (kinds[0] === b && kinds[1] === a);
  return !(both('write', 'write') || both('end', 'write') || both('end', 'read'));
}
