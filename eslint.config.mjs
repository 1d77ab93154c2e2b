import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const SPECS = ['**/*.spec.ts', '**/*.deep.ts', 'test/**/*.ts', 'bench/**/*.ts'];

/** Decorated classes keep their constructor types at run time: imports of those are values. */
const PARSER_OPTIONS = {
  project: './tsconfig.lint.json',
  tsconfigRootDir: import.meta.dirname,
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
};

const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name: one word for one thing, in every file.',
};
/** Durations may be measured by `performance.now()`; a moment that is stored, shown or compared is a row's, or a parameter. */
const NO_CLOCK = [
  'NewExpression[callee.name="Date"][arguments.length=0]',
  'CallExpression[callee.object.name="Date"][callee.property.name="now"]',
].map((selector) => ({ selector, message: 'Time is the database’s (protocol.md K19): readTime(tx), or now() in the statement.' }));
const NO_ENUM = { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' };

export default defineConfig(
  { ignores: ['**/dist/', '**/generated/', '**/node_modules/', 'coverage/', 'bench/results/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  eslint.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: nodeGlobals() },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: PARSER_OPTIONS },
    rules: {
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true, allowRegExp: true },
      ],
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'max-params': ['error', 4],
      'no-console': 'error',
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, NO_ENUM],
    },
  },
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 300 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-template': 'error',
    },
  },
  {
    files: ['libs/{domain,persistence,orchestration}/src/**/*.ts'],
    ignores: [...SPECS, 'libs/persistence/src/id.ts'],
    rules: { 'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, NO_ENUM, ...NO_CLOCK] },
  },
  {
    files: SPECS,
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'max-lines-per-function': 'off',
    },
  },
  { files: ['test/requirements/*.ts'], rules: { 'max-lines': 'off' } },
  { files: ['*.config.ts'], rules: { 'no-restricted-syntax': ['error', NO_ENUM] } },
);

function nodeGlobals() {
  const names = [
    'AbortController',
    'Buffer',
    'console',
    'fetch',
    'performance',
    'process',
    'setInterval',
    'setTimeout',
    'URL',
    'WebAssembly',
  ];
  return Object.fromEntries([...names, 'clearInterval', 'clearTimeout', 'structuredClone', 'globalThis'].map((name) => [name, 'readonly']));
}
