// Makes what the sources need to run: the Prisma client, and each package's dist. Does only what changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { swcOptions } from './swc-options.mjs';

const root = path.dirname(import.meta.dirname);
const inRoot = (...parts) => path.join(root, ...parts);
const versionOf = (name) => JSON.parse(readFileSync(inRoot('node_modules', name, 'package.json'), 'utf8')).version;

generateClient();
await compilePackages();

/** The client's folder remembers the schema that it was made from. */
function generateClient() {
  const folder = inRoot('libs/persistence/src/generated');
  const stamp = path.join(folder, '.made-from');
  const source = hash(readFileSync(inRoot('prisma/schema.prisma')), versionOf('prisma'));
  if (readIfPresent(stamp) === source) return;
  process.stderr.write('Generating the database client …\n');
  const env = { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' };
  const prisma = inRoot('node_modules/prisma/build/index.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [prisma, 'generate'], { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) {
    process.stderr.write(stdout + stderr);
    process.exit(1);
  }
  writeFileSync(stamp, source);
}

async function compilePackages() {
  const stamp = inRoot('node_modules/.cache/echelon/compiled-with');
  const compiler = hash(JSON.stringify(swcOptions), versionOf('@swc/core'));
  const sameCompiler = readIfPresent(stamp) === compiler;
  const folders = globSync(['libs/*/src', 'apps/*/src'], { cwd: root }).map((folder) => inRoot(path.dirname(folder)));
  const work = folders.flatMap((folder) => planPackage(folder, sameCompiler));
  if (work.length === 0) return;
  process.stderr.write(`Building ${work.length} files …\n`);
  const { transformFileSync } = await import('@swc/core');
  for (const { source, target } of work) compile(transformFileSync, source, target);
  write(stamp, compiler);
}

/** Lists the files to make, and removes what no source stands for any more. */
function planPackage(folder, sameCompiler) {
  const from = path.join(folder, 'src');
  const to = path.join(folder, 'dist');
  const sources = globSync('**/*', { cwd: from, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(spec|deep)\.ts$|^\./.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));
  const files = sources.map((source) => ({ source, target: path.join(to, path.relative(from, source)).replace(/\.ts$/, '.js') }));
  removeStale(to, new Set(files.map(({ target }) => target)));
  return files.filter(({ source, target }) => !sameCompiler || isOlder(target, source));
}

function removeStale(folder, targets) {
  for (const file of globSync('**/*.js', { cwd: folder }).map((name) => path.join(folder, name))) {
    if (targets.has(file)) continue;
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
}

function isOlder(target, source) {
  const made = statSync(target, { throwIfNoEntry: false });
  return !made || made.mtimeMs < statSync(source).mtimeMs;
}

function compile(transform, source, target) {
  mkdirSync(path.dirname(target), { recursive: true });
  if (!source.endsWith('.ts')) return copyFileSync(source, target);
  const { code, map } = transform(source, { ...swcOptions, sourceMaps: true, sourceFileName: path.relative(path.dirname(target), source) });
  write(`${target}.map`, map);
  write(target, `${code}//# sourceMappingURL=${path.basename(target)}.map\n`);
}

/** Whole or not at all: a process that starts meanwhile never reads half a file. */
function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

function readIfPresent(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function hash(...parts) {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest('hex');
}
