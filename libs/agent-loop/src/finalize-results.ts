import type { ArtifactStore } from './batch-ports.js';
import type { SettledCall } from './call-result.js';
import type { ModelMessage, ToolResultPart } from './model-port.js';
import { cutText, exceedsResultBudget, fillWater, type OutputBudget } from './output-budget.js';

export interface FinalResults {
  readonly results: readonly SettledCall[];
  /** Exactly what the model receives. */
  readonly message: ModelMessage;
  /** What the artifact store threw, if it did; the texts are cut all the same. */
  readonly storeFailure: unknown;
}

/**
 * Brings the results of one batch into their final form: the output budget applied, the full text of a cut result kept as an artifact.
 * The one place where results become a message.
 */
export async function finalizeResults(
  results: readonly SettledCall[],
  budget: OutputBudget,
  artifacts: ArtifactStore | null,
): Promise<FinalResults> {
  const lengths = results.map((result) => Math.min(result.text.length, budget.resultCharacters));
  const shares = fillWater(lengths, budget.batchCharacters);
  const final: SettledCall[] = [];
  let storeFailure: unknown = null;
  for (const [at, result] of results.entries()) {
    const characters = shares[at] ?? 0;
    if (result.text.length <= characters && !exceedsResultBudget(result.text, budget)) {
      final.push(result);
      continue;
    }
    const stored = await keepFullText(result, artifacts);
    storeFailure ??= stored.failure;
    const text = cutText(result.text, { characters, lines: budget.resultLines }, describeCut(result.text, stored.name));
    final.push({ ...result, text });
  }
  return { results: final, message: { role: 'tool', parts: final.map(toPart) }, storeFailure };
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
