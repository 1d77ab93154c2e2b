export { createToolCatalogue, type CatalogueTool, type ToolCatalogue, type ToolCatalogueOptions } from './catalogue.js';
export type { AgentToolContext, ToolContext, ToolSurface } from './tool-context.js';
