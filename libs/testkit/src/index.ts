export { startFaultProxy, type FaultProxy } from './fault-proxy.js';
export { findFreePort } from '@echelon/embedded-postgres';
export { startProgram, startScript, type Program, type ProgramExit, type ProgramOptions } from './program.js';
export { startSystemPostgres, type SystemPostgres } from './system-postgres.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
export { startTestRedis, type TestRedis } from './test-redis.js';
export { waitFor } from './wait-for.js';
