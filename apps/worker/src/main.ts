/** The process `worker` of a scaled-out deployment: runs turns, and nothing else. */
import { createPlatform, readConfig, runProcess } from '@echelon/platform';

await runProcess(async () => {
  const platform = await createPlatform(readConfig(), { worker: true });
  platform.log.info({ pid: process.pid }, 'worker.started');
  return () => platform.close();
});
