/**
 * Scripts for hierarchies: one server plays every agent, told apart by what their conversations contain.
 *
 * The step is derived from the history that a request carries (S1), so any number of agents may talk at once and a
 * killed worker goes on where it was.
 */
import type { Script, ScriptedMessage, ScriptedRequest, ScriptedResponse } from './script.js';

/** A response, or what makes one from the request. */
export type ScriptedStep = ScriptedResponse | Script;

/** The steps of one conversation in order of its model rounds, or a function that decides anew for every request. */
export type AgentScript = readonly ScriptedStep[] | Script;

/** Answers one request: the step of a list is the number of assistant messages that the request carries. */
export function runScript(script: AgentScript, request: ScriptedRequest): ScriptedResponse | Promise<ScriptedResponse> {
  return typeof script === 'function' ? script(request) : runStep(script, countAssistantMessages(request.messages), request);
}

/**
 * Routes by agent. A key is a marker such as `[agent:root]` in the agent's first user message, else in its system prompt;
 * the marker that stands first wins. Steps count the assistant messages of the whole conversation; after the last one
 * the agent says that it is done. A request without a known marker fails with status 500.
 */
export function scriptByAgent(agents: Readonly<Record<string, AgentScript>>): Script {
  const markers = Object.keys(agents);
  return (request) => {
    const firstPrompt = request.messages.find((message) => message.role === 'user')?.text ?? '';
    const marker = findFirstMarker(markers, firstPrompt) ?? findFirstMarker(markers, request.system);
    const agent = marker === null ? undefined : agents[marker];
    if (agent === undefined) throw new Error(`no agent is known by the prompt ${JSON.stringify(firstPrompt.slice(0, 200))}`);
    return runScript(agent, request);
  };
}

/** The steps that follow a user message which contains `prompt`. */
export interface PromptRule {
  readonly prompt: string;
  readonly steps: readonly ScriptedStep[];
}

/**
 * Routes by prompt: the last user message that contains a rule's text chooses the rule, and the assistant messages after
 * it choose the step. A user message that no rule knows changes nothing.
 */
export function scriptByPrompt(rules: readonly PromptRule[]): Script {
  return (request) => {
    const at = request.messages.findLastIndex((message) => findRule(rules, message) !== undefined);
    const message = request.messages[at];
    const rule = message === undefined ? undefined : findRule(rules, message);
    if (rule === undefined) throw new Error('no rule knows any user message');
    return runStep(rule.steps, countAssistantMessages(request.messages.slice(at)), request);
  };
}

function findFirstMarker(markers: readonly string[], text: string): string | null {
  let found: { marker: string; at: number } | null = null;
  for (const marker of markers) {
    const at = text.indexOf(marker);
    if (at < 0 || (found !== null && found.at < at)) continue;
    if (found === null || found.at > at || marker.length > found.marker.length) found = { marker, at };
  }
  return found?.marker ?? null;
}

function findRule(rules: readonly PromptRule[], message: ScriptedMessage): PromptRule | undefined {
  return message.role === 'user' ? rules.find((rule) => message.text.includes(rule.prompt)) : undefined;
}

function countAssistantMessages(messages: readonly ScriptedMessage[]): number {
  return messages.filter((message) => message.role === 'assistant').length;
}

function runStep(steps: readonly ScriptedStep[], number: number, request: ScriptedRequest): ScriptedResponse | Promise<ScriptedResponse> {
  const step = steps[number] ?? { text: 'scripted: this agent has no further step.' };
  return typeof step === 'function' ? step(request) : step;
}
