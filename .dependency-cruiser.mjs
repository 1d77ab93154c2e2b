// Imports go down the ladder only (ARCHITECTURE.md). A message says where the thing that you reached for is offered.

const LEVELS = [
  ['libs/domain', 'libs/agent-loop'],
  ['libs/contracts', 'libs/model-clients', 'libs/workspace-tools', 'libs/scripted-model', 'libs/embedded-postgres'],
  ['libs/persistence', 'libs/messaging', 'libs/api-client', 'libs/agent-session'],
  ['libs/orchestration'],
  ['libs/tools', 'libs/runtimes'],
  ['libs/platform'],
  ['apps/server', 'apps/worker', 'apps/cli'],
];

/** The only steps sideways. */
const SIDEWAYS = {
  'libs/runtimes': ['libs/tools'],
  'apps/cli': ['apps/server', 'apps/worker'],
};

const SPECS = String.raw`\.(spec|deep)\.ts$`;
const vendor = (...names) => `^node_modules/(${names.join('|')})(/|$)`;
const room = (...folders) => `^(${folders.join('|')})/`;

const ladder = LEVELS.flatMap((folders, level) =>
  folders.map((folder) => {
    const allowed = [folder, ...LEVELS.slice(0, level).flat(), ...(SIDEWAYS[folder] ?? [])];
    return {
      name: `ladder-${folder.replace('/', '-')}`,
      comment: `${folder} stands on level ${level}: it may import ${allowed.slice(1).join(', ') || 'no other room'}. To go up, take a function as a parameter, or move the thing down.`,
      severity: 'error',
      from: { path: room(folder), pathNot: SPECS },
      to: { path: room('libs', 'apps'), pathNot: room(...allowed) },
    };
  }),
);

/** A library that only some rooms may touch. */
function seam(name, libraries, rooms, comment) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: room('libs', 'apps'), pathNot: [room(...rooms), SPECS] },
    to: { path: vendor(...libraries) },
  };
}

const seams = [
  seam(
    'seam-prisma',
    ['@prisma/.+', 'prisma'],
    ['libs/persistence'],
    'Prisma lives in persistence: ask it for a function named after the intention.',
  ),
  seam(
    'seam-pg',
    ['pg', 'pg-.+'],
    ['libs/persistence', 'libs/messaging', 'libs/embedded-postgres', 'libs/testkit'],
    'SQL lives in persistence, one file a statement; pools come from its createPool.',
  ),
  seam('seam-queue', ['bullmq', 'ioredis'], ['libs/messaging'], 'BullMQ and Redis live in messaging: use its ports JobQueue and EventBus.'),
  seam(
    'seam-models',
    ['@ai-sdk/.+', 'ai'],
    ['libs/model-clients'],
    'Providers live in model-clients: use the port ModelClient of agent-loop.',
  ),
  seam(
    'seam-nest',
    ['@nestjs/.+', 'express'],
    ['apps/server'],
    'Nest is for HTTP and stays in the server: libs are plain classes, assembled in platform.',
  ),
  seam(
    'seam-terminal',
    ['ink', 'react'],
    ['apps/cli/src/chat'],
    'The screen of the terminal lives in chat, and is loaded when a chat begins; other commands write lines.',
  ),
  seam(
    'seam-mcp',
    ['@modelcontextprotocol/.+'],
    ['apps/server', 'libs/runtimes'],
    'MCP is spoken by the server and by runtimes; tools know nothing of it.',
  ),
];

export default {
  forbidden: [
    ...ladder,
    ...seams,
    {
      name: 'domain-imports-nothing',
      comment: 'The domain is facts in, outcome out: clock, random and text from elsewhere come as parameters.',
      severity: 'error',
      from: { path: room('libs/domain'), pathNot: SPECS },
      to: { pathNot: room('libs/domain') },
    },
    {
      name: 'agent-loop-imports-zod-only',
      comment: 'The loop reaches the world through its ports: model, tools, journal, clock.',
      severity: 'error',
      from: { path: room('libs/agent-loop'), pathNot: SPECS },
      to: { pathNot: [room('libs/agent-loop'), vendor('zod')] },
    },
    {
      name: 'testkit-is-for-specs',
      comment: 'What the program needs too belongs into a room of the ladder.',
      severity: 'error',
      from: { path: room('libs', 'apps'), pathNot: [room('libs/testkit'), SPECS] },
      to: { path: room('libs/testkit') },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that import each other are one subject, or hide a third.',
      severity: 'error',
      from: { path: room('libs', 'apps') },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'must-resolve',
      comment: 'Declare the package in the package.json of the room that imports it.',
      severity: 'error',
      from: { path: room('libs', 'apps') },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^(libs|apps)/[^/]+/dist/', '/generated/'] },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['echelon-source', 'import', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
