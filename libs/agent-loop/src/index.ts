export { unifyFinishReason } from './finish-reason.js';
export {
  MESSAGE_PARTS_VERSION,
  type ModelClient,
  type ModelEvent,
  type ModelFailure,
  type ModelMessage,
  type ModelRequest,
  type ProviderData,
  type TextPart,
  type ThoughtPart,
  type ToolCall,
  type ToolCallPart,
  type ToolResultPart,
  type ToolSpecification,
  type UnifiedFinishReason,
  type Usage,
} from './model-port.js';
export type { ToolDefinition, ToolEffect, ToolExecution, ToolResult } from './tool-port.js';
