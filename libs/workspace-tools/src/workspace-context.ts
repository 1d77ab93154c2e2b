/** What the workspace tools need of a call's context. */
export interface WorkspaceContext {
  readonly workspace: {
    /** The task folder: an absolute path. Nothing outside it is read or written by a file tool. */
    readonly root: string;
  };
}
