export { ConfigError, VARIABLES, readConfig, type Config } from './config.js';
export { createPlatform, type Platform, type PlatformOptions } from './platform.js';
