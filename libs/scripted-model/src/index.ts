export { scriptByAgent, scriptByPrompt, type AgentScript, type PromptRule, type ScriptedStep } from './agent-script.js';
export type { ConnectionEnd } from './connection.js';
export type {
  DialectName,
  Script,
  ScriptedFault,
  ScriptedFinish,
  ScriptedMessage,
  ScriptedRequest,
  ScriptedResponse,
  ScriptedToolCall,
  ScriptedUsage,
} from './script.js';
export { startScriptedModel, type RecordedRequest, type ScriptedModel, type ScriptedModelOptions } from './server.js';
