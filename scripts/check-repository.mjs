// What must not be committed: addresses of registries, paths of somebody's machine, and migrations that hold writers up.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);

const FORBIDDEN = [
  { what: 'a path of one machine', pattern: /(?<![.\w-])\/(?:work|farm|root|home|Users)\/[A-Za-z.]/ },
  { what: 'the address of a package registry', pattern: /\b(?:registry|deb)\.[a-z.]+\.(?:org|com)\b/ },
];

/**
 * Tables that grow with use: an index on one of them is built CONCURRENTLY, in a migration of that one statement, and a constraint is
 * added NOT VALID and validated by a later migration (CONTRIBUTING.md).
 */
const GROWING = 'task|session|turn|message|model_request|tool_call|queue_entry|event|artifact|operator_notification|audit';
const HOLDS_WRITERS_UP = new RegExp(String.raw`^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)[^;]*? ON "(?:${GROWING})"`, 'm');
const READS_UNDER_LOCK = new RegExp(
  String.raw`^ALTER TABLE "(?:${GROWING})"[^;]*?\bADD CONSTRAINT "\w+" (?:FOREIGN KEY|CHECK)(?![^;]*NOT VALID)`,
  'm',
);
/** The last migration that was released before the rule. */
const LAST_FROZEN = '20261130070000';

const tracked = execFileSync('git', ['ls-files', '-z', '--cached'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
const findings = [
  ...tracked.flatMap(inspect),
  ...tracked.flatMap(inspectMigration),
  ...['package-lock.json', 'bench/peers/package-lock.json'].flatMap(inspectLockfile),
];
for (const finding of findings) console.error(finding);
process.exitCode = findings.length > 0 ? 1 : 0;

function inspect(file) {
  const text = readText(file);
  return text.split('\n').flatMap((line, index) => {
    const found = FORBIDDEN.find(({ pattern }) => pattern.test(line));
    return found ? [`${file}:${index + 1}: ${found.what}: ${line.trim().slice(0, 120)}`] : [];
  });
}

function inspectMigration(file) {
  if (!file.endsWith('/migration.sql') || timestampOf(file) <= LAST_FROZEN) return [];
  const text = readText(file);
  const statements = text
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .filter((statement) => statement.trim() !== '');
  const holds = HOLDS_WRITERS_UP.test(text) ? [`${file}: builds an index of a table that grows while writers wait`] : [];
  const reads = READS_UNDER_LOCK.test(text) ? [`${file}: adds a constraint to a table that grows without NOT VALID`] : [];
  const both = /NOT VALID/.test(text) && /VALIDATE CONSTRAINT/.test(text) ? [`${file}: validates in the migration that adds`] : [];
  const alone = /INDEX CONCURRENTLY/.test(text) && statements.length > 1 ? [`${file}: CONCURRENTLY must be its only statement`] : [];
  return [...holds, ...reads, ...both, ...alone];
}

function timestampOf(file) {
  return path.basename(path.dirname(file)).slice(0, LAST_FROZEN.length);
}

/** A deleted file may still be tracked, and pictures hold no lines. */
function readText(file) {
  try {
    const bytes = readFileSync(path.join(root, file));
    return bytes.includes(0) ? '' : bytes.toString('utf8');
  } catch {
    return '';
  }
}

function inspectLockfile(file) {
  const { packages } = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  return Object.entries(packages)
    .filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''))
    .map(([name]) => `${file}: ${name} carries a download address: install with omit-lockfile-registry-resolved=true`);
}
