/** Server and worker in one process, as `up` runs them, that can be told to die at a commit. Its first line says where it is. */
import { createPlatform, prepareFirstStart, readConfig, stopSignal, untilAborted } from '@echelon/platform';
import { createPlatformServer } from '@echelon/server';
import { obeyKillPoint } from './kill-point.js';

obeyKillPoint();
const stopping = stopSignal();
const config = readConfig();
const platform = await createPlatform(config, { worker: true });
const { token } = await prepareFirstStart(config, platform.services);
const server = await createPlatformServer(platform);
const { url } = await server.listen(config.host, config.port);
process.stdout.write(`${JSON.stringify({ url, token })}\n`);
await untilAborted(stopping);
await server.close();
await platform.close();
