/**
 * Server and worker in this process, with the scripted model beside them: what `up` runs, and `demo` where nothing runs yet.
 * Its larger half is loaded while Postgres starts: what is imported here at the top is what that needs.
 */
import type { FirstStart } from '@echelon/platform';
import { type Config, openStorage, readConfig } from '@echelon/platform/start';
import { CommandError, EXIT } from './exit-code.js';
import { withOwnScriptedModel } from './local/own-scripted-model.js';
import { portTaken, recordServerAddress, refuseTakenPort } from './server-address.js';

export interface RunningServer {
  readonly url: string;
  readonly first: FirstStart;
  readonly config: Config;
  /** Resolves when the embedded Postgres is gone: nothing can go on here. */
  readonly gone: Promise<void>;
  close(): Promise<void>;
}

/** Starts everything; `port` overrides the configured one. What was started is stopped again on a failure. */
export async function startServer(options: { readonly port?: number } = {}): Promise<RunningServer> {
  const configured = readConfig();
  const address = { host: configured.host, port: options.port ?? configured.port };
  await refuseTakenPort(address);
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of opened.splice(0).reverse()) await step();
  };
  try {
    const loading = loadServer();
    const storage = await openStorage(configured);
    opened.push(() => storage.close());
    const { createPlatform, prepareFirstStart, createPlatformServer } = await loading;
    const config = readConfig(await withScriptedModel(opened));
    const platform = await createPlatform(config, { worker: true, storage });
    opened.push(() => platform.close());
    const [first, server] = await Promise.all([prepareFirstStart(config, platform.services), createPlatformServer(platform)]);
    opened.push(() => server.close());
    const { url } = await server.listen(address.host, address.port).catch((error: unknown) => refuseAddress(error, address.port));
    opened.push(recordServerAddress(config, url));
    return { url, first, config, gone: storage.gone, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Loads while Postgres starts; a failure is told where the result is awaited, after Postgres can be stopped again. */
function loadServer() {
  const loading = Promise.all([import('@echelon/platform'), import('@echelon/server')]);
  const loaded = loading.then(([platform, server]) => ({ ...platform, ...server }));
  loaded.catch(() => undefined);
  return loaded;
}

/** Somebody took the port since it was looked at. */
function refuseAddress(error: unknown, port: number): never {
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') throw new CommandError(portTaken(port), EXIT.cannotStart);
  throw error;
}

/** The scripted provider is always there, so that the demo needs no key; a given one is left as it is. */
async function withScriptedModel(opened: (() => Promise<void>)[]): Promise<NodeJS.ProcessEnv> {
  const { env, close } = await withOwnScriptedModel(process.env, async () => (await import('./demo-script.js')).demoScript);
  opened.push(close);
  return env;
}
