/**
 * The sessions of this machine, in one SQLite file of the data folder.
 *
 * S1  What is appended at once is stored at once or not at all, and is on the disk when `append` returns.
 * S2  A session is open in one process at a time; the operating system's lock ends with the process, however that ends.
 */
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { makeFolder } from '@echelon/embedded-postgres';
import { type FileLock, lockFile } from './file-lock.js';
import { SessionError } from './session-error.js';
import type { SessionRecord } from './session-record.js';
import { removeStaleOverlays } from './speculation/overlay.js';

export interface SessionEntry {
  readonly id: string;
  /** Absolute path of the folder that its tools work in. */
  readonly folder: string;
  /** Its first prompt, shortened. */
  readonly title: string;
  /** RFC 3339 UTC. */
  readonly created_at: string;
  readonly updated_at: string;
}

export interface SessionPage {
  readonly items: readonly SessionEntry[];
  readonly next_cursor: string | null;
}

const BUSY_MS = 5_000;
const TITLE = 80;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY, folder TEXT NOT NULL, title TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS session_by_folder ON session (folder, updated_at);
  CREATE TABLE IF NOT EXISTS record (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE, sequence INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session_id, sequence)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS artifact (
    session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE, call_id TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (session_id, call_id)) WITHOUT ROWID;
`;

export class SessionStore {
  private readonly statements = new Map<string, StatementSync>();

  private constructor(
    private readonly database: DatabaseSync,
    private readonly locks: string,
    /** Where runs ahead try their work. */
    readonly overlays: string,
  ) {}

  /** Opens the store in a folder, which is made where it is missing. Throws `store_unusable`. */
  static open(folder: string): SessionStore {
    try {
      return SessionStore.openIn(folder);
    } catch (cause) {
      const message = `Sessions cannot be kept in ${folder}: correct its owner or make room, or set ECHELON_DATA_DIR to another folder.`;
      throw new SessionError('store_unusable', message, { cause });
    }
  }

  private static openIn(folder: string): SessionStore {
    const locks = path.join(folder, 'locks');
    makeFolder(locks, 0o700);
    const database = new DatabaseSync(path.join(folder, 'sessions.sqlite'), { timeout: BUSY_MS });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
    database.exec(SCHEMA);
    const overlays = path.join(folder, 'overlays');
    removeStaleOverlays(overlays);
    return new SessionStore(database, locks, overlays);
  }

  create({ id, folder, at }: { readonly id: string; readonly folder: string; readonly at: Date }): void {
    const now = at.toISOString();
    this.run('INSERT INTO session VALUES (?, ?, ?, ?, ?)', id, folder, '', now, now);
  }

  /** Throws `session_not_found`. */
  get(id: string): SessionEntry {
    const entry = this.prepare('SELECT * FROM session WHERE id = ?').get(id);
    if (entry === undefined) throw new SessionError('session_not_found', `There is no session ${id} on this machine.`);
    return entry as unknown as SessionEntry;
  }

  /** Newest first; `cursor` is the id of the last one seen. */
  list(query: { readonly folder?: string | undefined; readonly cursor?: string | undefined; readonly limit: number }): SessionPage {
    const { folder = null, cursor = null, limit } = query;
    const rows = this.prepare(
      `SELECT s.* FROM session s WHERE (?1 IS NULL OR s.folder = ?1)
         AND (?2 IS NULL OR (s.updated_at, s.id) < (SELECT updated_at, id FROM session WHERE id = ?2))
       ORDER BY s.updated_at DESC, s.id DESC LIMIT ?3`,
    ).all(folder, cursor, limit + 1) as unknown as SessionEntry[];
    const items = rows.slice(0, limit);
    return { items, next_cursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** The session of a folder that was used last. */
  findLatest(folder: string): SessionEntry | null {
    return this.list({ folder, limit: 1 }).items[0] ?? null;
  }

  delete(id: string): void {
    this.run('DELETE FROM session WHERE id = ?', id);
  }

  read(id: string): readonly SessionRecord[] {
    const rows = this.prepare('SELECT body FROM record WHERE session_id = ? ORDER BY sequence').all(id);
    return rows.map(({ body }) => JSON.parse(String(body)) as SessionRecord);
  }

  /** Appends in one transaction. Throws when the disk is full or the file cannot be written; then nothing was stored. */
  append(id: string, records: readonly SessionRecord[], at: Date): void {
    if (records.length === 0) return;
    this.database.exec('BEGIN IMMEDIATE');
    try {
      for (const record of records)
        this.run(
          'INSERT INTO record SELECT ?1, coalesce(max(sequence), 0) + 1, ?2 FROM record WHERE session_id = ?1',
          id,
          JSON.stringify(record),
        );
      this.run('UPDATE session SET updated_at = ? WHERE id = ?', at.toISOString(), id);
      this.database.exec('COMMIT');
    } catch (error) {
      this.database.exec('ROLLBACK');
      throw error;
    }
  }

  nameAfter(id: string, prompt: string): void {
    this.run(`UPDATE session SET title = ? WHERE id = ? AND title = ''`, prompt.trim().replace(/\s+/g, ' ').slice(0, TITLE), id);
  }

  /** Keeps the full text of a cut result; once per call. */
  storeArtifact(id: string, callId: string, text: string): void {
    this.run('INSERT INTO artifact VALUES (?, ?, ?) ON CONFLICT DO NOTHING', id, callId, text);
  }

  findArtifact(id: string, callId: string): string | null {
    const found = this.prepare('SELECT text FROM artifact WHERE session_id = ? AND call_id = ?').get(id, callId);
    return found === undefined ? null : String(found.text);
  }

  /** Makes this process the session's only user until `release`. Throws `session_in_use`. */
  lock(id: string): FileLock {
    const lock = lockFile(path.join(this.locks, `${id}.lock`));
    if (lock === null) throw new SessionError('session_in_use', `The session ${id} is open in another process.`);
    return lock;
  }

  close(): void {
    this.database.close();
  }

  private run(sql: string, ...values: (string | number | null)[]): void {
    this.prepare(sql).run(...values);
  }

  private prepare(sql: string): StatementSync {
    const known = this.statements.get(sql) ?? this.database.prepare(sql);
    this.statements.set(sql, known);
    return known;
  }
}
