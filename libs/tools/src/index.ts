export { createToolCatalogue, type CatalogueTool, type ToolCatalogue, type ToolCatalogueOptions } from './catalogue.js';
export { ARGUMENT_LIMITS } from './argument-limits.js';
export { OFFERED_TOOLS, QUESTION_TOOLS } from './offered-tools.js';
export type { AgentToolContext, ToolContext, ToolSurface } from './tool-context.js';
