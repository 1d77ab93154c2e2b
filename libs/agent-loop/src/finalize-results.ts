import type { ArtifactStore } from './batch-ports.js';
import type { SettledCall } from './call-result.js';
import type { ModelMessage, ToolResultPart } from './model-port.js';
import { cutText, fillWater, type OutputBudget } from './output-budget.js';

/** Names the artifact of a text that was cut; found again in it, so that a second cut refers to the same full text. */
const MARKER = /\n\[Output of \d+ characters was cut here\.[^\]]*\]\n/;

export interface Bounded {
  readonly result: SettledCall;
  /** What the artifact store threw, if it did; the text is cut all the same. */
  readonly storeFailure: unknown;
}

export interface FinalResults {
  /** In the order of the calls. */
  readonly results: readonly SettledCall[];
  /** Exactly what the model receives. */
  readonly message: ModelMessage;
  readonly storeFailure: unknown;
}

/**
 * Brings the results of one batch into their final form: the batch's output budget applied, the full text of a cut result kept as an
 * artifact. The one place where results become a message.
 */
export async function finalizeResults(
  results: readonly SettledCall[],
  budget: OutputBudget,
  artifacts: ArtifactStore | null,
): Promise<FinalResults> {
  const shares = fillWater(
    results.map((result) => result.text.length),
    budget.batchCharacters,
  );
  const final: SettledCall[] = [];
  let storeFailure: unknown = null;
  for (const [at, result] of results.entries()) {
    const characters = shares[at] ?? 0;
    const bounded =
      result.text.length <= characters ? null : await boundResult(result, { ...budget, resultCharacters: characters }, artifacts);
    storeFailure ??= bounded?.storeFailure ?? null;
    final.push(bounded?.result ?? result);
  }
  return { results: final, message: { role: 'tool', parts: final.map(toPart) }, storeFailure };
}

/** Cuts a result that is over its limits, before it is stored anywhere. */
export async function boundResult(result: SettledCall, budget: OutputBudget, artifacts: ArtifactStore | null): Promise<Bounded> {
  const earlier = MARKER.exec(result.text)?.[0];
  const kept = earlier === undefined ? await keepFullText(result, artifacts) : { name: null, failure: null };
  const marker = earlier ?? describeCut(result.text, kept.name);
  const limits = { characters: budget.resultCharacters, lines: budget.resultLines };
  return { result: { ...result, text: cutText(result.text, limits, marker) }, storeFailure: kept.failure };
}

async function keepFullText(
  { callId, name, text }: SettledCall,
  artifacts: ArtifactStore | null,
): Promise<{ readonly name: string | null; readonly failure: unknown }> {
  try {
    return { name: (await artifacts?.store({ callId, tool: name, text })) ?? null, failure: null };
  } catch (failure) {
    return { name: null, failure };
  }
}

function describeCut(text: string, kept: string | null): string {
  const where = kept === null ? '' : ` Full output: ${kept}.`;
  return `\n[Output of ${text.length} characters was cut here.${where}]\n`;
}

function toPart({ callId, name, text, isError }: SettledCall): ToolResultPart {
  return { type: 'tool_result', call_id: callId, name, text, is_error: isError };
}
