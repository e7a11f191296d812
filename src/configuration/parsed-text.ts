/** What is wrong with a text, and where: line and column count from one. The message repeats nothing of the text, which may hold secrets. */
export interface TextError {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type ParsedText = { readonly value: unknown } | { readonly faults: readonly TextError[] };
