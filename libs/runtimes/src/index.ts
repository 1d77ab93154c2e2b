export { AcpRuntime, type AcpRuntimeOptions } from './acp/acp-runtime.js';
export { LoopRuntime, type LoopRuntimeOptions } from './loop-runtime.js';
export { buildSystemPrompt, type PromptFacts, type PromptStep } from './system-prompt.js';
