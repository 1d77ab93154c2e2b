/** How our TypeScript becomes JavaScript: the same in builds, in specs and in processes run from sources. */
export const swcOptions = {
  swcrc: false,
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
  module: { type: 'es6' },
};
