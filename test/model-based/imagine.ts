/** Plays a sequence in the model alone: what comes about in it is known in a millisecond, so draws can be weighed. */
import type { NamedCommand } from './commands.js';
import type { Draw } from './draw.js';
import { factsOf, outcomeFact } from './facts.js';
import { emptyModel } from './model.js';
import { predict } from './predict.js';
import { DRAINED_AFTER, nextToDrain, PREFIX, understand } from './steps.js';

/** The facts that come about; the commands of a step run in their order. */
export function imagine(steps: readonly (readonly Draw[])[]): ReadonlySet<string> {
  const model = emptyModel();
  const seen = new Set<string>();
  const run = (commands: readonly NamedCommand[]) => {
    for (const command of commands) seen.add(outcomeFact(command, predict(model, command)));
    for (const fact of factsOf(model)) seen.add(fact);
  };
  run(PREFIX);
  for (const [at, draws] of steps.entries()) run(understand(model, draws, at));
  for (let at = 0; at < DRAINED_AFTER; at++) {
    const command = nextToDrain(model, at);
    if (!command) break;
    run([command]);
  }
  return seen;
}
