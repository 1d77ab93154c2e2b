import { swcOptions } from './scripts/swc-options.mjs';

/** Specs run from sources: the `echelon-source` export condition makes a build unnecessary. */
export default {
  rootDir: import.meta.dirname,
  globalSetup: './scripts/jest-setup.mjs',
  globalTeardown: './scripts/jest-teardown.mjs',
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['echelon-source', 'node'] },
  testMatch: process.env.ECHELON_DEEP ? ['**/*.deep.ts'] : ['**/*.spec.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions] },
  testTimeout: 120_000,
  maxWorkers: 2,
  // A worker process with nothing left open still takes a second to end on a loaded machine; Jest waits 500 ms and then speaks of leaks.
  workerGracefulExitTimeout: 15_000,
};
