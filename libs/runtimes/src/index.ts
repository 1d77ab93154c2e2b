export { LoopRuntime, type LoopRuntimeOptions } from './loop-runtime.js';
export { buildSystemPrompt, type PromptFacts } from './system-prompt.js';
