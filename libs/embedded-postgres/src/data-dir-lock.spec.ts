import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Program, startScript } from '@echelon/testkit';
import { acquireDataDirLock } from './index.js';

let parent: string;
let dataDir: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'echelon-lock-'));
  dataDir = path.join(parent, 'not', 'there', 'yet');
});

afterEach(() => {
  rmSync(parent, { recursive: true, force: true });
});

function startHolder(): Program {
  const source = `
    import { acquireDataDirLock } from '@echelon/embedded-postgres';
    acquireDataDirLock(process.argv[1]);
    console.log('locked');
    setInterval(() => undefined, 1000);`;
  return startScript(source, { args: [dataDir] });
}

describe("a data folder's lock", () => {
  test('has one holder at a time, also within a process, and is free after its release', () => {
    const lock = acquireDataDirLock(dataDir);
    expect(() => acquireDataDirLock(dataDir)).toThrow(`Another Echelon (process ${process.pid}) uses the data folder ${dataDir}`);
    lock.release();
    lock.release();
    acquireDataDirLock(dataDir).release();
  });

  test('is refused in one sentence where the file system takes no folders, or a file is in the way', () => {
    expect(() => acquireDataDirLock('/proc/echelon-spec/data')).toThrow('may not write to /proc/echelon-spec/data');
    writeFileSync(path.join(parent, 'file'), '');
    expect(() => acquireDataDirLock(path.join(parent, 'file', 'data'))).toThrow('may not write to');
  });

  test('is kept when this process is refused a second one', async () => {
    const lock = acquireDataDirLock(dataDir);
    expect(() => acquireDataDirLock(dataDir)).toThrow('Another Echelon');
    const other = startHolder();
    const said = await other.line(/^locked|^StartupError: /);
    await other.kill();
    expect(said).toContain(`Another Echelon (process ${process.pid})`);
    lock.release();
  });

  test('is refused while another process holds it, and free the moment that one is killed', async () => {
    const holder = startHolder();
    await holder.line(/^locked/);
    expect(() => acquireDataDirLock(dataDir)).toThrow(`process ${holder.pid}`);
    await holder.kill();
    acquireDataDirLock(dataDir).release();
  });
});
