/** The process `server` of a scaled-out deployment: REST, events and MCP, without a worker. */
import { createPlatform, prepareFirstStart, readConfig, runProcess } from '@echelon/platform';
import { createPlatformServer } from './serve.js';

await runProcess(async () => {
  const config = readConfig();
  const platform = await createPlatform(config, { worker: false });
  const { token } = await prepareFirstStart(config, platform.services);
  const server = await createPlatformServer(platform);
  const { url } = await server.listen(config.host, config.port);
  platform.log.info({ url, knowsToken: token !== null }, 'server.started');
  return async () => {
    await server.close();
    await platform.close();
  };
});
