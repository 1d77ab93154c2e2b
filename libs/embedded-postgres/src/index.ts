export { acquireDataDirLock, type DataDirLock } from './data-dir-lock.js';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { findFreePort } from './free-port.js';
export { makeFolder } from './make-folder.js';
export { StartupError, type StartupErrorCode } from './startup-error.js';
