/** A part of a configured quick app that turned out to be unusable at run time. */
export type UnusablePart = UnknownTools | UnreadableDocument;

interface UnknownTools {
  readonly kind: 'tools';
  /** ID of the quick app. */
  readonly application: string;
  /** Name of the MCP toolset. */
  readonly toolset: string;
  /** All names in `allowed_tools` that the server currently does not have. */
  readonly names: readonly string[];
}

interface UnreadableDocument {
  readonly kind: 'document';
  /** ID of the quick app. */
  readonly application: string;
  readonly reference: string;
  /** Reason in one sentence why Parley cannot read the document. Undefined if Parley read it. */
  readonly failure: string | undefined;
}

export type OnUnusablePart = (part: UnusablePart) => void;
