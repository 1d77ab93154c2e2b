const swc = {
  swcrc: false,
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
  module: { type: 'es6' },
};

/** Specs run from sources: the `source` export condition makes a build unnecessary. */
export default {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'import', 'default'] },
  testMatch: process.env.ECHELON_DEEP ? ['**/*.deep.ts'] : ['**/*.spec.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  testTimeout: 30_000,
  maxWorkers: 2,
};
