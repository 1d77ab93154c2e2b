/** The libraries that we are compared with: installed below `bench/peers` when a bench needs them, and nowhere else. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.join(import.meta.dirname, 'peers');
const LOCK = path.join(FOLDER, 'package-lock.json');
const INSTALLED = path.join(FOLDER, 'node_modules', '.package-lock.json');
const INSTALL = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1', '--fetch-timeout=20000'];

/** Installs what is missing; resolves with why that failed, or with `null`. Takes seconds, without a network up to half a minute. */
export async function installPeers(progress: (what: string) => void): Promise<string | null> {
  if (areInstalled()) return null;
  progress('installing the peers (npm ci in bench/peers) …');
  const failure = await runNpm();
  progress(failure === null ? 'the peers are installed' : `the peers are not installed: ${failure}`);
  return failure;
}

function areInstalled(): boolean {
  if (!existsSync(INSTALLED)) return false;
  const [wanted, installed] = [readVersions(LOCK), readVersions(INSTALLED)];
  return Object.entries(wanted).every(([place, { version }]) => place === '' || installed[place]?.version === version);
}

function readVersions(file: string): Readonly<Record<string, { readonly version?: string }>> {
  return (JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, { version?: string }> }).packages;
}

function runNpm(): Promise<string | null> {
  return new Promise((resolve) => {
    const npm = spawn('npm', INSTALL, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'pipe'], shell: process.platform === 'win32' });
    let said = '';
    npm.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    npm.once('error', (error) => resolve(error.message));
    npm.once('close', (code) => resolve(code === 0 ? null : firstLine(said) || `npm ended with ${code}`));
  });
}

function firstLine(text: string): string {
  return text.trim().split('\n').at(0) ?? '';
}
