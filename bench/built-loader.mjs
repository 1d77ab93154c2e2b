// Runs a measured program: its own TypeScript through Node, our packages as they are built.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (!/^\.{1,2}\/.*\.js$/.test(specifier) || !context.parentURL?.endsWith('.ts')) return next(specifier, context);
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    return next(existsSync(source) ? source.href : specifier, context);
  },
});
