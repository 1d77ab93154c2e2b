/** The process `worker` of a scaled-out deployment: runs turns, and nothing else. */
import { createPlatform, readConfig, stopSignal, untilAborted } from '@echelon/platform';

const stopping = stopSignal();
const platform = await createPlatform(readConfig(), { worker: true });
platform.log.info({ pid: process.pid }, 'worker.started');
await untilAborted(stopping);
await platform.close();
