export { startFaultProxy, type FaultProxy } from './fault-proxy.js';
export { startProgram, startScript, type Program, type ProgramExit, type ProgramOptions } from './program.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
export { startTestRedis, type TestRedis } from './test-redis.js';
export { waitFor } from './wait-for.js';
