import type { Script } from '@echelon/scripted-model';

export interface ScriptedEnvironment {
  readonly env: NodeJS.ProcessEnv;
  readonly close: () => Promise<void>;
}

/** An environment whose scripted provider answers: the given one, else one that this process plays. It asks no model and needs no key. */
export async function withOwnScriptedModel(env: NodeJS.ProcessEnv, loadScript: () => Promise<Script>): Promise<ScriptedEnvironment> {
  if (env.ECHELON_SCRIPTED_MODEL_URL) return { env, close: () => Promise.resolve() };
  const [{ startScriptedModel }, script] = await Promise.all([import('@echelon/scripted-model'), loadScript()]);
  const model = await startScriptedModel({ script, record: false });
  return { env: { ...env, ECHELON_SCRIPTED_MODEL_URL: model.url }, close: () => model.close() };
}
