/** Server and worker in this process, with the scripted model beside them: what `up` runs, and `demo` where nothing runs yet. */
import { createPlatform, type Config, type FirstStart, prepareFirstStart, readConfig } from '@echelon/platform';
import { startScriptedModel } from '@echelon/scripted-model';
import { createPlatformServer } from '@echelon/server';
import { demoScript } from './demo-script.js';

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
  const opened: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of opened.splice(0).reverse()) await step();
  };
  try {
    const config = readConfig(await withScriptedModel(opened));
    const platform = await createPlatform(config, { worker: true });
    opened.push(() => platform.close());
    const first = await prepareFirstStart(config, platform.services);
    const server = await createPlatformServer(platform);
    opened.push(() => server.close());
    const { url } = await server.listen(config.host, options.port ?? config.port);
    return { url, first, config, gone: platform.storage.gone, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The scripted provider is always there, so that the demo needs no key; a given one is left as it is. */
async function withScriptedModel(opened: (() => Promise<void>)[]): Promise<NodeJS.ProcessEnv> {
  if (process.env.ECHELON_SCRIPTED_MODEL_URL) return process.env;
  const model = await startScriptedModel({ script: demoScript, record: false });
  opened.push(() => model.close());
  return { ...process.env, ECHELON_SCRIPTED_MODEL_URL: model.url };
}
