/** What a command needs before the whole graph is loaded, and instead of it: loads in a fraction of the time. */
export { MigrationError } from '@echelon/persistence/migrate';
export { ConfigError, readConfig, type Config } from './config.js';
export { type LimitRow, listLimits, listRetention } from './limit-table.js';
export { readOperatorToken } from './operator-token.js';
export { stopSignal, untilAborted } from './stop-signal.js';
export { openStorage } from './storage.js';
export { findUnknownVariables, VARIABLES } from './variables.js';
