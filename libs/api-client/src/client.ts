import type {
  AgentProfile,
  AnswerUserQuestion,
  CreatedTask,
  CreateProfile,
  CreateTask,
  CreateWorkflow,
  CreateWorkspace,
  DeletedTaskPlan,
  EditQueueEntry,
  FoundTaskPlan,
  InvariantReport,
  IssuedToken,
  IssueToken,
  ListTasks,
  Message,
  MovedTask,
  MoveQueueEntry,
  MoveTask,
  Notification,
  Page,
  PageQuery,
  ParentQuestion,
  QueueEntry,
  RelatedTasks,
  SendMessage,
  SentMessage,
  Session,
  SpawnedSession,
  SpawnSession,
  StoppedTask,
  DeletedTask,
  Task,
  TaskDependencies,
  Token,
  Turn,
  UpdateProfile,
  UpdateTask,
  UpdateWorkflow,
  UserQuestion,
  Workflow,
  Workspace,
  WorkspaceGrant,
  WorkspaceRoots,
  WriteTaskPlan,
  WrittenTaskPlan,
} from '@echelon/contracts';
import { followEvents, type FollowedEvent, type FollowOptions } from './events.js';
import { at, Calls } from './calls.js';
import { type CallOptions, type ClientOptions, type CreateOptions, Transport } from './transport.js';

/** A schema's input, as a caller writes it: what has a default may be left out. */
type Input<T, Defaulted extends keyof T> = Omit<T, Defaulted> & Partial<Pick<T, Defaulted>>;

/** A step as a caller writes it. */
type WorkflowStepInput<T extends { readonly name: string }> = Partial<T> & Pick<T, 'name'>;

export type PageInput = Partial<PageQuery>;
export interface MessagesInput {
  readonly limit?: number;
  /** Sequences of messages, exclusive; at most one of the two. */
  readonly before?: number;
  readonly after?: number;
  readonly types?: readonly string[];
  /** What one subagent said; absent: the session's own conversation. */
  readonly thread_id?: string;
}
export interface QuestionsInput extends PageInput {
  /** Both kinds where absent. */
  readonly kind?: 'parent' | 'user';
  readonly task_id?: string;
  readonly status?: ParentQuestion['status'] | UserQuestion['status'];
}
export type Question = ParentQuestion | UserQuestion;

/**
 * The REST API, one method per route. Every method throws ApiError where the server refuses, ConnectionError where nobody
 * answers, and the reason of an aborted signal.
 */
