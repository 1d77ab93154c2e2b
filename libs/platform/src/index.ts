export { ConfigError, VARIABLES, readConfig, type Config } from './config.js';
export { prepareFirstStart, readOperatorToken, type FirstStart } from './first-start.js';
export { MigrationError } from '@echelon/persistence';
export { createPlatform, type Platform, type PlatformOptions } from './platform.js';
export { runProcess } from './run-process.js';
export { stopSignal, untilAborted } from './stop-signal.js';
