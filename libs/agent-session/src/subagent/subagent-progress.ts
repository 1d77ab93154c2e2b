/** What people see of a subagent while it runs: who it is and which tool it uses, as lines of its call's live output. */
import type { EventSink } from '@echelon/agent-loop';
import { SUBAGENT_TOOL } from './subagent-host.js';

/** Lines at most; then one line says that there are more. */
const LINES = 200;
const LINE_CHARACTERS = 200;

/** The event sink of a subagent. What its own subagents report is passed on under both names; other live output is not. */
export function createSubagentProgress(description: string, report: (chunk: string) => void): EventSink {
  const delegates = new Set<string>();
  let lines = 0;
  const say = (what: string): void => {
    if (++lines <= LINES) report(`${`${description}: ${what}`.slice(0, LINE_CHARACTERS)}\n`);
    else if (lines === LINES + 1) report(`${description}: …\n`);
  };
  return (event) => {
    switch (event.type) {
      case 'tool_started':
        if (event.name === SUBAGENT_TOOL) delegates.add(event.callId);
        return say(event.name);
      case 'tool_output':
        if (delegates.has(event.callId)) for (const line of event.chunk.split('\n')) if (line !== '') say(line);
        return;
      case 'model_fallback':
        return say(`goes on with ${event.to}`);
      default:
    }
  };
}