export interface ApiClient {
  readonly workspaces: {
    create(input: CreateWorkspace, options?: CreateOptions): Promise<Workspace>;
    list(query?: PageInput, options?: CallOptions): Promise<Page<Workspace>>;
    get(id: string, options?: CallOptions): Promise<Workspace>;
    listGrants(id: string, options?: CallOptions): Promise<Page<WorkspaceGrant>>;
    grant(id: string, toId: string, options?: CallOptions): Promise<WorkspaceGrant>;
    revokeGrant(id: string, toId: string, options?: CallOptions): Promise<WorkspaceGrant>;
  };
  readonly profiles: {
    create(
      input: Input<
        CreateProfile,
        | 'runtime'
        | 'system_prompt'
        | 'max_output_tokens'
        | 'context_window'
        | 'fallback_models'
        | 'budgets'
        | 'hooks'
        | 'parent_question_timeout_seconds'
        | 'user_question_timeout_seconds'
      >,
      options?: CreateOptions,
    ): Promise<AgentProfile>;
    list(query?: PageInput & { readonly workspace_id?: string }, options?: CallOptions): Promise<Page<AgentProfile>>;
    get(id: string, options?: CallOptions): Promise<AgentProfile>;
    update(id: string, changes: UpdateProfile, options?: CallOptions): Promise<AgentProfile>;
    archive(id: string, options?: CallOptions): Promise<AgentProfile>;
  };
  readonly workflows: {
    create(
      input: Omit<CreateWorkflow, 'is_default' | 'steps'> & {
        readonly is_default?: boolean;
        readonly steps: readonly WorkflowStepInput<CreateWorkflow['steps'][number]>[];
      },
      options?: CreateOptions,
    ): Promise<Workflow>;
    list(query?: PageInput & { readonly workspace_id?: string }, options?: CallOptions): Promise<Page<Workflow>>;
    get(id: string, options?: CallOptions): Promise<Workflow>;
    update(
      id: string,
      changes: Omit<UpdateWorkflow, 'steps'> & {
        readonly steps?: readonly WorkflowStepInput<NonNullable<UpdateWorkflow['steps']>[number]>[];
      },
      options?: CallOptions,
    ): Promise<Workflow>;
    archive(id: string, options?: CallOptions): Promise<Workflow>;
  };
  readonly tokens: {
    issue(input: IssueToken, options?: CreateOptions): Promise<IssuedToken>;
    list(query?: PageInput, options?: CallOptions): Promise<Page<Token>>;
    revoke(id: string, options?: CallOptions): Promise<Token>;
  };
  readonly tasks: {
    create(input: Input<CreateTask, 'autopilot' | 'blocked_by' | 'start_agent'>, options?: CreateOptions): Promise<CreatedTask>;
    list(query?: Partial<ListTasks>, options?: CallOptions): Promise<Page<Task>>;
    get(id: string, options?: CallOptions): Promise<Task>;
    update(id: string, changes: UpdateTask, options?: CallOptions): Promise<Task>;
    listRelated(id: string, options?: CallOptions): Promise<RelatedTasks>;
    stop(id: string, input?: { readonly cascade?: boolean }, options?: CallOptions): Promise<StoppedTask>;
    delete(id: string, input?: { readonly cascade?: boolean }, options?: CallOptions): Promise<DeletedTask>;
    archive(id: string, options?: CallOptions): Promise<Task & { readonly already_archived: boolean }>;
    reparent(id: string, parentId: string | null, options?: CallOptions): Promise<Task>;
    addDependency(id: string, dependsOnId: string, options?: CallOptions): Promise<TaskDependencies>;
    removeDependency(id: string, dependsOnId: string, options?: CallOptions): Promise<TaskDependencies>;
    move(id: string, input: MoveTask, options?: CallOptions): Promise<MovedTask>;
    unarchive(id: string, options?: CallOptions): Promise<Task>;
    getPlan(id: string, options?: CallOptions): Promise<FoundTaskPlan>;
    putPlan(id: string, input: WriteTaskPlan, options?: CreateOptions): Promise<WrittenTaskPlan>;
    deletePlan(id: string, options?: CreateOptions): Promise<DeletedTaskPlan>;
    listSessions(id: string, options?: CallOptions): Promise<Page<Session>>;
    spawnSession(id: string, input: Input<SpawnSession, 'kind' | 'make_primary'>, options?: CreateOptions): Promise<SpawnedSession>;
    listMessages(id: string, query?: MessagesInput, options?: CallOptions): Promise<Page<Message>>;
    sendMessage(id: string, input: Input<SendMessage, 'delivery_mode'>, options?: CreateOptions): Promise<SentMessage>;
  };
  readonly sessions: {
    get(id: string, options?: CallOptions): Promise<Session>;
    listMessages(id: string, query?: MessagesInput, options?: CallOptions): Promise<Page<Message>>;
    listTurns(id: string, query?: PageInput, options?: CallOptions): Promise<Page<Turn>>;
    listQueue(id: string, query?: PageInput, options?: CallOptions): Promise<Page<QueueEntry>>;
    removeQueueEntry(id: string, entryId: string, options?: CallOptions): Promise<QueueEntry>;
    editQueueEntry(id: string, entryId: string, input: EditQueueEntry, options?: CallOptions): Promise<QueueEntry>;
    moveQueueEntry(id: string, entryId: string, input: MoveQueueEntry, options?: CallOptions): Promise<QueueEntry>;
    setAutoRun(id: string, on: boolean, options?: CallOptions): Promise<Session>;
  };
  readonly turns: {
    get(id: string, options?: CallOptions): Promise<Turn>;
    stop(id: string, options?: CallOptions): Promise<Turn>;
  };
  readonly questions: {
    list(query?: QuestionsInput, options?: CallOptions): Promise<Page<Question>>;
    get(id: string, options?: CallOptions): Promise<Question & { readonly chain: readonly ParentQuestion[] }>;
    getChain(id: string, options?: CallOptions): Promise<{ readonly hops: readonly ParentQuestion[] }>;
    answer(
      id: string,
      input: Input<AnswerUserQuestion, 'rejected'>,
      options?: CallOptions,
    ): Promise<UserQuestion & { readonly claimed: boolean }>;
    cancel(id: string, options?: CallOptions): Promise<UserQuestion & { readonly claimed: boolean }>;
  };
  readonly notifications: {
    list(
      query?: PageInput & { readonly workspace_id?: string; readonly all?: boolean },
      options?: CallOptions,
    ): Promise<Page<Notification>>;
    acknowledge(id: string, options?: CallOptions): Promise<Notification>;
  };
  readonly deliveries: { get(id: string, options?: CallOptions): Promise<QueueEntry> };
  readonly system: {
    checkInvariants(options?: CallOptions): Promise<InvariantReport>;
    listWorkspaceRoots(options?: CallOptions): Promise<WorkspaceRoots>;
  };
  readonly events: { follow(options?: FollowOptions): AsyncGenerator<FollowedEvent> };
}

