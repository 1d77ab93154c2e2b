// The commands of package.json. Runs on any Node from 20.19: installs what is missing, then continues on the pinned Node.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const binaries = path.join(root, 'node_modules', '.bin');
const OLDEST_NODE = [24, 9];

const BUILD = ['scripts/build.mjs'];
const CLI = ['--import', './scripts/end-with-parent.mjs', 'apps/cli/bin/echelon.mjs'];

/** Each command is a list of Node programs; the last one receives the arguments. */
const COMMANDS = {
  start: [BUILD, [...CLI, 'up']],
  echelon: [BUILD, CLI],
  build: [BUILD],
  test: [BUILD, ['scripts/test.mjs']],
  'test:deep': [BUILD, ['scripts/test.mjs', '--deep']],
  'test:model': [BUILD, ['scripts/test-model.mjs']],
  parity: [BUILD, ['scripts/parity.mjs']],
  check: [BUILD, ['scripts/check.mjs']],
  bench: [BUILD, ['--import', './scripts/source-loader.mjs', 'bench/run.ts']],
  requirements: [['scripts/requirements.mjs']],
};

const [name, ...args] = process.argv.slice(2);
const programs = Object.hasOwn(COMMANDS, name ?? '') ? COMMANDS[name] : undefined;
if (!programs) fail(`usage: node scripts/run.mjs ${Object.keys(COMMANDS).join(' | ')}`);

const env = { ...process.env, PATH: binaries + path.delimiter + process.env.PATH };
installIfMissing();
const node = chooseNode();
for (const program of programs.slice(0, -1)) runOrExit(node, program);
runLast(node, [...programs.at(-1), ...args]);

function installIfMissing() {
  if (isInstalled()) return;
  process.stderr.write('Installing what is missing (npm ci); the first time takes a minute, more on a slow line …\n');
  runOrExit('npm', ['ci'], { shell: process.platform === 'win32', env: process.env });
}

/** Compares contents, not times: what npm noted as installed must be what the lockfile asks for. */
function isInstalled() {
  const installed = readPackages('node_modules/.package-lock.json');
  if (!installed) return false;
  const wanted = readPackages('package-lock.json') ?? {};
  return Object.entries(wanted).every(([place, { version, optional, link }]) => {
    if (!place.includes('node_modules/')) return true;
    if (link) return existsSync(path.join(root, place));
    return installed[place] ? installed[place].version === version : optional === true;
  });
}

function readPackages(file) {
  const full = path.join(root, file);
  return existsSync(full) ? JSON.parse(readFileSync(full, 'utf8')).packages : undefined;
}

/** The Node that npm installed for this platform, where it has one that runs; else the one that we are. */
function chooseNode() {
  const pinned = path.join(binaries, 'node');
  if (existsSync(pinned) && runs(pinned)) return pinned;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return process.execPath;
  const here = `${process.platform} on ${process.arch}`;
  return fail(
    `No Node comes with Echelon for ${here}, and Node ${major}.${minor} is too old: install Node ${OLDEST_NODE.join('.')} or newer.`,
  );
}

function runs(binary) {
  return spawnSync(binary, ['-p', '0']).status === 0;
}

function runOrExit(command, commandArgs, options = {}) {
  const { status, error } = spawnSync(command, commandArgs, { cwd: root, env, stdio: 'inherit', ...options });
  if (error) fail(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

/** Passes signals on and ends as the program ends. npm dies of SIGTERM without telling us: then we watch it. */
function runLast(command, commandArgs) {
  const child = spawn(command, commandArgs, { cwd: root, env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forwardTo(child, signal));
  if (process.env.npm_lifecycle_event) import('./end-with-parent.mjs');
  child.on('error', (error) => fail(`${command} could not be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/**
 * A terminal sends Ctrl-C to the program too, and npm repeats to us what the terminal sent: the program hears each signal once.
 */
function forwardTo(child, signal) {
  const fromTerminal = signal !== 'SIGTERM' && [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  let forwarded = fromTerminal;
  return () => {
    if (!forwarded) child.kill(signal);
    forwarded = true;
  };
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  return process.exit(1);
}
