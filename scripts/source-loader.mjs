// Lets Node run our TypeScript sources without a build: node --import ./scripts/source-loader.mjs FILE.ts
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import { swcOptions } from './swc-options.mjs';

registerHooks({
  resolve(specifier, context, next) {
    const conditions = specifier.startsWith('@echelon/') ? ['echelon-source', ...context.conditions] : context.conditions;
    return next(sourceOf(specifier, context.parentURL), { ...context, conditions });
  },
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...swcOptions, filename, sourceMaps: 'inline' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

/** Sources import each other under the names that the build will give them: `./turn.js` is `./turn.ts`. */
function sourceOf(specifier, parentURL) {
  if (!/^\.{1,2}\/.*\.js$/.test(specifier) || !parentURL?.endsWith('.ts')) return specifier;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parentURL);
  return existsSync(source) ? source.href : specifier;
}