/** Creates a client of one server with one token. */
export function createApiClient(options: ClientOptions): ApiClient {
  const transport = new Transport(options);
  const calls = new Calls(transport);
  return { ...organisation(calls), ...work(calls), events: { follow: (follow = {}) => followEvents(transport, follow) } };
}

function organisation({ get, send, create }: Calls): Pick<ApiClient, 'workspaces' | 'profiles' | 'workflows' | 'tokens' | 'system'> {
  return {
    workspaces: {
      create: (input, call) => create('/workspaces', input, call),
      list: (query, call) => get('/workspaces', query, call),
      get: (id, call) => get(at`/workspaces/${id}`, {}, call),
      listGrants: (id, call) => get(at`/workspaces/${id}/grants`, {}, call),
      grant: (id, toId, call) => send('PUT', at`/workspaces/${id}/grants/${toId}`, undefined, call),
      revokeGrant: (id, toId, call) => send('DELETE', at`/workspaces/${id}/grants/${toId}`, undefined, call),
    },
    profiles: {
      create: (input, call) => create('/profiles', input, call),
      list: (query, call) => get('/profiles', query, call),
      get: (id, call) => get(at`/profiles/${id}`, {}, call),
      update: (id, changes, call) => send('PATCH', at`/profiles/${id}`, changes, call),
      archive: (id, call) => send('POST', at`/profiles/${id}/archive`, undefined, call),
    },
    workflows: {
      create: (input, call) => create('/workflows', input, call),
      list: (query, call) => get('/workflows', query, call),
      get: (id, call) => get(at`/workflows/${id}`, {}, call),
      update: (id, changes, call) => send('PATCH', at`/workflows/${id}`, changes, call),
      archive: (id, call) => send('POST', at`/workflows/${id}/archive`, undefined, call),
    },
    tokens: {
      issue: (input, call) => create('/tokens', input, call),
      list: (query, call) => get('/tokens', query, call),
      revoke: (id, call) => send('DELETE', at`/tokens/${id}`, undefined, call),
    },
    system: {
      checkInvariants: (call) => get('/system/invariants', {}, call),
      listWorkspaceRoots: (call) => get('/system/workspace-roots', {}, call),
    },
  };
}

