export { restoreDeployment } from './restore.js';
export { readConfig, type Config } from './config.js';
export { prepareFirstStart, type FirstStart } from './first-start.js';
export { createPlatform, type Platform, type PlatformOptions } from './platform.js';
export { runProcess } from './run-process.js';
export { stopSignal, untilAborted } from './stop-signal.js';
