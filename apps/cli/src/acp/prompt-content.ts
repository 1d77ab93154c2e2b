/** What an editor puts into a prompt, as the text that a model reads. */
import { fileURLToPath } from 'node:url';
import type { TextPart } from '@echelon/agent-loop';
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk/unstable';

/** One part per block. Throws invalid params for what `initialize` does not offer, and for a prompt that says nothing. */
export function toPromptParts(blocks: readonly ContentBlock[]): readonly TextPart[] {
  const parts = blocks.map((block): TextPart => ({ type: 'text', text: toText(block) }));
  if (parts.every(({ text }) => text.trim() === '')) throw RequestError.invalidParams({ code: 'empty_prompt' }, 'the prompt is empty');
  return parts;
}

function toText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link': {
      const { uri, name, title, description } = block;
      return [`[${title ?? name}](${toPlace(uri)})`, ...(description ? [description] : [])].join('\n');
    }
    case 'resource':
      if ('text' in block.resource) return `<resource uri="${toPlace(block.resource.uri)}">\n${block.resource.text}\n</resource>`;
      throw unsupported('binary resources');
    case 'image':
      throw unsupported('images');
    case 'audio':
      throw unsupported('audio');
  }
}

/** The model knows files by their paths. */
function toPlace(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    return uri;
  }
}

function unsupported(what: string): RequestError {
  return RequestError.invalidParams({ code: 'unsupported_content' }, `this agent takes no ${what}`);
}