function work({
  get,
  send,
  create,
}: Calls): Pick<ApiClient, 'tasks' | 'sessions' | 'turns' | 'questions' | 'notifications' | 'deliveries'> {
  return {
    tasks: {
      create: (input, call) => create('/tasks', input, call),
      list: (query, call) => get('/tasks', query, call),
      get: (id, call) => get(at`/tasks/${id}`, {}, call),
      update: (id, changes, call) => send('PATCH', at`/tasks/${id}`, changes, call),
      listRelated: (id, call) => get(at`/tasks/${id}/related`, {}, call),
      stop: (id, input, call) => send('POST', at`/tasks/${id}/stop`, input ?? {}, call),
      delete: (id, { cascade = false } = {}, call) => send('DELETE', `${at`/tasks/${id}`}?cascade=${cascade}`, undefined, call),
      archive: (id, call) => send('POST', at`/tasks/${id}/archive`, undefined, call),
      reparent: (id, parentId, call) => send('PUT', at`/tasks/${id}/parent`, { parent_id: parentId }, call),
      addDependency: (id, dependsOnId, call) => send('PUT', at`/tasks/${id}/dependencies/${dependsOnId}`, undefined, call),
      removeDependency: (id, dependsOnId, call) => send('DELETE', at`/tasks/${id}/dependencies/${dependsOnId}`, undefined, call),
      move: (id, input, call) => send('POST', at`/tasks/${id}/move`, input, call),
      unarchive: (id, call) => send('POST', at`/tasks/${id}/unarchive`, undefined, call),
      getPlan: (id, call) => get(at`/tasks/${id}/plan`, {}, call),
      putPlan: (id, input, call) => send('PUT', at`/tasks/${id}/plan`, input, call),
      deletePlan: (id, call) => send('DELETE', at`/tasks/${id}/plan`, undefined, call),
      spawnSession: (id, input, call) => create(at`/tasks/${id}/sessions`, input, call),
      listSessions: (id, call) => get(at`/tasks/${id}/sessions`, {}, call),
      listMessages: (id, query, call) => get(at`/tasks/${id}/messages`, query, call),
      sendMessage: (id, input, call) => create(at`/tasks/${id}/messages`, input, call),
    },
    sessions: {
      get: (id, call) => get(at`/sessions/${id}`, {}, call),
      listMessages: (id, query, call) => get(at`/sessions/${id}/messages`, query, call),
      listTurns: (id, query, call) => get(at`/sessions/${id}/turns`, query, call),
      listQueue: (id, query, call) => get(at`/sessions/${id}/queue`, query, call),
      removeQueueEntry: (id, entryId, call) => send('DELETE', at`/sessions/${id}/queue/${entryId}`, undefined, call),
      editQueueEntry: (id, entryId, input, call) => send('PATCH', at`/sessions/${id}/queue/${entryId}`, input, call),
      moveQueueEntry: (id, entryId, input, call) => send('POST', at`/sessions/${id}/queue/${entryId}/move`, input, call),
      setAutoRun: (id, on, call) => send('PUT', at`/sessions/${id}/auto-run`, { auto_run: on }, call),
    },
    turns: {
      get: (id, call) => get(at`/turns/${id}`, {}, call),
      stop: (id, call) => send('POST', at`/turns/${id}/stop`, undefined, call),
    },
    questions: {
      list: (query, call) => get('/questions', query, call),
      get: (id, call) => get(at`/questions/${id}`, {}, call),
      getChain: (id, call) => get(at`/questions/${id}/chain`, {}, call),
      answer: (id, input, call) => send('POST', at`/questions/${id}/answer`, input, call),
      cancel: (id, call) => send('POST', at`/questions/${id}/cancel`, undefined, call),
    },
    notifications: {
      list: (query, call) => get('/notifications', query, call),
      acknowledge: (id, call) => send('POST', at`/notifications/${id}/acknowledge`, undefined, call),
    },
    deliveries: { get: (id, call) => get(at`/deliveries/${id}`, {}, call) },
  };
}
