#!/usr/bin/env node
// Stands in for Prisma's native schema engine, which would have to be downloaded: the same JSON-RPC over stdin and stdout,
// answered by the WebAssembly build of that engine. For development and CI; prisma.config.ts points Prisma's command here.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { checkConnection, createDatabase, offlineFactory, onlineFactory } from './schema-engine-database.mjs';

const { values: options, positionals } = parseArgs({
  options: {
    datamodels: { type: 'string', multiple: true, default: [] },
    datasource: { type: 'string', default: '{}' },
    version: { type: 'boolean', short: 'V', default: false },
  },
  allowPositionals: true,
  strict: false,
});
const { url } = JSON.parse(options.datasource);

const OFFLINE_SOURCES = new Set(['empty', 'schemaDatamodel']);
const COMMANDS = { 'can-connect-to-database': 'ensureConnectionValidity', 'create-database': 'createDatabase' };

if (options.version) console.log('schema-engine-wasm');
else if (positionals[0] === 'cli') await runCommand(positionals[1]);
else serve();

/** Loads the engine by hand: the package's own entry imports its .wasm as a module, which needs a flag of Node's. */
async function loadEngine() {
  const folder = new URL('.', import.meta.resolve('@prisma/schema-engine-wasm'));
  globalThis.PRISMA_WASM_PANIC_REGISTRY = { set_message: panic };
  const glue = await import(new URL('schema_engine_bg.js', folder));
  const wasm = readFileSync(new URL('schema_engine_bg.wasm', folder));
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return glue.SchemaEngine;
}

/** After a panic the engine never answers again: end, so that Prisma does not take silence for success. */
function panic(message) {
  log('ERROR', { message });
  process.exit(101);
}

async function createEngine(factory) {
  const SchemaEngine = await loadEngine();
  const datamodels = options.datamodels.map((file) => [file, readFileSync(file, 'utf8')]);
  const settings = { datamodels: datamodels.length > 0 ? datamodels : undefined };
  return SchemaEngine.new(settings, () => undefined, bindMigrationAwareSqlAdapterFactory(factory));
}

let engine;

async function call(method, params) {
  if (method === 'createDatabase') return createDatabase(url);
  if (method === 'ensureConnectionValidity') return checkConnection(url);
  engine ??= await createEngine(needsDatabase(method, params) ? onlineFactory(url) : offlineFactory);
  if (method === 'getDatabaseVersion') return engine.version(params ?? null);
  return (await engine[method](params)) ?? {};
}

/** A comparison of files asks only for the dialect, not for a server. */
function needsDatabase(method, params) {
  return method !== 'diff' || [params.from, params.to].some(({ tag }) => !OFFLINE_SOURCES.has(tag));
}

async function runCommand(command) {
  try {
    await call(COMMANDS[command] ?? command);
  } catch (error) {
    log('ERROR', { error_code: error.code, message: error.message });
    process.exitCode = 1;
  }
}

/** Answers one request a line, in order, until the input ends. */
function serve() {
  let work = Promise.resolve();
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => {
    const request = JSON.parse(line);
    if (request.method) work = work.then(() => respond(request));
  });
  input.on('close', () => work.then(() => process.exit(0)));
}

async function respond({ id, method, params }) {
  try {
    const result = await call(method, params);
    if (method === 'diff' && result.stdout) send({ id: 1_000_000 + id, method: 'print', params: { content: result.stdout } });
    send({ id, result });
  } catch (error) {
    const data = { is_panic: false, message: error?.message ?? String(error), error_code: error?.code, meta: error?.meta ?? null };
    send({ id, error: { code: 4466, message: 'An error happened. Check the data field for details.', data } });
  }
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function log(level, fields) {
  process.stderr.write(`${JSON.stringify({ level, target: 'schema_engine::logger', fields })}\n`);
}
