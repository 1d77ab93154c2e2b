// What must not be committed: addresses of registries, and paths of somebody's machine.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);

const FORBIDDEN = [
  { what: 'a path of one machine', pattern: /(?<![.\w-])\/(?:work|farm|root|home|Users)\/[A-Za-z.]/ },
  { what: 'the address of a package registry', pattern: /\b(?:registry|deb)\.[a-z.]+\.(?:org|com)\b/ },
];

const tracked = execFileSync('git', ['ls-files', '-z', '--cached'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
const findings = [...tracked.flatMap(inspect), ...inspectLockfile()];
for (const finding of findings) console.error(finding);
process.exitCode = findings.length > 0 ? 1 : 0;

function inspect(file) {
  const text = readText(file);
  return text.split('\n').flatMap((line, index) => {
    const found = FORBIDDEN.find(({ pattern }) => pattern.test(line));
    return found ? [`${file}:${index + 1}: ${found.what}: ${line.trim().slice(0, 120)}`] : [];
  });
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

function inspectLockfile() {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''))
    .map(([name]) => `package-lock.json: ${name} carries a download address: install with omit-lockfile-registry-resolved=true`);
}
