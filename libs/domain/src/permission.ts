/**
 * May a call run, must a person be asked, or is it forbidden (lead-and-turns.md §4). One decision for every surface.
 *
 * P1  What forbids wins over what asks, and that over what allows, whatever the order of the rules.
 * P2  A rule that allows a command must fit all of its parts; one that asks or forbids need fit only one of them, and there a program
 *     is the same by its path. So it is with a path that has two names: the one that was given, and where it really is.
 * P3  A call that looks at all that is below a folder is asked about where something there may be forbidden, or asked about.
 */

/** What is left open by the rules: `ask` asks for what has effects, `accept_edits` only for commands, `plan` forbids both. */
export const PERMISSION_MODES = ['ask', 'accept_edits', 'plan', 'full_access'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export type CallEffect = 'read' | 'write' | 'execute' | 'agent';

/** Fits a call that every given field fits; `*` stands for any text. */
export interface PermissionRule {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly tool?: string | undefined;
  readonly effect?: CallEffect | undefined;
  readonly command?: string | undefined;
  readonly path?: string | undefined;
}

export interface PermissionPolicy {
  readonly mode: PermissionMode;
  readonly rules: readonly PermissionRule[];
}

export interface PermissionFacts {
  readonly tool: string;
  /** Of this very call: a command that only reads is `read`. */
  readonly effect: CallEffect;
  /** The whole text of a command. */
  readonly command: string | null;
  /** The simple commands that it is made of; `null` where it cannot be taken apart. */
  readonly commands: readonly string[] | null;
  /** Relative to the folder. */
  readonly path: string | null;
  /** The same path with its links followed; absent: it has no other name. */
  readonly realPath?: string | null;
  /** The call looks at all that is below its path. */
  readonly looksBelow?: boolean;
}

export type PermissionDecision =
  { readonly decision: 'allow' } | { readonly decision: 'ask' } | { readonly decision: 'deny'; readonly reason: string };

export function decidePermission({ mode, rules }: PermissionPolicy, facts: PermissionFacts): PermissionDecision {
  const fitting = new Set(rules.filter((rule) => fits(rule, facts)).map(({ decision }) => decision));
  if (fitting.has('deny')) return { decision: 'deny', reason: 'a rule of this session forbids it' };
  const open = decideOpen(mode, facts.effect);
  if (open === 'deny')
    return { decision: 'deny', reason: 'the session only plans: nothing is changed and no command is run that does more than read' };
  if (fitting.has('ask') || rules.some((rule) => mayFitBelow(rule, facts))) return { decision: 'ask' };
  return fitting.has('allow') || open === 'allow' ? { decision: 'allow' } : { decision: 'ask' };
}

function decideOpen(mode: PermissionMode, effect: CallEffect): PermissionRule['decision'] {
  if (effect === 'read' || effect === 'agent') return 'allow';
  switch (mode) {
    case 'full_access':
      return 'allow';
    case 'plan':
      return 'deny';
    case 'accept_edits':
      return effect === 'write' ? 'allow' : 'ask';
    case 'ask':
      return 'ask';
  }
}

function fits(rule: PermissionRule, facts: PermissionFacts): boolean {
  if (!fitsTool(rule, facts)) return false;
  if (rule.path !== undefined && !fitsPath(rule, rule.path, facts)) return false;
  return rule.command === undefined || fitsCommand(rule, rule.command, facts);
}

function fitsTool({ tool, effect }: PermissionRule, facts: PermissionFacts): boolean {
  return (tool === undefined || matchesPattern(tool, facts.tool)) && (effect === undefined || effect === facts.effect);
}

function fitsPath({ decision }: PermissionRule, pattern: string, facts: PermissionFacts): boolean {
  const names = namesOf(facts);
  const fitsName = (name: string): boolean => matchesPattern(pattern, name);
  return names.length > 0 && (decision === 'allow' ? names.every(fitsName) : names.some(fitsName));
}

function namesOf({ path, realPath }: PermissionFacts): readonly string[] {
  return [path, realPath].filter((name) => typeof name === 'string');
}

function mayFitBelow(rule: PermissionRule, facts: PermissionFacts): boolean {
  const { decision, path, command } = rule;
  if (facts.looksBelow !== true || decision === 'allow' || path === undefined || command !== undefined) return false;
  return fitsTool(rule, facts) && namesOf(facts).some((folder) => mayNameBelow(path, folder));
}

function mayNameBelow(pattern: string, folder: string): boolean {
  const below = folder === '.' ? '' : `${folder}/`;
  const fixed = fixedBeginning(pattern);
  return fixed.startsWith(below) || (pattern.includes('*') && below.startsWith(fixed));
}

function fitsCommand({ decision }: PermissionRule, pattern: string, { command, commands }: PermissionFacts): boolean {
  if (command === null) return false;
  const fitsPart = (part: string): boolean => matchesPattern(pattern, part);
  if (decision === 'allow') return commands !== null && commands.length > 0 && commands.every(fitsPart);
  if (commands !== null) return commands.some((part) => fitsPart(part) || fitsPart(withoutFolder(part)));
  const fixed = fixedBeginning(pattern);
  return command.includes(fixed) || withoutQuotes(command).includes(fixed);
}

/** `/bin/rm a` is `rm a`. */
function withoutFolder(command: string): string {
  return command.replace(/^[^ ]*\//, '');
}

function withoutQuotes(command: string): string {
  return command.replace(/["'\\]/g, '').replace(/\s+/g, ' ');
}

function fixedBeginning(pattern: string): string {
  return pattern.slice(0, pattern.includes('*') ? pattern.indexOf('*') : undefined).trim();
}

/** `*` stands for any text; a ` *` at the end for nothing as well, so that `git *` fits `git`. */
export function matchesPattern(pattern: string, text: string): boolean {
  const source = pattern
    .split('*')
    .map((piece) => piece.replace(/[\\^$.+?()[\]{}|]/g, String.raw`\$&`))
    .join('.*')
    .replace(/ \.\*$/, '(?: .*)?');
  return new RegExp(`^${source}$`, 's').test(text);
}
