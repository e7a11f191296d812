/** Something that a quick app of the configuration names and cannot use, as found at run time. */
export type UnusablePart = UnknownTools | UnreadableDocument;

interface UnknownTools {
  readonly kind: 'tools';
  /** Id of the quick app. */
  readonly application: string;
  /** Name of the MCP toolset. */
  readonly toolset: string;
  /** All names of `allowed_tools` that the server does not have now. */
  readonly names: readonly string[];
}

interface UnreadableDocument {
  readonly kind: 'document';
  /** Id of the quick app. */
  readonly application: string;
  readonly reference: string;
  /** Reason in one sentence why the part cannot be read. Undefined if it was read. */
  readonly failure: string | undefined;
}

export type NoteUnusablePart = (part: UnusablePart) => void;
